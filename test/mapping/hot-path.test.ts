/** Records whose validity is proven by plans are valid, and each field equals what the field alone would give. */
import { fileURLToPath } from 'node:url';
import type { ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeJson, type JsonObject, type JsonValue } from '../../src/domain/values/json.js';
import { referencesOf } from '../../src/domain/records/references.js';
import { RecordTexts } from '../../src/records/record-texts.js';
import type { ByteRow, SourceRow, SourceType } from '../../src/domain/source/source.js';
import type { FieldSpec, MappingSpec } from '../../src/domain/sync/sync.js';
import { TextRow } from '../../src/records/text-row.js';
import { definitionValidator } from '../../src/mapping/definition/definition-validator.js';
import { fieldRejected, noExternalId, notEncodable, type Failure } from '../../src/mapping/compile/row-failure.js';
import type { PlannedField } from '../../src/mapping/compile/field-writer.js';
import { planField } from '../../src/mapping/compile/plan-field.js';
import { loadSync } from '../../src/mapping/load-sync.js';
import { maskedShape } from '../../src/mapping/encode/masked-shape.js';
import { externalIdText } from '../../src/mapping/compile/record-check.js';
import { firstViolation } from '../../src/mapping/compile/record-violation.js';
import { recordWriter } from '../../src/mapping/compile/record-writer.js';
import { Rejection } from '../../src/mapping/encode/rejection.js';
import { targetOf } from '../../src/mapping/definition/target.js';
import { messageRow } from '../source/postgres-messages.js';
import { inCampaign } from '../campaign.js';
import { cases, NAMES } from './arbitrary-mappings.js';

type Answer = { readonly text: string; readonly id: string } | Failure;

/** The writer, and what it must say; undefined where a field has no plan. */
function compiled(
  schema: MappingSpec['schema'],
  fields: MappingSpec['fields'],
  types: Record<string, SourceType>,
  validator = definitionValidator(schema.schema),
) {
  const columns = Object.entries(types).map(([name, type]) => ({ name, type, databaseType: type }));
  const placed = (name: string) => ({
    index: columns.findIndex((column) => column.name === name),
    column: columns.find((column) => column.name === name)!,
  });
  const references = new Map(referencesOf(schema.schema).map((reference) => [reference.field, reference]));
  const planned = new Map<string, PlannedField>();
  for (const [name, spec] of fields) {
    const plan = planField(spec, targetOf(schema.schema, name), references.get(name) ?? null, placed);
    if ('problems' in plan) return undefined;
    planned.set(name, { ...plan, omitNull: spec.omitNull });
  }
  const writer = recordWriter(schema, validator, planned);

  const write = (row: ByteRow): Answer => {
    const json = new RecordTexts();
    // What stands before it is not touched.
    json.write('before');
    json.finish();
    const failure = writer.write(row, json);
    if (failure !== null) return failure;
    const { from, to } = writer.id;
    json.finish();
    const text = json.text(1).toString('utf8');
    expect(json.text(0).toString('utf8')).toBe('before');
    const data = JSON.parse(text) as JsonObject;
    const id = from === to ? externalIdText(data[schema.externalIdField]) : json.text(1).toString('utf8', from, to);
    return { text, id: id! };
  };

  const alone = new RecordTexts();
  /** Field by field, with nothing taken for proven: the record is built, validated as a whole, and encoded. */
  const expected = (row: ByteRow): Answer => {
    const data: Record<string, JsonValue> = {};
    for (const [name, field] of planned) {
      alone.undo();
      const outcome = field.writer(null)(row, alone);
      if (outcome instanceof Rejection) return fieldRejected(name, outcome);
      if (outcome !== null) data[name] = JSON.parse(alone.bytes.toString('utf8', 0, alone.at)) as JsonValue;
      else if (!field.omitNull) data[name] = null;
    }
    const id = externalIdText(data[schema.externalIdField]);
    if (id === null) return noExternalId(schema.externalIdField);
    const { validate } = validator;
    if (!validate(Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)))) {
      const isNull = (field: string): boolean => data[field] === null;
      const { field, ...violation } = firstViolation(validate.errors!, schema.schema, [...planned.keys()], isNull);
      return { code: 'record_invalid', ...violation, shape: maskedShape(data[field]) };
    }
    const names = [...planned.keys()].filter((name) => Object.hasOwn(data, name));
    try {
      return { text: `{${names.map((name) => `${JSON.stringify(name)}:${encodeJson(data[name]!)}`).join()}}`, id };
    } catch {
      return notEncodable(data)!;
    }
  };
  return { write, expected };
}

const inBytes = (row: SourceRow): ByteRow => new TextRow(row.keys()).pointTo(row);

describe('a record', () => {
  it('equals the values of its fields, and is valid', () => {
    let written = 0;
    let failed = 0;
    fc.assert(
      fc.property(cases, ({ shape, rows }) => {
        const of = <T>(values: readonly T[], name: string): T => values[NAMES.indexOf(name)]!;
        const properties = Object.fromEntries(shape.declared.map((name) => [name, of(shape.rules, name)]));
        const schema = {
          type: 'object',
          ...shape.whole,
          properties,
          required: shape.required,
          definitions: { short: { maxLength: 3 } },
        };
        const ways = compiled(
          { name: 'thing', category: 'custom_schema', externalIdField: 'id', schema },
          new Map(shape.order.map((name) => [name, of(shape.fields, name)])),
          Object.fromEntries(NAMES.map((name) => [name, of(shape.types, name)])),
        );
        fc.pre(ways !== undefined);
        for (const row of rows) {
          const expected = ways.expected(inBytes(row));
          if ('text' in expected) written++;
          else failed++;
          expect(ways.write(inBytes(row))).toEqual(expected);
          // From PostgreSQL's messages it is the same, but that those hold no lone surrogates.
          if (row.every((value) => value === null || value.isWellFormed()))
            expect(ways.write(messageRow(row))).toEqual(expected);
        }
      }),
      { numRuns: inCampaign(120, 400) },
    );
    // Else the comparison would have compared nothing. Few draws vary much: of 120, 128 to more than 200 were written.
    expect(written).toBeGreaterThan(20);
    expect(failed).toBeGreaterThan(20);
  });

  it.each(['customers', 'transactions'])('of the benchmark is proven valid by its plans: %s', async (name) => {
    const { spec: sync } = await loadSync(fileURLToPath(new URL('../../bench/mappings', import.meta.url)), 'bench', {
      SOURCE_URL: 'postgres://nowhere/none',
    });
    const { schema, fields } = sync.mappings.find((mapping) => mapping.name === name)!;
    const columns: Record<string, [SourceType, string]> = {
      id: ['integer', '1'],
      external_id: ['text', 'C-1'],
      first_name: ['text', 'Zoë "Z" 😀'],
      last_name: ['text', 'Last'],
      email: ['text', 'A@EXAMPLE.org'],
      phone: ['text', '+15550000001'],
      opted_out: ['boolean', 'f'],
      created_at: ['timestamptz', '2020-01-31 00:00:00.120+00'],
      total: ['decimal', '12.50'],
      occurred_at: ['timestamptz', '2020-02-29 00:00:00+00'],
      detail_url: ['text', 'https://example.org/1'],
      customer_external_id: ['text', 'C-1'],
    };
    const types = Object.fromEntries(Object.entries(columns).map(([column, [type]]) => [column, type]));
    const row: SourceRow = Object.values(columns).map(([, value]) => value);
    const { expected } = compiled(schema, fields, types)!;
    const validate = () => expect.unreachable('a record was validated');
    const { write } = compiled(schema, fields, types, {
      ...definitionValidator(schema.schema),
      validate: validate as unknown as ValidateFunction,
    })!;
    for (const of of [messageRow, inBytes]) {
      expect(write(of(row))).toHaveProperty('text');
      expect(write(of(row))).toEqual(expected(of(row)));
    }
  });

  it('has U+FFFD in place of bytes from PostgreSQL that are not UTF-8', () => {
    const fields = new Map<string, FieldSpec>([
      ['id', { kind: 'column', column: 'id', transforms: [], omitNull: false }],
    ]);
    const schema = { type: 'object', properties: { id: { type: 'string' } } };
    const { write } = compiled({ name: 'thing', category: 'custom_schema', externalIdField: 'id', schema }, fields, {
      id: 'text',
    })!;
    expect(write(messageRow(['Zoë']))).toEqual({ text: '{"id":"Zoë"}', id: 'Zoë' });
    expect(write(messageRow([Buffer.from('Zoë', 'latin1')]))).toEqual({ text: '{"id":"Zo\uFFFD"}', id: 'Zo\uFFFD' });
  });
});
