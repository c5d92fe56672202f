/**
 * The part of the mapping language's JSON Schema for the name of a column. Whether the source has that column is
 * checked by check-columns.ts.
 */
import type { JsonObject } from '../../domain/values/json.js';

/** @param description what the column is for, in one sentence */
export const columnName = (description: string, example: string): JsonObject => ({
  type: 'string',
  minLength: 1,
  title: 'text (the name of a column)',
  description,
  examples: [example],
});
