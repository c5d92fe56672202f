/** Copying bytes is a shortcut: it writes what the steps of a value would produce, or leaves the value to them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeJson } from '../../src/domain/values/json.js';
import { RecordTexts } from '../../src/records/record-texts.js';
import { writeText } from '../../src/records/text-column.js';
import { pipelineOf } from '../../src/mapping/compile/pipeline.js';
import { Rejection } from '../../src/mapping/encode/rejection.js';
import type { Target } from '../../src/mapping/definition/target.js';
import type { SourceType } from '../../src/domain/source/source.js';
import { writeValue } from '../../src/mapping/encode/write-value.js';
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
    copy: (text: string): string | undefined => {
      const bytes = Buffer.from(`>${text}<`);
      const json = new RecordTexts();
      return copy(bytes, 1, bytes.length - 1, json) ? json.bytes.toString('utf8', 0, json.at) : undefined;
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
  ['text', 'string', 'Zoë 😀', '"Zoë 😀"'],
  ['integer', 'string', '007', '"007"'],
  ['decimal', 'number', '-12.50', '-12.5'],
  ['decimal', 'integer', '5', '5'],
  ['boolean', 'boolean', 't', 'true'],
  ['integer', 'boolean', '0', 'false'],
  ['date', 'string', '2012-02-29', '"2012-02-29"'],
  ['timestamptz', 'string', '2000-02-29 08:26:00.120000+00', '"2000-02-29T08:26:00.12Z"'],
  ['timestamptz', 'string', '2010-12-01 08:26:00.000000+00', '"2010-12-01T08:26:00Z"'],
  ['timestamptz', 'string', '2010-12-01 08:26:00.123456+00', '"2010-12-01T08:26:00.123456Z"'],
])('copies %s to a %s: %s', (type, target, text, json) => {
  expect(copied(type, { types: [target], format: null }, [])!.copy(text)).toBe(json);
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
