/**
 * Writes the JSON text of a record directly from a row: each field appends its piece, and no object is built. Whatever the
 * plans of the fields do not prove about the record is checked once it has been written (ADR 0010).
 */
import type { ByteRange } from '../../records/records.js';
import type { RecordTexts } from '../../records/record-texts.js';
import type { ByteRow } from '../../domain/source/source.js';
import type { SchemaDefinitionFile } from '../../domain/sync/sync.js';
import { isEmptyTextAt, findTextRange } from '../encode/written-value.js';
import type { DefinitionValidator } from '../definition/definition-validator.js';
import { fieldRejected, type Failure } from './row-failure.js';
import type { PlannedField } from './field-writer.js';
import { recordCheck } from './record-check.js';
import { requiredOf } from '../definition/target.js';
import { unprovenRules } from './unproven-rules.js';

/** Writes the records of one mapping, one at a time. */
export interface RecordWriter {
  /**
   * Writes the record of a row. Returns null if it can be sent, otherwise the reason; a part may have been written
   * then.
   */
  readonly write: (row: ByteRow, json: RecordTexts) => Failure | null;
  /** The external id in the record that was written last, in bytes; empty if it is written with escapes. */
  readonly id: ByteRange;
}

const [OBJECT, COMMA, OBJECT_END] = Buffer.from('{,}') as unknown as [number, number, number];

/** `fields` are in the order in which they are sent and include the external id. */
export function recordWriter(
  definition: SchemaDefinitionFile,
  validator: DefinitionValidator,
  fields: ReadonlyMap<string, PlannedField>,
): RecordWriter {
  const { schema, externalIdField } = definition;
  const unproven = unprovenRules(schema, validator, fields);
  const required = new Set([...requiredOf(schema), externalIdField]);
  const planned = [...fields].map(([name, { writer, omitNull }]) => {
    const left = unproven?.get(name) ?? 'nothing';
    return {
      name,
      omitNull,
      isId: name === externalIdField,
      isRequired: required.has(name),
      write: writer(typeof left === 'function' ? left : null),
      mayBeEmpty: left !== 'not empty',
      nameInBytes: Buffer.from(`,${JSON.stringify(name)}:`),
    };
  });
  const check = recordCheck(definition, validator, [...fields.keys()]);
  const id = { from: 0, to: 0 };

  function write(row: ByteRow, json: RecordTexts): Failure | null {
    let isProven = unproven !== null;
    id.to = id.from;
    for (let i = 0; i < planned.length; i++) {
      const field = planned[i]!;
      // Each field begins with a comma; the opening brace overwrites the first comma at the end.
      const before = json.written;
      json.copy(field.nameInBytes, 0, field.nameInBytes.length);
      const from = json.written;
      const outcome = field.write(row, json);
      if (outcome === null) {
        if (field.isRequired) isProven = false;
        if (field.omitNull) json.undo(before);
        else json.write('null');
        continue;
      }
      if (outcome === false) isProven = false;
      else if (outcome !== true) return fieldRejected(field.name, outcome);
      if (field.isId) findTextRange(from, json, id);
      if (!field.mayBeEmpty && isEmptyTextAt(from, json)) isProven = false;
    }
    json.room(2);
    if (json.written === 0) json.put(COMMA);
    json.bytes[json.start] = OBJECT;
    json.put(OBJECT_END);
    return isProven && id.to > id.from ? null : check(json.bytes.toString('utf8', json.start, json.at));
  }

  return { write, id };
}
