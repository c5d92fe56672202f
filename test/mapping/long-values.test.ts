/** Values of a million characters are mapped or refused in bounded time. */
import { describe, expect, it } from 'vitest';
import { canonicalDecimal } from '../../src/mapping/encode/exact-number.js';
import { mapper } from './sync-on-disk.js';

const LONG = 1_000_000;
const zeros = '0'.repeat(LONG);
const ones = '1'.repeat(LONG);

describe.each([
  ['number', 'number'],
  ['integer', 'integer'],
  ['{ dateTime: { zone: UTC } }', 'string'],
  ['{ boolean: { true: [y], false: [n] } }', 'boolean'],
  ['{ phone: { country: GB } }', 'string'],
  ['collapseBlanks', 'string'],
  ['trim', 'string'],
])('a long value of a field with the transform %s', (transform, type) => {
  it.each([
    ['zeros', zeros, `${zeros}x`, `${zeros}1x`],
    ['digits', ones, `${ones}x`, `${ones}e`, `${ones}.${ones}x`],
    ['zeros inside a fraction', `0.1${zeros}1`, `1.${zeros}10`, `-${zeros}.${zeros}1`],
    ['blanks', ' '.repeat(LONG), `${' '.repeat(LONG)}x`, `x${' '.repeat(LONG)}x`],
    ['a time with a long fraction', `2010-12-01 08:26:00.${zeros}10+00`, `2010-12-01 08:26:00.${zeros}x`],
  ])('ends with a record or a reason: %s', async (_what, ...values) => {
    const fields = `  a: { column: a, transforms: [${transform}] }\n`;
    const { map } = await mapper(fields, { a: { type } }, { a: 'text' });
    for (const a of values) expect(['record', 'failed']).toContain(map({ a }).kind);
  });
});

it('reads JSON that was cut off, and JSON with a long text', async () => {
  const { map } = await mapper('  a: a\n', { a: { type: 'object' } }, { a: 'json' });
  const escapes = '\\"'.repeat(LONG);
  expect(map({ a: `{"p":"${escapes}` })).toMatchObject({ kind: 'failed', reason: 'not valid JSON' });
  expect(['record', 'failed']).toContain(map({ a: `{"p":"${escapes.repeat(4)}"}` }).kind);
});

it('reads an instant with a long fraction', async () => {
  const { map } = await mapper('  a: a\n', { a: { type: 'string', format: 'date-time' } }, { a: 'timestamptz' });
  for (const fraction of [`${zeros}10`, zeros, `1${zeros}`])
    expect(map({ a: `2010-12-01 08:26:00.${fraction}+00` }).kind).toMatch(/record|unmappable/);
});

it('distinguishes decimals of any length', () => {
  expect(canonicalDecimal(`1${zeros}1`)).toBe(`1${zeros}1e0`);
  expect(canonicalDecimal(`0.${zeros}1`)).toBe(`1e-${LONG + 1}`);
  expect(
    ['1.50', '15e-1', '1.5e+0', '150e-02', '+1.5', '-1.5', '.5', '5.', '-0', '1e', 'x', 'x5'].map(canonicalDecimal),
  ).toMatchInlineSnapshot(`
    [
      "15e-1",
      "15e-1",
      "15e-1",
      "15e-1",
      "15e-1",
      "-15e-1",
      "5e-1",
      "5e0",
      "0",
      "0",
      "0",
      "0",
    ]
  `);
});
