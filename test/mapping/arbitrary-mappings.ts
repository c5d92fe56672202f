/** Random mappings, schema definitions and rows, with values that databases deliver and sometimes values that they should not. */
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/domain/values/json.js';
import type { SourceType } from '../../src/domain/source/source.js';
import type { FieldSpec, TransformCall } from '../../src/domain/sync/sync.js';

const texts = (...values: string[]) => fc.constantFrom(...values);
const digits = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String);
const decimals = fc.tuple(fc.integer({ min: -99999, max: 99999 }), fc.stringMatching(/^\d{0,18}$/));
const days = fc.tuple(
  fc.integer({ min: 0, max: 10001 }),
  fc.integer({ min: 0, max: 13 }),
  fc.integer({ min: 0, max: 32 }),
);
const two = (n: number) => String(n).padStart(2, '0');
const dates = days.map(([year, month, day]) => `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`);
const times = fc
  .tuple(
    fc.integer({ min: 0, max: 24 }),
    fc.integer({ min: 0, max: 60 }),
    fc.integer({ min: 0, max: 60 }),
    fc.stringMatching(/^(\.\d{1,9})?$/),
  )
  .map(([hour, minute, second, fraction]) => `${two(hour)}:${two(minute)}:${two(second)}${fraction}`);
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  texts('', ' ', '"', '\\', '\u0000', '\u2028', '😀', '\ud800', '\udfff x', 'a@b.org', 'A@B.ORG', '2010-02-29', 'null'),
);

const usually = (usual: fc.Arbitrary<string>, odd: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: odd });

/** What a database hands over for a column of each type, and now and then what it should not. */
export const VALUES: Readonly<Partial<Record<SourceType, fc.Arbitrary<string>>>> = {
  text: usually(
    texts('a', 'b', 'a@b.org', 'Zoë', 'x "y"', '5', '2010-12-01', '2010-12-01T08:26:00Z'),
    fc.oneof(anyText, digits, dates),
  ),
  integer: usually(fc.integer().map(String), fc.oneof(digits, texts('0', '-0', '9007199254740993', '007', '1"'))),
  decimal: usually(
    fc
      .tuple(fc.integer({ min: -99999, max: 99999 }), fc.integer({ min: 0, max: 99 }))
      .map(([whole, cents]) => `${whole}.${two(cents)}`),
    fc.oneof(
      decimals.map(([whole, fraction]) => `${whole}${fraction === '' ? '' : `.${fraction}`}`),
      texts('0.00', '-0.00', '-0.5', '0.0000001', '0.000001', '100', 'NaN', '.5', '1.', '01.5', '999999999999999'),
    ),
  ),
  float: usually(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    texts('1e-05', '1E400', 'Infinity', '-0', '1.5e3'),
  ),
  boolean: usually(texts('t', 'f'), texts('true', 'false', '1', '0', 'T', '')),
  date: usually(
    fc
      .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10)),
    fc.oneof(dates, texts('infinity', '0044-03-15 BC', '2011-02-29', '2012-02-29', '1900-02-29', '2000-02-29')),
  ),
  timestamptz: usually(
    fc
      .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString().replace('T', ' ').replace('Z', '+00')),
    fc.oneof(
      fc
        .tuple(dates, times, texts('+00', 'Z', '+00:00', '+0000', '+05:30', '-03', ''))
        .map(([date, time, zone]) => `${date} ${time}${zone}`),
      texts('infinity', '0044-03-15 12:00:00+00 BC', '2010-12-01 08:26:00.120+00', '2010-12-01T08:26:00Z'),
    ),
  ),
  timestamp: usually(
    texts('2010-12-01 08:26:00', '2010-07-31 00:10:00.120'),
    fc.tuple(dates, times).map(([date, time]) => `${date} ${time}`),
  ),
  uuid: fc.uuid(),
  bytes: usually(texts('\\x', '\\x00ff', `\\x${'a0'.repeat(16)}`), anyText),
  json: usually(
    fc.json(),
    texts('null', '"a"', '12', '{', '{"__proto__":{"a":1}}', '[1e400]', '"\\ud800"', '{"b":1,"a":2}'),
  ),
};

/** Rules of a field: those that plans prove, those that they do not, notes, and what ajv has never heard of. */
const RULES: readonly JsonValue[] = [
  ...[{}, true, { type: 'string' }, { type: ['string', 'null'], description: 'x', 'x-note': 1 }, { type: 'number' }],
  ...[{ type: 'integer' }, { type: 'integer', minimum: 3 }, { type: 'number', multipleOf: 0.5, maximum: 1000 }],
  ...[{ type: 'string', minLength: 1 }, { minLength: 1 }, { type: 'string', minLength: 2, maxLength: 5 }],
  ...[
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
    { type: 'string', format: 'email' },
  ],
  ...[
    { type: 'string', format: 'uuid' },
    { format: 'date-time' },
    { type: 'boolean' },
    { type: 'boolean', const: true },
  ],
  ...[{ enum: ['a', 1, true, '5'] }, { type: 'string', pattern: '^[a-z@.]+$' }, { type: 'object', maxProperties: 1 }],
  ...[
    { type: ['string', 'number'] },
    { $ref: '#/definitions/short' },
    { not: { const: 'a@b.org' } },
    { type: 'array' },
  ],
  ...[
    { $ref: 'parent' },
    { type: 'array', items: { $ref: 'parent' } },
    { $comment: 'x', type: 'string', nullable: true },
  ],
];

/** Rules of the whole record: those that fields decide, and those that need the record. */
const WHOLE: readonly JsonObject[] = [
  {},
  { additionalProperties: false, $comment: 'x', title: 'x', 'x-note': 1 },
  { additionalProperties: { type: 'string' } },
  { minProperties: 2 },
  { if: { required: ['a'] }, then: { required: ['b'] } },
  { dependencies: { a: ['b'] } },
  { propertyNames: { maxLength: 2 } },
];

export const TRANSFORMS: readonly (readonly TransformCall[])[] = [
  [],
  [],
  [{ name: 'lowercase', options: {} }],
  [
    { name: 'trim', options: {} },
    { name: 'emptyToNull', options: {} },
  ],
  [{ name: 'nullIf', options: { equals: ['t', '0', ''] } }],
  [{ name: 'number', options: {} }],
  [{ name: 'integer', options: {} }],
  [{ name: 'boolean', options: { true: ['t', '1'], false: ['f', '0'] } }],
  [{ name: 'dateTime', options: { zone: 'Europe/London' } }],
  [{ name: 'values', options: { map: { t: 'a', f: 'b' }, otherwise: 'keep' } }],
  [{ name: 'string', options: {} }],
  [{ name: 'split', options: {} }],
  [{ name: 'encode', options: { as: 'uuid' } }],
  [{ name: 'instant', options: { from: 'seconds' } }],
];

const fieldFrom = (column: string): fc.Arbitrary<FieldSpec> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('column' as const),
        column: fc.constant(column),
        transforms: fc.constantFrom(...TRANSFORMS),
        omitNull: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('coalesce' as const),
        columns: fc.constant([column, 'a']),
        transforms: fc.constantFrom(...TRANSFORMS),
        omitNull: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('constant' as const),
        value: fc.constantFrom('a', 5, true, null, '', { a: [1] }),
        omitNull: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('template' as const),
        template: fc.constant(`<{${column}}>`),
        transforms: fc.constant([]),
        omitNull: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('ref' as const),
        mapping: fc.constant('parents'),
        form: fc.constantFrom('id' as const, 'object' as const),
        column: fc.constant(column),
        transforms: fc.constant([]),
        omitNull: fc.boolean(),
      }),
    },
  );

export const NAMES = ['id', 'a', 'b', '1'];
export const cases = fc
  .record({
    types: fc.tuple(
      ...NAMES.map((name) =>
        name === 'id'
          ? fc.constantFrom<SourceType>('text', 'integer', 'decimal')
          : fc.constantFrom(...(Object.keys(VALUES) as SourceType[])),
      ),
    ),
    rules: fc.tuple(...NAMES.map(() => fc.oneof(fc.constant({}), fc.constantFrom(...RULES)))),
    whole: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constantFrom(...WHOLE) }),
    required: fc.subarray(NAMES),
    declared: fc.subarray(NAMES, { minLength: 3 }),
    order: fc.shuffledSubarray(NAMES, { minLength: NAMES.length }),
    fields: fc.tuple(...NAMES.map((name) => fieldFrom(name))),
  })
  .chain((shape) =>
    fc.record({
      shape: fc.constant(shape),
      rows: fc.array(fc.tuple(...shape.types.map((type) => fc.option(VALUES[type]!, { freq: 8 }))), {
        minLength: 40,
        maxLength: 40,
      }),
    }),
  );
