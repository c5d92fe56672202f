/** Copying bytes is a shortcut: it writes what the steps of a value would produce, or leaves the value to them. */
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { encodeJson, type JsonValue } from '../../src/domain/values/json.js';
import { RecordTexts } from '../../src/records/record-texts.js';
import { writeText } from '../../src/records/text-column.js';
import { pipelineOf } from '../../src/mapping/compile/pipeline.js';
import type { CopyValue } from '../../src/mapping/encode/copy-value.js';
import { Rejection } from '../../src/mapping/encode/rejection.js';
import type { Target } from '../../src/mapping/definition/target.js';
import type { SourceType } from '../../src/domain/source/source.js';
import { writeValue } from '../../src/mapping/encode/write-value.js';
import { findTextRange, isEmptyTextAt, valueAt } from '../../src/mapping/encode/written-value.js';
import { TRANSFORMS, VALUES } from './arbitrary-mappings.js';

const TARGETS: readonly Target[] = ['string', 'number', 'integer', 'boolean'].map((type) => ({
  types: [type],
  format: null,
}));
const UPPERCASE = [{ name: 'uppercase', options: {} }];

/** What is written, and whether by copying; undefined where the value is left to the steps. */
function copied(type: SourceType, target: Target, transforms: (typeof TRANSFORMS)[number]) {
  const pipeline = pipelineOf(type, transforms, target);
  if ('problem' in pipeline || pipeline.copy === null) return undefined;
  const { run, copy } = pipeline;
  return {
    run,
    /** Values of a row may stand side by side: the byte before and after this one must not matter. */
    copy: (text: string, beside = '#', place = 0): string | undefined => {
      const bytes = Buffer.from(`${beside}${text}${beside}`);
      const json = new RecordTexts();
      json.copy(Buffer.alloc(place), 0, place);
      return copy(bytes, 1, bytes.length - 1, json) ? json.bytes.toString('utf8', place, json.at) : undefined;
    },
  };
}

it.each(Object.keys(VALUES) as SourceType[])('writes the same as the steps for %s', (type) => {
  let written = 0;
  let plans = 0;
  for (const target of TARGETS)
    for (const transforms of [...TRANSFORMS, UPPERCASE]) {
      const way = copied(type, target, transforms);
      if (way === undefined) continue;
      plans++;
      const wellFormed = VALUES[type]!.map((text) => text.toWellFormed());
      fc.assert(
        fc.property(wellFormed, (text) => {
          const copy = way.copy(text);
          if (copy === undefined) return;
          written++;
          const value = way.run(text);
          expect(value).not.toBeInstanceOf(Rejection);
          expect(copy).toBe(encodeJson(value as string));
        }),
      );
    }
  // Else the comparison would have compared nothing.
  if (plans > 0) expect(written).toBeGreaterThan(20 * plans);
  expect(plans > 0).toBe(!['bytes', 'timestamp'].includes(type));
});

it.each<[SourceType, string, string, string]>([
  ['text', 'string', '', '""'],
  ['text', 'string', 'Zoë 😀', '"Zoë 😀"'],
  ['integer', 'string', '007', '"007"'],
  ['decimal', 'number', '0', '0'],
  ['decimal', 'number', '0.00', '0'],
  ['decimal', 'number', '100', '100'],
  ['decimal', 'number', '-12.50', '-12.5'],
  ['decimal', 'number', '0.05', '0.05'],
  ['decimal', 'number', '0.0000010', '0.000001'],
  ['decimal', 'number', '10.0000001', '10.0000001'],
  ['decimal', 'number', '999999999999.99', '999999999999.99'],
  ['decimal', 'integer', '5', '5'],
  ['decimal', 'integer', '500.00', '500'],
  ['boolean', 'boolean', 't', 'true'],
  ['boolean', 'boolean', 'f', 'false'],
  ['integer', 'boolean', '1', 'true'],
  ['integer', 'boolean', '0', 'false'],
  ['date', 'string', '0001-01-31', '"0001-01-31"'],
  ['date', 'string', '0010-01-31', '"0010-01-31"'],
  ['date', 'string', '0100-01-31', '"0100-01-31"'],
  ['date', 'string', '9999-12-31', '"9999-12-31"'],
  ['date', 'string', '2012-02-29', '"2012-02-29"'],
  ['timestamptz', 'string', '2000-02-29 08:26:00.120000+00', '"2000-02-29T08:26:00.12Z"'],
  ['timestamptz', 'string', '2010-12-01 00:00:00+00', '"2010-12-01T00:00:00Z"'],
  ['timestamptz', 'string', '2010-12-01 23:59:59.9+00', '"2010-12-01T23:59:59.9Z"'],
  ['timestamptz', 'string', '2010-12-01 08:26:00.000000+00', '"2010-12-01T08:26:00Z"'],
  ['timestamptz', 'string', '2010-12-01 08:26:00.123456+00', '"2010-12-01T08:26:00.123456Z"'],
])('copies %s to a %s: %s', (type, target, text, json) => {
  const { copy, run } = copied(type, { types: [target], format: null }, [])!;
  expect(encodeJson(run(text) as JsonValue)).toBe(json);
  for (const beside of ['#', '5', '.', '-', '"']) expect(copy(text, beside)).toBe(json);
  // At each place of the first buffer, which has 256 bytes, up to its end.
  for (let place = 0; place <= 256; place++) expect(copy(text, '#', place)).toBe(json);
});

it.each<[SourceType, string, string[]]>([
  ['text', 'string', ['"', '\\', '\n', '\u001f']],
  [
    'decimal',
    'number',
    ['', '-', '.', '.5', '1.', '01', '00.5', '-0', '+1', '1e5', '1.2.3', '1,5', '1.5x', 'x1', '-x'],
  ],
  ['decimal', 'number', ['0.0000001', '1000000000000001', '0.10000000000000001']],
  ['decimal', 'integer', ['', '5.5', '-0', '1e2', '05']],
  ['boolean', 'boolean', ['', 'T', '2', 'true', 'tt']],
  ['date', 'string', ['', '2010-12-1', '2010-12-010', '2010/12-01', '2010-12/01', '02010-12-1', '-010-12-01']],
  ['date', 'string', ['201x-12-01', '2010-x2-01', '2010-1x-01', '2010-12-x1', '2010-12-0x', '0000-12-01']],
  ['date', 'string', ['2010-00-10', '2010-13-10', '2010-12-00', '2010-12-32', '2010-04-31', '2012-02-30']],
  ['date', 'string', ['2011-02-29', '1900-02-29', '2012-00-29', '2012-13-29', '2012-01-39']],
  ['date', 'string', ['2010-0:-10', '2010-/;-10', '2010-12-0:', '2010-12-/;']],
  [
    'timestamptz',
    'string',
    ['', '2010-12-01+00', '2010-12-01 08:26+00', '2010-12-01 08:26:0+00', '2010-12-01 08:26:00'],
  ],
  ['timestamptz', 'string', ['2011-02-29 08:26:00+00', '2010-12-01T08:26:00+00', '2010-12-01 08:26:00Z00']],
  ['timestamptz', 'string', ['2010-12-01 24:00:00+00', '2010-12-01 08:60:00+00', '2010-12-01 08:26:60+00']],
  ['timestamptz', 'string', ['2010-12-01 08-26:00+00', '2010-12-01 08:26-00+00', '2010-12-01 08:26:00-00']],
  ['timestamptz', 'string', ['2010-12-01 x8:26:00+00', '2010-12-01 08:2x:00+00', '2010-12-01 08:26:x0+00']],
  ['timestamptz', 'string', ['2010-12-01 08:26:00+10', '2010-12-01 08:26:00+01', '2010-12-01 08:26:00+00:30']],
  ['timestamptz', 'string', ['2010-12-01 08:26:00.+00', '2010-12-01 08:26:00,5+00', '2010-12-01 08:26:00.5x+00']],
])('leaves to the steps what they refuse or write differently: %s to a %s: %j', (type, target, texts) => {
  const { copy } = copied(type, { types: [target], format: null }, [])!;
  for (const text of texts) expect([text, copy(text)]).toEqual([text, undefined]);
});

it('leaves an empty text between two instants to the steps', () => {
  const instant = '2010-12-01 08:26:00+00';
  const { copy } = pipelineOf('timestamptz', [], { types: ['string'], format: null }) as { copy: CopyValue };
  expect(copy(Buffer.from(instant + instant), instant.length, instant.length, new RecordTexts())).toBe(false);
});

it('writes short and long texts, in ASCII and beyond, as UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
      const bytes = Buffer.alloc(3 * text.length + 1, '#');
      const end = writeText(text, bytes, 1);
      expect(bytes.toString('utf8', 1, end)).toBe(text.toWellFormed());
      expect(bytes[0]).toBe('#'.charCodeAt(0));
    }),
  );
});

it('refuses a number that JSON cannot express, since null would delete the field', () => {
  for (const value of [NaN, Infinity, { a: [-Infinity] }])
    expect(() => writeValue(value, new RecordTexts())).toThrow('JSON cannot represent');
});

it('writes a text that needs no escape without JSON.stringify, which would scan and copy it again', () => {
  const stringify = vi.spyOn(JSON, 'stringify');
  onTestFinished(() => stringify.mockRestore());
  const json = new RecordTexts();
  writeValue('Zoë', json);
  expect(stringify).not.toHaveBeenCalled();
  expect(json.bytes.toString('utf8', 0, json.at)).toBe('"Zoë"');
});

it('tells a text with half a letter, for which the record has to be checked, from all other values', () => {
  for (const value of ['', 'Zoë', '"😀\n', 5, true, ['a']]) expect(writeValue(value, new RecordTexts())).toBe(true);
  for (const value of ['\ud800', ['a\udc00']]) expect(writeValue(value, new RecordTexts())).toBe(false);
});

it.each<[Exclude<JsonValue, null>, string]>([
  ['a', 'a'],
  ['Zoë 😀', 'Zoë 😀'],
  ['5', '5'],
  ['', ''],
  [5, '5'],
  [-5.5, '-5.5'],
  ['say "x"', ''],
  ['back\\slash', ''],
  [true, ''],
  [['a'], ''],
  [{ a: 1 }, ''],
])('reads back a value wherever it stands, and finds its text in the bytes: %j', (value, text) => {
  const json = new RecordTexts();
  json.write('"-5"');
  json.finish();
  json.write('{"\\\\":');
  const place = json.written;
  writeValue(value, json);
  expect(valueAt(place, json)).toEqual(value);
  expect(isEmptyTextAt(place, json)).toBe(value === '');
  const range = { from: -1, to: -1 };
  findTextRange(place, json, range);
  expect(range.from).toBeGreaterThanOrEqual(place);
  expect(json.bytes.toString('utf8', json.start + range.from, json.start + range.to)).toBe(text);
});
