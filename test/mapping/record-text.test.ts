/** A batch's body is made of its records' texts as they stand in memory: whatever is picked, each arrives whole. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bytesOf, joinTexts, recordText, RecordTexts, type RecordText } from '../../src/domain/record-text.js';

const place = ({ buffer, start, end }: RecordText): RecordText => ({ buffer, start, end });

it('joins any choice of texts, neighbours or not, short, wide or longer than a buffer', () => {
  const long = fc.integer({ min: 60_000, max: 200_000 }).map((length) => 'é'.repeat(length));
  const text = fc.oneof(
    { weight: 20, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    { weight: 1, arbitrary: long },
  );
  fc.assert(
    fc.property(fc.array(fc.record({ text, chosen: fc.boolean(), alone: fc.boolean() })), (rows) => {
      const texts = new RecordTexts();
      const chosen: RecordText[] = [];
      for (const row of rows) {
        const json = JSON.stringify(row.text);
        if (!row.alone) texts.put(json);
        const written = row.alone ? recordText(json) : place(texts);
        expect(bytesOf(written).toString('utf8')).toBe(json);
        if (row.chosen) chosen.push(written);
      }
      const body = joinTexts('{"resources":[', chosen, ']}').toString('utf8');
      expect(JSON.parse(body)).toEqual({ resources: rows.filter((r) => r.chosen).map((r) => r.text) });
    }),
  );
});
