/** For random mappings and rows, records equal those of a naive interpreter that shares no code with the product. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/domain/values/json.js';
import type { FieldSpec, TransformCall } from '../../src/domain/sync/sync.js';
import { compileMapping } from '../../src/mapping/compile/compile-mapping.js';
import { inCampaign } from '../campaign.js';

type Row = Record<string, string | null>;
const COLUMNS = ['a', 'b', '__proto__', 'constructor'];

/** What each transform means, in the plainest words. */
const MEANING: Record<string, (text: string) => string | string[] | null> = {
  trim: (text) => text.replace(/^\s+/, '').replace(/\s+$/, ''),
  lowercase: (text) => [...text].map((deadLetter) => deadLetter.toLowerCase()).join(''),
  emptyToNull: (text) => (text.length === 0 ? null : text),
  nullIf: (text) => (text === 'x' ? null : text),
  part: (text) => text.split(',')[0]!.trim() || null,
};
const calls: TransformCall[] = [
  ...['trim', 'lowercase', 'emptyToNull'].map((name) => ({ name, options: {} })),
  { name: 'nullIf', options: { equals: ['x'] } },
  { name: 'part', options: { number: 1 } },
];

function naive(field: FieldSpec, row: Row): JsonValue {
  const through = (text: string | null, transforms: readonly TransformCall[]): JsonValue => {
    let value: JsonValue = text;
    for (const { name } of transforms) if (typeof value === 'string') value = MEANING[name]!(value);
    return value;
  };
  const cell = (name: string): string | null => (Object.hasOwn(row, name) ? row[name]! : null);
  if (field.kind === 'constant') return field.value;
  if (field.kind === 'coalesce')
    return field.columns.map((name) => through(cell(name), field.transforms)).find((value) => value !== null) ?? null;
  if (field.kind === 'template')
    return cell('a') === null || cell('b') === null ? null : through(`${cell('a')}-${cell('b')}`, field.transforms);
  return through(cell(field.column), field.transforms);
}

const transforms = fc.array(fc.constantFrom(...calls), { maxLength: 3 });
const omitNull = fc.boolean();
const field: fc.Arbitrary<FieldSpec> = fc.oneof(
  fc.record({ kind: fc.constant('column' as const), column: fc.constantFrom(...COLUMNS), transforms, omitNull }),
  fc.record({ kind: fc.constant('template' as const), template: fc.constant('{a}-{b}'), transforms, omitNull }),
  fc.record({
    kind: fc.constant('coalesce' as const),
    transforms,
    omitNull,
    columns: fc.subarray(COLUMNS, { minLength: 2 }),
  }),
  fc.record({ kind: fc.constant('constant' as const), value: fc.constantFrom('', 'c', null), omitNull }),
);
const text = fc.oneof(fc.string(), fc.constantFrom('', ' ', 'x', ' A,b ', '"\\', 'É😀', '\u0001'));

it('maps every row to the same record as the naive interpreter', () => {
  const rows = fc.array(fc.array(fc.option(text), { minLength: 4, maxLength: 4 }), { minLength: 10, maxLength: 10 });
  const fields = fc.array(field, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fields, rows, (specs, values) => {
      const named = specs.map((spec, i): [string, FieldSpec] => [`f${i}`, spec]);
      const id: FieldSpec = { kind: 'column', column: 'id', transforms: [], omitNull: false };
      const properties: JsonObject = {
        id: { type: 'string' },
        ...Object.fromEntries(named.map(([name]) => [name, {}])),
      };
      const { columns, map } = compileMapping(
        {
          ...{
            name: 'things',
            file: 'things.mapping.yaml',
            relation: { table: 't' },
            key: ['id'],
            cursor: null,
            feed: null,
            changedBy: [],
            deletes: null,
          },
          schema: { name: 'thing', category: 'custom_schema', externalIdField: 'id', schema: { properties } },
          fields: new Map([['id', id], ...named]),
          options: {
            onConflict: 'upsert',
            ignoreUnknownFields: false,
            dependencyWaitTimeout: 0,
            batchSize: null,
            longestExternalId: 1_300,
            ledger: 'full',
          },
        },
        { kind: 'constant', tenant: 't' },
        ['id', ...COLUMNS].map((name) => ({ name, type: 'text', databaseType: 'text' })),
      );
      for (const cells of values) {
        const row = Object.fromEntries([['id', '7'], ...COLUMNS.map((name, i) => [name, cells[i]!])]) as Row;
        const result = map(columns.map((name) => row[name]!));
        const expected = named
          .map(([name, spec]): [string, JsonValue, boolean] => [name, naive(spec, row), spec.omitNull])
          .filter(([, value, omitted]) => value !== null || !omitted)
          .map(([name, value]) => [name, value]);
        expect(result).toMatchObject({ kind: 'record', externalId: '7' });
        expect(JSON.parse((result as { json: string }).json)).toEqual({ id: '7', ...Object.fromEntries(expected) });
      }
    }),
    { numRuns: inCampaign(100, 300) },
  );
});
