/**
 * The hot path: a row to the JSON text of its record, field by field, without building the record.
 *
 * It answers only where the plans of the fields prove that the record is valid; else it gives undefined, and the plain
 * way (`plain-mapper.ts`) decides, so that there is one place that says what is wrong with a row.
 */
import type { SourceRow } from '../domain/source.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';
import type { DefinitionValidator } from './definition-validator.js';
import type { PlannedField } from './field-plan.js';
import { valueInJson } from './json-text.js';
import { requiredOf } from './target.js';
import { unprovenRules } from './unproven-rules.js';
import type { Unproven } from './unproven-rules.js';

/** The JSON text of the record of a row that has an external id; undefined where it is not proven to be valid. */
export type WriteRecord = (row: SourceRow) => string | undefined;

/** As {@link WriteRecord} for one field; the empty text where the field is left out. */
type WriteField = (row: SourceRow) => string | undefined;

export function recordWriter(
  definition: SchemaDefinitionFile,
  validator: DefinitionValidator,
  fields: ReadonlyMap<string, PlannedField>,
): WriteRecord {
  const { schema } = definition;
  const unproven = unprovenRules(schema, validator, fields);
  if (unproven === null) return () => undefined;
  const required = new Set([...requiredOf(schema), definition.externalIdField]);
  const writers = [...fields].map(([name, field]) => {
    const absent = required.has(name) ? undefined : field.omitNull ? '' : 'null';
    return fieldWriter(field, unproven.get(name)!, absent);
  });
  const openings = [...fields.keys()].map((name) => `{${JSON.stringify(name)}:`);
  const separators = [...fields.keys()].map((name) => `,${JSON.stringify(name)}:`);

  return (row) => {
    let json = '';
    for (let i = 0; i < writers.length; i++) {
      const text = writers[i]!(row);
      if (text === undefined) return undefined;
      if (text !== '') json += (json === '' ? openings[i]! : separators[i]!) + text;
    }
    return `${json}}`;
  };
}

/** `absent`: what is written for null; undefined where null is not allowed. */
function fieldWriter({ read, inJson }: PlannedField, unproven: Unproven, absent: string | undefined): WriteField {
  switch (unproven) {
    case 'nothing':
      return (row) => {
        const text = inJson(row);
        return text === null ? absent : text;
      };
    case 'not empty':
      return (row) => {
        const text = inJson(row);
        return text === null ? absent : text === '""' ? undefined : text;
      };
    default:
      return (row) => {
        const value = read(row);
        if (value === null) return absent;
        return unproven(value) ? valueInJson(value) : undefined;
      };
  }
}
