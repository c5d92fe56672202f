/** A block is kept column by column; whoever looks at its entries sees what was put into them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { areSameIds, joinIds, splitIds } from '../../src/state/joined-ids.js';
import {
  acceptedOf,
  columnsOf,
  concatenated,
  encodeBlock,
  sliceOf,
  StoredBlock,
  type EntryColumns,
  type RecordEntry,
} from '../../src/state/record-block.js';
import { compareIds } from '../../src/state/record-key.js';

const entry: fc.Arbitrary<RecordEntry> = fc.record({
  externalId: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
  contentHash: fc.option(fc.stringMatching(/^[0-9a-f]{31}[1-9a-f]$/)),
  readStamp: fc.integer({ min: 1, max: 3 }),
  runId: fc.integer({ min: 1, max: 2 }),
});
const entries = fc
  .uniqueArray(entry, { selector: (e) => e.externalId, maxLength: 80 })
  .map((list) => list.toSorted((a, b) => compareIds(a.externalId, b.externalId)));

const stored = (columns: EntryColumns): StoredBlock =>
  new StoredBlock(7, encodeBlock({ low: '', until: null, columns }));

it('gives back what was put in, whole, in parts and put together', () => {
  fc.assert(
    fc.property(entries, fc.nat(80), fc.nat(80), (list, a, b) => {
      const columns = columnsOf(list);
      const block = stored(columns);
      expect(block.entries).toEqual(list);
      expect([block.length, acceptedOf(block)]).toEqual([list.length, list.filter((e) => e.contentHash).length]);

      const [from, to] = [Math.min(a, b, list.length), Math.min(Math.max(a, b), list.length)];
      expect(stored(sliceOf(columns, from, to)).entries).toEqual(list.slice(from, to));
      const parts = [sliceOf(block, 0, from), sliceOf(block, from, list.length)];
      expect(stored(concatenated(...parts)).entries).toEqual(list);
    }),
  );
});

it('holds its own ids and no others', () => {
  fc.assert(
    fc.property(entries, entries, (list, others) => {
      const ids = list.map((e) => e.externalId);
      const otherIds = others.map((e) => e.externalId);
      const block = stored(columnsOf(list));
      expect(block.holds(ids)).toBe(true);
      expect(block.holds(otherIds)).toBe(JSON.stringify(ids) === JSON.stringify(otherIds));
    }),
  );
  // The same text, and as many, but parted elsewhere.
  expect(areSameIds(joinIds(['1', '234']), joinIds(['12', '34']))).toBe(false);
  expect(splitIds(joinIds(['1', '2', '34']))).toEqual(['1', '2', '34']);
});

it('reads the blocks of an earlier version, whose ids were a list', () => {
  const list: RecordEntry[] = [
    { externalId: '1', contentHash: 'a'.repeat(32), readStamp: 5, runId: 1 },
    { externalId: '23', contentHash: null, readStamp: 6, runId: 2 },
  ];
  const { hashes, sendings } = columnsOf(list);
  const earlier = { low: '', until: '9', ids: ['1', '23'], hashes: hashes.toString('base64'), sendings };

  const block = new StoredBlock(7, JSON.stringify(earlier));

  expect(block.entries).toEqual(list);
  expect([block.until, block.length, block.holds(['1', '23'])]).toEqual(['9', 2, true]);
});
