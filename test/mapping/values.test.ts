/** Values arrive exactly or not at all: one case for each kind of value that is easily damaged. */
import { describe, expect, it } from 'vitest';
import type { SourceType } from '../../src/domain/source/source.js';
import { maskedShape } from '../../src/mapping/encode/masked-shape.js';
import { mapper } from './sync-on-disk.js';

async function mapped(type: SourceType, property: object, value: string, field = 'v'): Promise<unknown> {
  const { map } = await mapper(`  v: ${field}\n`, { v: property as never }, { v: type });
  const result = map({ v: value });
  return result.kind === 'record' ? result.data['v'] : `rejected: ${result.rule}`;
}

const STRING = { type: 'string' };
const NUMBER = { type: 'number' };
const INTEGER = { type: ['integer', 'null'] };

describe('a value of the source', () => {
  it.each([
    ['bigint to text, digit for digit', 'integer', STRING, '9223372036854775807', '9223372036854775807'],
    ['decimal to text, zeros and all', 'decimal', STRING, '12.50', '12.50'],
    ['uuid to text', 'uuid', STRING, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000001'],
    ['boolean to text', 'boolean', STRING, 't', 'true'],
    ['text with every kind of letter', 'text', STRING, 'Zoë 😀 \u202E', 'Zoë 😀 \u202E'],
    ['text with half a letter', 'text', STRING, '\uD800', 'rejected: encodable'],
    ['microseconds', 'timestamptz', STRING, '2010-12-01 08:26:00.123456+00', '2010-12-01T08:26:00.123456Z'],
    ['trailing zeros of a second', 'timestamptz', STRING, '2010-12-01 08:26:00.500+00', '2010-12-01T08:26:00.5Z'],
    ['a whole second', 'timestamptz', STRING, '2010-12-01 08:26:00+00', '2010-12-01T08:26:00Z'],
    [
      'an offset that is not UTC',
      'timestamptz',
      STRING,
      '2010-12-01 08:26:00.000001+05:30',
      '2010-12-01T02:56:00.000001Z',
    ],
    ['infinity as a time', 'timestamptz', STRING, '-infinity', 'rejected: finite date'],
    ['a time before Christ', 'timestamptz', STRING, '0044-03-15 12:00:00+00 BC', 'rejected: years 0001 to 9999'],
    ['a year beyond 9999', 'timestamptz', STRING, '10000-01-01 00:00:00+00', 'rejected: years 0001 to 9999'],
    ['a date, on the same day in every zone', 'date', { type: 'string', format: 'date' }, '2010-12-01', '2010-12-01'],
    ['infinity as a date', 'date', STRING, 'infinity', 'rejected: finite date'],
    ['decimal to number', 'decimal', NUMBER, '0.10', 0.1],
    ['a long decimal that a number can carry', 'decimal', NUMBER, '1234567.125000000000000000', 1234567.125],
    ['a decimal that a number cannot carry', 'decimal', NUMBER, '0.1000000000000000055', 'rejected: exact number'],
    ['float with an exponent', 'float', NUMBER, '1e-07', 1e-7],
    ['a float beyond all numbers', 'float', NUMBER, '1e400', 'rejected: exact number'],
    ['NaN', 'decimal', NUMBER, 'NaN', 'rejected: exact number'],
    ['infinity as a number', 'float', NUMBER, '-Infinity', 'rejected: exact number'],
    ['the last safe integer', 'integer', INTEGER, '9007199254740991', 9007199254740991],
    ['an even integer beyond it', 'integer', INTEGER, '9007199254740994', 'rejected: exact number'],
    ['an odd integer beyond it', 'integer', NUMBER, '9007199254740993', 'rejected: exact number'],
    ['decimal to integer', 'decimal', INTEGER, '5.00', 5],
    ['a fraction to integer', 'decimal', INTEGER, '5.50', 'rejected: whole number'],
    ['text that is a number', 'text', NUMBER, '12.5', 12.5],
    ['text that looks like a number to JavaScript', 'text', NUMBER, '0x10', 'rejected: exact number'],
    ['blanks that are 0 to JavaScript', 'text', NUMBER, ' ', 'rejected: exact number'],
    ['minus zero', 'float', NUMBER, '-0', 0],
    ['boolean', 'boolean', { type: 'boolean' }, 'f', false],
    ['an integer as boolean', 'integer', { type: 'boolean' }, '1', true],
    ['an integer that is not a boolean', 'integer', { type: 'boolean' }, '2', 'rejected: boolean'],
    [
      'JSON',
      'json',
      { type: 'object' },
      '{"a":[1,"x",null],"__proto__":{"y":1}}',
      JSON.parse('{"a":[1,"x",null],"__proto__":{"y":1}}'),
    ],
    [
      'JSON with a number that would be rounded',
      'json',
      { type: 'object' },
      '{"a":12345678901234567890}',
      'rejected: exact number',
    ],
    [
      'JSON with digits in a text',
      'json',
      { type: 'object' },
      '{"a\\"1":"12345678901234567890"}',
      { 'a"1': '12345678901234567890' },
    ],
    ['JSON with a number beyond all numbers', 'json', { type: 'object' }, '{"a":1e400}', 'rejected: exact number'],
    ['JSON nested without end', 'json', { type: 'array' }, '['.repeat(70) + ']'.repeat(70), 'rejected: json depth'],
    ['null inside JSON, which is not SQL NULL', 'json', {}, 'null', 'rejected: json null'],
  ] as const)('%s', async (_title, type, property, value, expected) => {
    expect(await mapped(type, property, value)).toEqual(expected);
  });

  it('keeps microseconds through a zone, in summer and winter, over a gap and in a fold', async () => {
    const zone = (more = '') => `{ column: v, transforms: [{ dateTime: { zone: Europe/London${more} } }] }`;
    const at = (value: string, more?: string) =>
      mapped('timestamp', { type: 'string', format: 'date-time' }, value, zone(more));
    expect(await at('2010-12-01 08:26:00.000001')).toBe('2010-12-01T08:26:00.000001Z');
    expect(await at('2010-07-01 08:26:59.999999')).toBe('2010-07-01T07:26:59.999999Z');
    expect(await at('2011-03-27 01:30:00')).toBe('rejected: transform: dateTime');
    expect(await at('2010-10-31 01:30:00')).toBe('rejected: transform: dateTime');
    expect(await at('2011-03-27 01:30:00', ', onGap: compatible')).toBe('2011-03-27T01:30:00Z');
    expect(await at('2010-10-31 01:30:00', ', onGap: compatible')).toBe('2010-10-31T00:30:00Z');
    // Before railway time London was 75 seconds behind Greenwich: whole minutes do not hold.
    expect(await at('1840-01-01 00:00:00')).toBe('1840-01-01T00:01:15Z');
  });
});

describe('the masked shape of a value', () => {
  it('shows form and length, never letters or digits', () => {
    expect(maskedShape('jo.Doe2@x-y.org')).toBe('text(15) aa.aaa9@a-a.aaa');
    expect(maskedShape('Zoë 😀/٣')).toBe('text(8) aaa **9');
    expect(maskedShape('x'.repeat(1_000_000))).toBe(`text(1000000) ${'a'.repeat(24)}`);
    expect(maskedShape('')).toBe('text(0)');
    expect(maskedShape(-12.5)).toBe('number -99.9');
    expect(maskedShape({ a: 1 })).toBe('object');
    expect(maskedShape(null)).toBe('');
  });
});
