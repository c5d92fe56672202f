/** Records are cut into batches of one tenant each, as large as the limits allow and no larger. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutBatches } from '../../src/delivery/upload/cut-batches.js';
import { recordOf, RecordList } from '../../src/records/record-list.js';

const ROOM = { batchSize: 100, batchBytes: 1_000_000 };
/** `{"resources":[]}`, the body of a batch around its records and the commas between them. */
const ENVELOPE = 16;

const listOf = (names: readonly string[], json = '{}'): RecordList =>
  RecordList.of(names.map((name) => recordOf(name[0]!, name, [name], json)));
const namesIn = (batches: readonly RecordList[]): string[][] => batches.map((batch) => [...batch.externalIds]);

it('keeps the records of each tenant together, in their order, and batches in the order of their first records', () => {
  const batches = cutBatches(listOf(['n1', 's1', 'n2', 's2', 'n3']), ROOM);
  expect(namesIn(batches)).toEqual([
    ['n1', 'n2', 'n3'],
    ['s1', 's2'],
  ]);
});

it('fills batches up to the greatest number of records', () => {
  const batches = cutBatches(listOf(['n1', 'n2', 's1', 'n3', 's2', 'n4', 'n5']), { ...ROOM, batchSize: 2 });
  expect(namesIn(batches)).toEqual([['n1', 'n2'], ['s1', 's2'], ['n3', 'n4'], ['n5']]);
});

it('fills batches up to the greatest number of bytes', () => {
  const records = listOf(['n1', 'n2', 'n3'], '"1234567"');
  const two = ENVELOPE + 2 * 10;
  expect(namesIn(cutBatches(records, { ...ROOM, batchBytes: two }))).toEqual([['n1', 'n2'], ['n3']]);
  expect(namesIn(cutBatches(records, { ...ROOM, batchBytes: two - 1 }))).toEqual([['n1'], ['n2'], ['n3']]);
});

it('gives a record that is larger than the limit a batch of its own', () => {
  expect(namesIn(cutBatches(listOf(['n1', 'n2']), { ...ROOM, batchBytes: 1 }))).toEqual([['n1'], ['n2']]);
});

it('gives no batch for no records', () => {
  expect(cutBatches(listOf([]), ROOM)).toEqual([]);
});

it('puts each record into one batch of its tenant, and two neighbouring batches of a tenant do not fit into one', () => {
  const names = fc.array(fc.tuple(fc.constantFrom('n', 's', 'e'), fc.nat(40)), { maxLength: 40 });
  fc.assert(
    fc.property(
      names,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 20, max: 200 }),
      (drawn, batchSize, batchBytes) => {
        const records = drawn.map(([tenant, length], i) =>
          recordOf(tenant, `${tenant}${i}`, [String(i)], JSON.stringify('x'.repeat(length))),
        );
        const batches = cutBatches(RecordList.of(records), { batchSize, batchBytes });
        expect(batches.flatMap((batch) => [...batch.externalIds]).toSorted()).toEqual(
          records.map(({ externalId }) => externalId).toSorted(),
        );
        const jsonsOf = (batch: RecordList): string[] => [...batch].map(({ json }) => json);
        const sizeOf = (jsons: readonly string[]): number =>
          ENVELOPE + jsons.reduce((sum, json) => sum + json.length + 1, 0);
        for (const batch of batches) {
          expect(new Set([...batch].map(({ tenant }) => tenant)).size).toBe(1);
          expect(batch.length).toBeLessThanOrEqual(batchSize);
          if (batch.length > 1) expect(sizeOf(jsonsOf(batch))).toBeLessThanOrEqual(batchBytes);
        }
        for (const tenant of ['n', 's', 'e']) {
          const own = batches.filter((batch) => batch.tenantAt(0) === tenant);
          for (const [i, batch] of own.slice(1).entries()) {
            const joined = [...jsonsOf(own[i]!), jsonsOf(batch)[0]!];
            expect(joined.length > batchSize || sizeOf(joined) > batchBytes).toBe(true);
          }
        }
      },
    ),
  );
});
