/** A batch's body is joined from the texts of its records in memory: whichever are chosen, each is complete. */
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { RecordList, recordOf, Records } from '../../src/records/record-list.js';

it('joins any choice of records completely, whether adjacent or not, short, non-ASCII or longer than a buffer', () => {
  const long = fc.integer({ min: 60_000, max: 200_000 }).map((length) => 'é'.repeat(length));
  const text = fc.oneof(
    { weight: 20, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    { weight: 1, arbitrary: long },
  );
  const row = fc.record({
    text,
    chosen: fc.boolean(),
    key: fc.tuple(
      fc.string(),
      fc.string({ unit: 'binary' }).filter((part) => part.isWellFormed()),
    ),
    deletion: fc.constantFrom(undefined, 'apply' as const),
  });
  const used = new Records();
  fc.assert(
    fc.property(fc.array(row), fc.boolean(), (rows, anew) => {
      const records = anew ? new Records() : used;
      records.clear();
      for (const [i, { text, key, deletion }] of rows.entries())
        records.add(`tenant ${i}`, `id ${i}`, key, JSON.stringify(text), deletion);
      const list = new RecordList(records);
      // Hashes are made as they are asked for, in any order.
      const last = rows.length === 0 ? [] : [list.at(rows.length - 1).contentHash];
      const hashes = list.hashes.toString('hex').match(/.{32}/g) ?? [];
      expect(hashes.slice(-1)).toEqual(last);
      list.map((record, i) => {
        const { text, key, deletion } = rows[i]!;
        expect(record).toMatchObject({ tenant: `tenant ${i}`, externalId: `id ${i}`, json: JSON.stringify(text) });
        expect([record.sourceKey, record.deletion, record.contentHash]).toEqual([key, deletion, hashes[i]]);
        expect(recordOf('', '', [], JSON.stringify(text), deletion).contentHash).toBe(hashes[i]);
        expect(hashes[i]!.startsWith('00000000')).toBe(deletion === 'apply');
      });
      // In another thread, with the hashes and without.
      const sent = (hashed: boolean): RecordList =>
        RecordList.received(structuredClone(RecordList.of(list).post(hashed)));
      const arrived = sent(false);
      for (const copied of [arrived, sent(true)])
        copied.map((record, i) => {
          const { text, key, deletion } = rows[i]!;
          expect(record).toMatchObject({ tenant: `tenant ${i}`, externalId: `id ${i}`, json: JSON.stringify(text) });
          expect([record.sourceKey, record.deletion, record.contentHash]).toEqual([key, deletion, hashes[i]]);
        });
      const chosen = arrived.pick((index) => rows[index]!.chosen);
      const body = chosen.joined('{"resources":[', ']}').toString('utf8');
      expect(JSON.parse(body)).toEqual({ resources: rows.filter((r) => r.chosen).map((r) => r.text) });
    }),
  );
});

it('reuses its memory: a list that is filled again and again with the same records takes no more of it', () => {
  const allocate = vi.spyOn(Buffer, 'allocUnsafeSlow');
  onTestFinished(() => allocate.mockRestore());
  const records = new Records();
  const fill = (): void => {
    records.clear();
    // The long text needs a buffer of its own, and the short one begins another, smaller one.
    for (const text of ['é'.repeat(60_000), 'short'])
      records.add('tenant', 'id', ['key'], JSON.stringify(text), undefined);
  };
  for (let round = 0; round < 5; round++) fill();
  allocate.mockClear();
  for (let round = 0; round < 5; round++) fill();
  expect(allocate).not.toHaveBeenCalled();
});
