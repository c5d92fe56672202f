/**
 * The plain way from a row to its record's JSON text: build the record, validate all of it, encode it. It is the
 * measure of the hot path (`record-writer.ts`), and alone decides what is wrong with a row.
 */
import { encodeJson } from '../domain/json.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { SourceRow } from '../domain/source.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';
import type { DefinitionValidator } from './definition-validator.js';
import { fieldRejected, noExternalId, notEncodable } from './failure.js';
import type { Failure } from './failure.js';
import type { PlannedField } from './field-plan.js';
import { maskedShape } from './mask.js';
import { firstViolation } from './record-violation.js';
import { Rejection } from './rejection.js';

export function plainMapper(
  { schema, externalIdField }: SchemaDefinitionFile,
  { validate }: DefinitionValidator,
  fields: ReadonlyMap<string, PlannedField>,
): (row: SourceRow) => string | Failure {
  const names = [...fields.keys()];
  return (row) => {
    const data: Record<string, JsonValue> = {};
    for (const [name, { read, omitNull }] of fields) {
      const value = read(row);
      if (value instanceof Rejection) return fieldRejected(name, value);
      if (value !== null || !omitNull) data[name] = value;
    }
    if (externalIdText(data[externalIdField]) === null) return noExternalId(externalIdField);
    if (!validate(withoutNulls(data))) {
      const isNull = (field: string): boolean => data[field] === null;
      const { pointer, rule, reason, field } = firstViolation(validate.errors ?? [], schema, names, isNull);
      return { code: 'record_invalid', pointer, rule, reason, shape: maskedShape(data[field]) };
    }
    try {
      return encodedInOrder(names, data);
    } catch {
      return notEncodable(data);
    }
  };
}

/** The name of a record on the platform, or null where the value names nothing. */
export const externalIdText = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null;

/** The platform deletes a field that is null, so the rules of the schema definition are for the others. */
function withoutNulls(data: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
}

/** Objects put keys that look like numbers first; the text keeps to the mapping's order. */
function encodedInOrder(names: readonly string[], data: JsonObject): string {
  const present = names.filter((name) => Object.hasOwn(data, name));
  return `{${present.map((name) => `${JSON.stringify(name)}:${encodeJson(data[name]!)}`).join(',')}}`;
}
