/** A batch's body is made of its records' texts as they stand in memory: whatever is picked, each arrives whole. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/record.js';
import { joinTexts } from '../../src/domain/record-text.js';
import { RecordWriter, writtenRecord } from '../../src/mapping/written-record.js';

it('joins any choice of records, neighbours or not, short, wide or longer than a buffer, and mixes up none of them', () => {
  const long = fc.integer({ min: 60_000, max: 200_000 }).map((length) => 'é'.repeat(length));
  const text = fc.oneof(
    { weight: 20, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    { weight: 1, arbitrary: long },
  );
  const row = fc.record({
    ...{ text, chosen: fc.boolean(), alone: fc.boolean() },
    key: fc.array(fc.string(), { minLength: 1, maxLength: 2 }),
    deletion: fc.constantFrom(undefined, 'apply' as const),
  });
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const writer = new RecordWriter();
      const records = rows.map(({ text, key, deletion, alone }, i): MappedRecord => {
        const parts = [`tenant ${i}`, `id ${i}`, key, JSON.stringify(text), deletion] as const;
        return alone ? writtenRecord(...parts) : writer.write(...parts);
      });
      records.forEach((record, i) => {
        const { text, key, deletion } = rows[i]!;
        expect(record).toMatchObject({ tenant: `tenant ${i}`, externalId: `id ${i}`, json: JSON.stringify(text) });
        expect([record.sourceKey, record.deletion]).toEqual([key, deletion]);
        expect(record.contentHash).toBe(writtenRecord('', '', [], JSON.stringify(text)).contentHash);
      });
      const chosen = records.filter((_, i) => rows[i]!.chosen);
      const body = joinTexts('{"resources":[', chosen, ']}').toString('utf8');
      expect(JSON.parse(body)).toEqual({ resources: rows.filter((r) => r.chosen).map((r) => r.text) });
    }),
  );
});
