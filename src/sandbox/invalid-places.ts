/**
 * Describes what is wrong with a fixture or settings file: each place as a JSON pointer, what was expected and the value
 * found.
 */
import type { ErrorObject } from 'ajv';
import { nearest } from '../domain/values/names.js';

/** Longest quotation of a value, in characters. */
const QUOTED = 60;

/**
 * One message for each validation error. The validator must be compiled with `verbose`, since the messages quote the
 * invalid value and the schema's own description.
 */
export function invalidPlaces(errors: readonly ErrorObject[] | null | undefined): string[] {
  return (errors ?? []).map((error) => {
    const params = error.params as { additionalProperty?: string; missingProperty?: string; allowedValues?: unknown[] };
    const properties = (error.parentSchema?.['properties'] ?? {}) as Record<string, { description?: string }>;
    const extra = params.additionalProperty;
    if (extra !== undefined) {
      const known = Object.keys(properties);
      const near = nearest(extra, known);
      const hint = near === undefined ? `expected one of: ${known.join(', ')}` : `did you mean "${near}"?`;
      return `${error.instancePath}/${extra}: unknown field; ${hint}`;
    }
    const missing = params.missingProperty;
    if (missing !== undefined)
      return `${error.instancePath}/${missing}: missing${explained(properties[missing]?.description)}`;
    const expected =
      params.allowedValues === undefined
        ? (error.message ?? 'must have another value')
        : `must be one of ${params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
    const description = error.parentSchema?.['description'] as string | undefined;
    return `${error.instancePath || '/'}: ${expected}${explained(description)}; found ${quoted(error.data)}`;
  });
}

/** A value as JSON, truncated if it is long. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > QUOTED ? `${text.slice(0, QUOTED).toWellFormed()}...` : text;
}

const explained = (description: string | undefined): string => (description === undefined ? '' : ` (${description})`);
