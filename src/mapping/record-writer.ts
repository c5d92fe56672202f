/**
 * The hot path: a row to the JSON text of its record, field by field, without building the record.
 *
 * It answers only where the plans of the fields prove that the record is valid; else it gives undefined, and the plain
 * way (`plain-mapper.ts`) decides, so that there is one place that says what is wrong with a row.
 */
import type { Span } from '../domain/record-list.js';
import type { RecordTexts } from '../domain/record-texts.js';
import type { ByteRow, SourceRow } from '../domain/source.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';
import { hasEscape, isEmptyTextAt, isNumberAt, isTextAt } from './byte-json.js';
import type { DefinitionValidator } from './definition-validator.js';
import type { CopyField, FieldReader, PlannedField } from './field-plan.js';
import { valueInJson } from './json-text.js';
import { requiredOf } from './target.js';
import { unprovenRules } from './unproven-rules.js';
import type { Unproven } from './unproven-rules.js';

export interface RecordWriter {
  /** The JSON text of the record of a row that has an external id; undefined where it is not proven to be valid. */
  readonly inJson: (row: SourceRow) => string | undefined;
  /**
   * Writes the same text from bytes, and says where in it the external id stands (until the next row); undefined where
   * the row has to be looked at as texts. Then a part of the text may have been written.
   */
  readonly inBytes: (row: ByteRow, json: RecordTexts) => Span | undefined;
}

const [OBJECT, COMMA, OBJECT_END] = Buffer.from('{,}') as unknown as [number, number, number];

/** The JSON text of one field; the empty text where the field is left out, undefined where it is not proven to be valid. */
type WriteField = (row: SourceRow) => string | undefined;

export function recordWriter(
  definition: SchemaDefinitionFile,
  validator: DefinitionValidator,
  fields: ReadonlyMap<string, PlannedField>,
): RecordWriter {
  const { schema } = definition;
  const unproven = unprovenRules(schema, validator, fields);
  if (unproven === null) return { inJson: () => undefined, inBytes: () => undefined };
  const required = new Set([...requiredOf(schema), definition.externalIdField]);
  const planned = [...fields].map(([name, field]) => {
    const absent = required.has(name) ? undefined : field.omitNull ? '' : 'null';
    const rules = unproven.get(name)!;
    return {
      ...{ isId: name === definition.externalIdField, absent },
      ...{ write: fieldWriter(field, rules, absent), copy: fieldCopier(field, rules) },
      ...{ opening: `{${JSON.stringify(name)}:`, separator: `,${JSON.stringify(name)}:` },
      ...{ nameInBytes: Buffer.from(`${JSON.stringify(name)}:`) },
    };
  });

  function inJson(row: SourceRow): string | undefined {
    let json = '';
    for (const { write, opening, separator } of planned) {
      const text = write(row);
      if (text === undefined) return undefined;
      if (text !== '') json += (json === '' ? opening : separator) + text;
    }
    return `${json}}`;
  }

  const id = { from: 0, to: 0 };
  function inBytes(row: ByteRow, json: RecordTexts): Span | undefined {
    for (let i = 0; i < planned.length; i++) {
      const { copy, nameInBytes, absent, isId } = planned[i]!;
      const before = json.written;
      json.room(1);
      json.put(before === 0 ? OBJECT : COMMA);
      json.copy(nameInBytes, 0, nameInBytes.length);
      const from = json.written;
      const isWritten = copy(row, json);
      if (isWritten === true) {
        if (isId && !spanOfId(json, from, id)) return undefined;
        continue;
      }
      if (isWritten === false || absent === undefined) return undefined;
      if (absent === '') json.undo(before);
      else json.write(absent);
    }
    json.room(1);
    json.put(OBJECT_END);
    return id;
  }

  return { inJson, inBytes };
}

/** Finds the external id, which has just been written; false where it is none, or is written in another way. */
function spanOfId(json: RecordTexts, from: number, id: { from: number; to: number }): boolean {
  const quote = isTextAt(from, json) ? 1 : 0;
  if (quote === 0 && !isNumberAt(from, json)) return false;
  id.from = from + quote;
  id.to = json.written - quote;
  return id.to > id.from && !hasEscape(id.from, json);
}

function fieldCopier({ read, inJson, inBytes }: PlannedField, unproven: Unproven): CopyField {
  const copy = inBytes ?? copierOf(inJson);
  switch (unproven) {
    case 'nothing':
      return copy;
    case 'not empty':
      return (row, json) => {
        const from = json.written;
        const isWritten = copy(row, json);
        return isWritten === true ? !isEmptyTextAt(from, json) : isWritten;
      };
    default:
      return copierOf((row) => {
        const value = read(row);
        if (value === null) return null;
        return unproven(value) ? valueInJson(value) : undefined;
      });
  }
}

/** For fields that need their values as texts. */
const copierOf =
  (inJson: FieldReader['inJson']): CopyField =>
  (row, json) => {
    const text = inJson(row.texts());
    if (text === null || text === undefined) return text === null ? null : false;
    json.write(text);
    return true;
  };

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
