/**
 * Validates a written record whose validity is not proven. It is parsed again, so that what is validated is what is
 * sent.
 */
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import type { SchemaDefinitionFile } from '../../domain/sync/sync.js';
import type { DefinitionValidator } from '../definition/definition-validator.js';
import { noExternalId, notEncodable, type Failure } from './row-failure.js';
import { maskedShape } from '../encode/masked-shape.js';
import { firstViolation } from './record-violation.js';
import { LONE_SURROGATE } from '../encode/write-value.js';

/**
 * A function that returns null for a record that can be sent, otherwise the first failure: `mapping_failed` without an
 * external id, `record_invalid` for a broken rule, `value_not_encodable` for a lone surrogate. `names` are the fields
 * in the order of the mapping, which decides which broken rule comes first.
 */
export function recordCheck(
  { schema, externalIdField }: SchemaDefinitionFile,
  { validate }: DefinitionValidator,
  names: readonly string[],
): (json: string) => Failure | null {
  return (json) => {
    const data = JSON.parse(json) as JsonObject;
    if (externalIdText(data[externalIdField]) === null) return noExternalId(externalIdField);
    if (!validate(withoutNulls(data))) {
      const isNull = (field: string): boolean => data[field] === null;
      const { pointer, rule, reason, field } = firstViolation(validate.errors ?? [], schema, names, isNull);
      return { code: 'record_invalid', pointer, rule, reason, shape: maskedShape(data[field]) };
    }
    return json.includes(LONE_SURROGATE) ? notEncodable(data) : null;
  };
}

/** A value as an external id; null if it cannot be one: neither text nor number, or empty. */
export const externalIdText = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null;

/** null deletes a field (platform-api.md 4.8), so the rules of the schema definition apply to the other fields only. */
const withoutNulls = (data: JsonObject): JsonObject =>
  Object.values(data).includes(null)
    ? Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
    : data;
