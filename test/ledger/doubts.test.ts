/** What was sent without a response, and may still be applied: until that is over, only the same content passes. */
import { beforeEach, expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();

let partition: AcquiredPartition;
beforeEach(async () => {
  // Those of other mappings make a difference to how doubts are looked up.
  await the.database.query('DELETE FROM partner_sync.doubts');
  partition = await the.newPartition();
});

const doubt = (of: AcquiredPartition, { tenant, externalId, contentHash }: MappedRecord, seconds: number) =>
  the.ledger.batches.doubt(
    of,
    { tenantId: the.tenantIds.get(tenant)!, externalIds: [externalId], contentHashes: [contentHash] },
    seconds,
  );

/** A partition of another mapping. */
async function otherPartition(): Promise<AcquiredPartition> {
  await the.newMapping();
  return the.newPartition();
}

const skipped = async (of: AcquiredPartition, ...records: MappedRecord[]) => [
  ...(await the.claim(of, records)).skipReasons,
];

it('holds back other content of the record alone, in its tenant and its mapping', async () => {
  await doubt(partition, record('a', 'one'), 60);
  const other = await otherPartition();
  await doubt(other, record('c', 'one'), 60);

  const of = [record('a', 'two'), record('a', 'two', 'south'), record('b', 'two'), record('c', 'two')];
  expect(await skipped(partition, ...of)).toEqual(['contended', undefined, undefined, undefined]);
  expect(await skipped(partition, record('a', 'one'))).toEqual([undefined]);
  expect(await skipped(other, record('a', 'two'), record('c', 'two'))).toEqual([undefined, 'contended']);
});

it('holds back nothing once it is over, while another one is not', async () => {
  await doubt(partition, record('a', 'one'), 0);
  await doubt(partition, record('b', 'one'), 60);

  expect(await skipped(partition, record('a', 'two'), record('b', 'two'))).toEqual([undefined, 'contended']);
});

it('is removed by the next one of its mapping once it is over, and by none before', async () => {
  await doubt(partition, record('a', 'one'), 0);
  await doubt(partition, record('b', 'one'), 60);
  const other = await otherPartition();
  await doubt(other, record('c', 'one'), 0);
  await doubt(partition, record('d', 'one'), 60);

  const left = await the.database.query<{ ids: string[] }>(
    'SELECT external_ids AS ids FROM partner_sync.doubts WHERE mapping_id = ANY ($1)',
    [[partition.mappingId, other.mappingId]],
  );
  expect(left.flatMap(({ ids }) => ids).sort()).toEqual(['b', 'c', 'd']);
});
