/** Values arrive exactly or not at all: one case for each kind of value that is easily damaged. */
import { describe, expect, it } from 'vitest';
import type { SourceType } from '../../src/domain/source/source.js';
import { conversionOf } from '../../src/mapping/encode/conversion.js';
import { dateFromDatabase, instantFromDatabase } from '../../src/mapping/encode/date-from-database.js';
import { isRounded } from '../../src/mapping/encode/exact-number.js';
import { maskedShape } from '../../src/mapping/encode/masked-shape.js';
import { Rejection } from '../../src/mapping/encode/rejection.js';
import { mapper } from './sync-on-disk.js';

async function mapped(type: SourceType, property: object, value: string, field = 'v'): Promise<unknown> {
  const { map } = await mapper(`  v: ${field}\n`, { v: property as never }, { v: type });
  const result = map({ v: value });
  return result.kind === 'record' ? result.data['v'] : `rejected: ${result.rule}`;
}

const STRING = { type: 'string' };
const NUMBER = { type: 'number' };
const INTEGER = { type: ['integer', 'null'] };
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('a value of the source', () => {
  it.each([
    ['bigint to text, digit for digit', 'integer', STRING, '9223372036854775807', '9223372036854775807'],
    ['decimal to text, zeros and all', 'decimal', STRING, '12.50', '12.50'],
    ['uuid to text', 'uuid', STRING, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000001'],
    ['boolean to text', 'boolean', STRING, 't', 'true'],
    ['the other boolean to text', 'boolean', STRING, 'f', 'false'],
    ['a boolean in words to text', 'boolean', STRING, 'true', 'true'],
    ['a time of day to text', 'time', STRING, '08:26:00.50', '08:26:00.50'],
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
    ['minus zero with many digits', 'decimal', NUMBER, '-0.0000000000000000', 0],
    ['float with an exponent without a sign', 'float', NUMBER, '1e5', 100_000],
    [
      'an integer that a number could carry, but not its neighbours',
      'integer',
      NUMBER,
      '9007199254740992',
      'rejected: exact number',
    ],
    ['a negative decimal with many digits', 'decimal', NUMBER, '-1234567.125000000000000000', -1234567.125],
    ['boolean', 'boolean', { type: 'boolean' }, 'f', false],
    ['a boolean in words', 'boolean', { type: 'boolean' }, 'true', true],
    ['the other boolean in words', 'boolean', { type: 'boolean' }, 'false', false],
    ['an integer as boolean', 'integer', { type: 'boolean' }, '1', true],
    ['an integer that is not a boolean', 'integer', { type: 'boolean' }, '2', 'rejected: boolean'],
    [
      'an integer as text, where both text and boolean are allowed',
      'integer',
      { type: ['boolean', 'string'] },
      '1',
      '1',
    ],
    ['a decimal as number, where everything is allowed', 'decimal', {}, '1.50', 1.5],
    ['an integer, where a text is allowed as well', 'integer', { type: ['string', 'integer'] }, '5', 5],
    ['text as text, where a number is allowed as well', 'text', { type: ['string', 'number'] }, '5', '5'],
    ['text to integer', 'text', INTEGER, '5.0', 5],
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
    [
      'JSON with digits behind an escape in a text',
      'json',
      { type: 'object' },
      '{"a":"\\n12345678901234567890 \\n\\n"}',
      { a: '\n12345678901234567890 \n\n' },
    ],
    ['JSON with a number beyond all numbers', 'json', { type: 'object' }, '{"a":1e400}', 'rejected: exact number'],
    ['JSON nested as deep as is allowed', 'json', { type: 'array' }, nested(64), JSON.parse(nested(64))],
    ['JSON nested one level deeper', 'json', { type: 'array' }, nested(65), 'rejected: json depth'],
    [
      'JSON with many lists side by side',
      'json',
      { type: 'array' },
      `[${'[],{},'.repeat(70)}0]`,
      JSON.parse(`[${'[],{},'.repeat(70)}0]`),
    ],
    ['half of a JSON object', 'json', {}, '{"a":', 'rejected: json'],
    ['null inside JSON, which is not SQL NULL', 'json', {}, 'null', 'rejected: json null'],
  ] as const)('%s', async (_title, type, property, value, expected) => {
    expect(await mapped(type, property, value)).toEqual(expected);
  });

  it.each([
    ['integer', '007', '<007>'],
    ['boolean', 'f', '<false>'],
    ['date', '2010-12-01', '<2010-12-01>'],
    ['date', 'infinity', 'rejected: finite date'],
    ['timestamptz', '2010-12-01 08:26:00.50+00', '<2010-12-01T08:26:00.5Z>'],
    ['bytes', '\\x00ff', '<00ff>'],
  ] as const)('of type %s has the same text in a template as in a field: %s', async (type, value, expected) => {
    expect(await mapped(type, STRING, value, '{ template: "<{v}>" }')).toBe(expected);
  });

  it.each([
    ['timestamptz', 'trim', '2010-12-01 08:26:00+00', '2010-12-01T08:26:00Z'],
    ['date', 'string', 'infinity', 'rejected: finite date'],
    ['bytes', 'trim', '\\x00ff', '00ff'],
    ['bytes', '{ encode: { as: base64 } }', '\\x00ff', 'AP8='],
  ] as const)('of type %s reaches the transform %s in its text form', async (type, transform, value, expected) => {
    expect(await mapped(type, STRING, value, `{ column: v, transforms: [${transform}] }`)).toBe(expected);
  });

  it.each([
    ['decimal', 'NaN', NUMBER, 'JSON cannot represent NaN and infinity'],
    ['float', 'inf', NUMBER, 'JSON cannot represent NaN and infinity'],
    ['float', '-Infinity', NUMBER, 'JSON cannot represent NaN and infinity'],
    ['text', 'infinite', NUMBER, 'not a plain number'],
    ['text', 'a nan', NUMBER, 'not a plain number'],
    ['decimal', '0.1000000000000000055', NUMBER, 'a JSON number would round it; map it to a string instead'],
    ['json', '[1e400]', {}, 'the JSON contains a number that would be rounded'],
    ['json', nested(65), {}, 'nested deeper than 64 levels'],
    ['json', '{"a":', {}, 'not valid JSON'],
    ['json', '{"\\ud800":1}', {}, 'contains text that JSON cannot represent (a lone surrogate)'],
    ['json', 'null', {}, 'JSON null is not SQL NULL; declare it with nullIf: { equals: ["null"] }'],
    ['bytes', 'ab', STRING, 'not bytes, but a text or a number'],
    ['boolean', 'yes', { type: 'boolean' }, 'neither true nor false'],
    ['date', '+infinity', STRING, 'infinity is not a point in time'],
    ['date', '0044-03-15 BC', STRING, 'RFC 3339 has no dates BC and none after the year 9999'],
    ['date', '2011-02-29', STRING, 'not a date or time as the database writes it'],
  ] as const)(
    'of type %s is refused with a reason that says what to do or why: %s',
    async (type, value, property, reason) => {
      const { map } = await mapper('  v: v\n', { v: property }, { v: type });
      expect(map({ v: value })).toMatchObject({ kind: 'failed', pointer: '/v', reason });
    },
  );

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

it.each([
  [0.01, [0.07, 19.99, 1e15, 0, -0.1, 123_456_789.12], [0.001, 19.999]],
  [0.5, [1.5, -2], [0.25]],
  [3, [9, -3], [10, 4.5]],
  [1e-7, [3e-7, 1], [1e-8]],
])('takes decimals for multiples of %d as people do', async (multipleOf, are, areNot) => {
  const { map } = await mapper('  v: v\n', { v: { type: 'number', multipleOf } }, { v: 'decimal' });
  const kinds = (values: readonly number[]) => values.map((value) => map({ v: String(value) }).kind);
  expect(new Set(kinds(are))).toEqual(new Set(['record']));
  expect(map({ v: String(areNot[0]) })).toMatchObject({ reason: `is not a multiple of ${multipleOf}` });
  expect(new Set(kinds(areNot))).toEqual(new Set(['failed']));
});

it('tells numbers that JSON would round from other numbers, and from what is no number', () => {
  for (const text of ['9007199254740993', '-9007199254740993', '0.1000000000000000055', '1e400'])
    expect([text, isRounded(text)]).toEqual([text, true]);
  for (const text of ['5', '-12.50', '1e5', '9007199254740991', 'NaN', 'x', ''])
    expect([text, isRounded(text)]).toEqual([text, false]);
});

describe('a date as the database writes it', () => {
  const read = (text: string) => {
    const result = dateFromDatabase(text);
    return result instanceof Rejection ? result.rule : result;
  };
  const two = (n: number) => String(n).padStart(2, '0');

  it('is every day of a year, and none that the year does not have', () => {
    const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (let month = 0; month <= 13; month++)
      for (let day = 0; day <= 32; day++) {
        const text = `2011-${two(month)}-${two(day)}`;
        expect([text, read(text)]).toEqual([text, day > 0 && day <= (days[month - 1] ?? 0) ? text : 'readable date']);
      }
  });

  it.each([
    ['2012-02-29', '2012-02-29'],
    ['2000-02-29', '2000-02-29'],
    ['1900-02-29', 'readable date'],
    ['2012-02-30', 'readable date'],
    ['0001-01-01', '0001-01-01'],
    ['9999-12-31', '9999-12-31'],
    ['0000-01-01', 'years 0001 to 9999'],
    ['12010-12-01', 'years 0001 to 9999'],
    ['+12010-12-01', 'years 0001 to 9999'],
    ['-12010-12-01', 'years 0001 to 9999'],
    ['2010-12-01 BC', 'years 0001 to 9999'],
    ['2010-12-01 BC?', 'readable date'],
    ['2010-12-01 12010-', 'readable date'],
    ['INFINITY', 'finite date'],
    ['-infinity', 'finite date'],
    ['infinity?', 'readable date'],
    ['to infinity', 'readable date'],
    ['2010-12-01?', 'readable date'],
    ['?2010-12-01', 'readable date'],
  ])('%s gives %s', (text, expected) => expect(read(text)).toBe(expected));
});

describe('an instant as the database writes it', () => {
  it.each([
    ['2010-12-01 00:00:00+00', '2010-12-01T00:00:00Z'],
    ['2010-12-01 23:59:59.000001+00', '2010-12-01T23:59:59.000001Z'],
    ['2010-12-01 19:26:10+00', '2010-12-01T19:26:10Z'],
    ['2010-12-30 08:26:00+00', '2010-12-30T08:26:00Z'],
    ['2010-12-31 08:26:00.1+00', '2010-12-31T08:26:00.1Z'],
    ['2012-02-29 08:26:00+00', '2012-02-29T08:26:00Z'],
    ['2010-12-01 08:26:00.120+00', '2010-12-01T08:26:00.12Z'],
    ['2010-12-01 08:26:00.000+00', '2010-12-01T08:26:00Z'],
    ['2010-12-01 08:26:10.000+00', '2010-12-01T08:26:10Z'],
    ['2010-12-01T08:26:00+00', '2010-12-01T08:26:00Z'],
    ['2010-12-01T08:26:00Z', '2010-12-01T08:26:00Z'],
    ['2010-12-01T08:26:00.50Z', '2010-12-01T08:26:00.5Z'],
    ['2010-12-01 08:26:00+0000', '2010-12-01T08:26:00Z'],
    ['2010-12-01 08:26:00.50+00:00', '2010-12-01T08:26:00.5Z'],
    ['2010-12-01 08:26:00+01', '2010-12-01T07:26:00Z'],
    ['2010-12-01T08:26:00.120-0530', '2010-12-01T13:56:00.12Z'],
    ['2010-12-01 00:26:00.123456789+05:30', '2010-11-30T18:56:00.123456789Z'],
    ['0001-01-01 00:00:00+01', 'readable date'],
    ['9999-12-31 23:00:00-01', 'readable date'],
    ['0000-12-31 23:00:00+00', 'years 0001 to 9999'],
    ['0000-12-01 08:26:00+00', 'years 0001 to 9999'],
    ['????-12-01 08:26:00+00', 'readable date'],
    ['2011-02-29 08:26:00+00', 'readable date'],
    ['2011-02-29 08:26:00Z', 'readable date'],
    ['2011-02-30 08:26:00+01', 'readable date'],
    ['2010-04-31 08:26:00+00', 'readable date'],
    ['2010-13-01 08:26:00+00', 'readable date'],
    ['2010-12-00 08:26:00+00', 'readable date'],
    ['2010-12-01 24:00:00+00', 'readable date'],
    ['2010-12-01 08:60:00+00', 'readable date'],
    ['2010-12-01 08:26:60+00', 'readable date'],
    ['2016-12-31 23:59:60+00', 'readable date'],
    ['2017-01-01 00:59:60+01', 'readable date'],
    ['2010-12-01 08:26:61+00', 'readable date'],
    ['2010-12-01 08:26:00.+00', 'readable date'],
    ['2010-12-01 08:26:00', 'readable date'],
    ['2010-12-01 08:26+00', 'readable date'],
    ['2010-12-01 08:26:00+0', 'readable date'],
    ['2010-12-01 08:26:00+00?', 'readable date'],
    ['2010-12-01 08:26:00+01?', 'readable date'],
    ['?2010-12-01 08:26:00+00', 'readable date'],
    ['?2010-12-01 08:26:00+01', 'readable date'],
    ['infinity', 'finite date'],
  ])('%s gives %s', (text, expected) => {
    const result = instantFromDatabase(text);
    expect(result instanceof Rejection ? result.rule : result).toBe(expected);
  });

  it.each([
    '2010-01-09 08:26:00.25+00',
    '2010-12-10 23:26:00.5+00',
    '2010-12-20 19:59:10Z',
    '2010-12-01T08:26:00.25+05:30',
  ])('has no letter in place of a digit: %s', (text) => {
    expect(typeof instantFromDatabase(text)).toBe('string');
    for (const { index } of text.matchAll(/\d/g)) {
      const spoilt = `${text.slice(0, index)}x${text.slice(index + 1)}`;
      expect([spoilt, instantFromDatabase(spoilt)]).toMatchObject([spoilt, { rule: 'readable date' }]);
    }
  });
});

describe('a value, once converted,', () => {
  it.each([
    ['text', 'string', 'string', null],
    ['uuid', 'string', 'string', null],
    ['bytes', 'string', 'string', null],
    ['date', 'string', 'string', 'date'],
    ['timestamptz', 'string', 'string', 'date-time'],
    ['dateTime', 'string', 'string', 'date-time'],
    ['decimal', 'number', 'number', null],
    ['jsonNumber', 'number', 'number', null],
    ['text', 'integer', 'integer', null],
    ['integer', 'boolean', 'boolean', null],
    ['jsonBoolean', 'boolean', 'boolean', null],
    ['list', 'array', null, null],
    ['json', 'object', null, null],
  ] as const)(
    'from %s to %s is known to be of type %s and format %s, which is not checked again',
    (kind, wanted, type, format) => {
      expect(conversionOf(kind, { types: [wanted], format: null })).toMatchObject({ proven: { type, format } });
    },
  );
});

describe('the masked shape of a value', () => {
  it('shows form and length, never letters or digits', () => {
    expect(maskedShape('jo.Doe2@x-y.org')).toBe('text(15) aa.aaa9@a-a.aaa');
    expect(maskedShape('Zoë 😀/٣')).toBe('text(8) aaa **9');
    expect(maskedShape('x'.repeat(1_000_000))).toBe(`text(1000000) ${'a'.repeat(24)}`);
    expect(maskedShape('')).toBe('text(0)');
    expect(maskedShape(-12.5)).toBe('number -99.9');
    expect(maskedShape(true)).toBe('boolean');
    expect(maskedShape({ a: 1 })).toBe('object');
    expect(maskedShape(['a', 'b'])).toBe('list(2)');
    expect(maskedShape(null)).toBe('');
    expect(maskedShape(undefined)).toBe('');
  });
});
