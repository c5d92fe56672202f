/** A block is stored column by column, and returns the entries that were put in. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { areSameIds, joinIds, splitIds } from '../../src/ledger/record-index/joined-ids.js';
import {
  acceptedOf,
  columnsOf,
  concatenated,
  entriesBetween,
  type EntryColumns,
  type RecordEntry,
} from '../../src/ledger/record-index/entry-columns.js';
import { encodeBlock, StoredBlock } from '../../src/ledger/record-index/stored-block.js';
import { compareIds } from '../../src/ledger/record-key.js';

const entry: fc.Arbitrary<RecordEntry> = fc.record({
  externalId: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
  contentHash: fc.option(fc.stringMatching(/^[0-9a-f]{31}[1-9a-f]$/)),
  readSeq: fc.integer({ min: 1, max: 3 }),
  runId: fc.integer({ min: 1, max: 2 }),
});
const entries = fc
  .uniqueArray(entry, { selector: (e) => e.externalId, maxLength: 80 })
  .map((list) => list.toSorted((a, b) => compareIds(a.externalId, b.externalId)));

const stored = (columns: EntryColumns): StoredBlock =>
  new StoredBlock(7, encodeBlock({ low: '', until: null, columns }));

it('returns what was put in, as a whole, in parts and merged', () => {
  fc.assert(
    fc.property(entries, fc.nat(80), fc.nat(80), (list, a, b) => {
      const columns = columnsOf(list);
      const block = stored(columns);
      expect(block.entries).toEqual(list);
      expect([block.length, acceptedOf(block)]).toEqual([list.length, list.filter((e) => e.contentHash).length]);

      const [from, to] = [Math.min(a, b, list.length), Math.min(Math.max(a, b), list.length)];
      expect(stored(entriesBetween(columns, from, to)).entries).toEqual(list.slice(from, to));
      const parts = [entriesBetween(block, 0, from), entriesBetween(block, from, list.length)];
      expect(stored(concatenated(...parts)).entries).toEqual(list);
    }),
  );
});

it('contains exactly its own ids', () => {
  fc.assert(
    fc.property(entries, entries, (list, others) => {
      const ids = list.map((e) => e.externalId);
      const otherIds = others.map((e) => e.externalId);
      const block = stored(columnsOf(list));
      expect(block.hasExactly(ids)).toBe(true);
      expect(block.hasExactly(otherIds)).toBe(JSON.stringify(ids) === JSON.stringify(otherIds));
    }),
  );
  // The same text, and as many, but parted elsewhere.
  expect(areSameIds(joinIds(['1', '234']), joinIds(['12', '34']))).toBe(false);
  expect(splitIds(joinIds(['1', '2', '34']))).toEqual(['1', '2', '34']);
});
