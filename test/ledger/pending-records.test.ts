/** Pending records: whoever polls them and whatever is read meanwhile, none is lost or sent twice. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/record.js';
import type { Claimed } from '../../src/ledger/claims.js';
import type { CheckpointInput, Reading } from '../../src/ledger/checkpoint-input.js';
import type { AcquiredPartition } from '../../src/ledger/partitions.js';
import type { PendingRecord } from '../../src/ledger/waiting-record.js';
import { ledgerForTests, record, type Reading as ReadBetween } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome } = the;
const [a, b] = [record('a', '1'), record('b', '1')];
const changed = record('a', '2');

/** The platform holds all records of the claim's batch. */
async function notePending(
  partition: AcquiredPartition,
  claimed: Claimed,
  records: readonly MappedRecord[],
  read: ReadBetween,
  more: Partial<PendingRecord> = {},
): Promise<string> {
  const id = claimed.batches[0]!.id!;
  const waiting = records.map((r) => the.pending(r, id, more));
  const pending = [{ id, externalIds: records.map((r) => r.externalId) }];
  const first = { reading: { kind: 'scan', ...read } as const, settled: [], records: [] };
  await the.ledger.checkpoint(partition, await outcome(claimed, records, 'waiting', { ...first, pending, waiting }));
  return id;
}
/** Sends the records, of which the platform holds all. */
async function hold(partition: AcquiredPartition, records: readonly MappedRecord[]): Promise<string> {
  const read = await reading();
  return notePending(partition, await claim(partition, records, read), records, read);
}
/** Writes that the row was read, but its record was busy. */
async function noteBusy(partition: AcquiredPartition, r: MappedRecord, read: ReadBetween): Promise<void> {
  const first = { reading: { kind: 'scan', ...read } as const };
  await the.ledger.checkpoint(partition, await outcome(null, [r], 'waiting', { ...first, waiting: [the.queued(r)] }));
}

/** What a poll writes that has seen `seen` records of the batch without an outcome. */
async function poll(
  partition: AcquiredPartition,
  batchId: string,
  seen: number,
  more: Partial<CheckpointInput>,
): Promise<void> {
  const pending: Reading = { kind: 'poll', batchId, sentBy: partition.runId, seen, ...(await reading()) };
  await the.ledger.checkpoint(partition, await outcome(null, [], 'accepted', { reading: pending, ...more }));
}
const accepted = (r: MappedRecord): Pick<CheckpointInput, 'records' | 'rowOutcomes'> => {
  const of = { tenantId: the.tenantIds.get(r.tenant)!, externalId: r.externalId };
  return {
    records: [{ ...of, contentHash: r.contentHash, outcome: 'accepted' }],
    rowOutcomes: [{ ...of, sourceKey: r.sourceKey, outcome: 'accepted' }],
  };
};
const due = async (): Promise<string[]> =>
  (await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 10)).map((row) => row.externalId);
const counts = async (partition: AcquiredPartition): Promise<object | undefined> =>
  (
    await the.database.query(
      `SELECT read::int, accepted::int, unchanged::int, waiting::int FROM partner_sync.partition_counts WHERE partition_id = $1`,
      [partition.id],
    )
  )[0];

it('applies only the first of two polls of the same batch', async () => {
  const partition = await newPartition();
  const id = await hold(partition, [a, b]);
  const rest = { pending: [{ id, externalIds: ['b'] }] };
  await poll(partition, id, 2, { ...accepted(a), ...rest });
  expect((await the.ledger.batches.withPending(the.mappingId)).map((o) => o.externalIds)).toEqual([['b']]);

  // The other one could not make sense of the platform's answer, and would have both records sent again.
  const [ofA, ofB] = [accepted(a), accepted(b)].map(({ records, rowOutcomes }) => ({
    records: records.map((r) => ({ ...r, outcome: 'unknown' as const })),
    rowOutcomes,
  }));
  await poll(await newPartition(), id, 2, {
    records: [...ofA!.records, ...ofB!.records],
    rowOutcomes: [...ofA!.rowOutcomes, ...ofB!.rowOutcomes],
    settled: [id],
  });

  expect((await the.ledger.batches.withPending(the.mappingId)).map((o) => o.externalIds)).toEqual([['b']]);
  expect((await claim(partition, [a, b])).skipReasons).toEqual(['accepted', 'pending']);
});

it('does not read a record again while it is pending', async () => {
  const partition = await newPartition();
  await hold(partition, [a]);
  await the.database.query('UPDATE partner_sync.waiting SET due_at = now() WHERE mapping_id = $1', [the.mappingId]);

  expect(await due()).toEqual([]);
});

it('sends a record that waits for another reason while others of its mapping are pending', async () => {
  const partition = await newPartition();
  await hold(partition, [a]);
  await noteBusy(partition, b, await reading());

  expect((await claim(partition, [b])).skipReasons).toEqual([undefined]);
});

it.each([
  ['before', 'after'],
  ['after', 'before'],
])('delivers a row that changed while its record was sent, recorded %s it became pending', async (when) => {
  const [mine, other] = [await newPartition(), await newPartition()];
  const read = await reading();
  const claimed = await claim(mine, [a], read);
  const later = await reading();
  expect((await claim(other, [changed], later)).skipReasons).toEqual(['busy']);
  if (when === 'before') await noteBusy(other, changed, later);
  const id = await notePending(mine, claimed, [a], read);
  if (when === 'after') await noteBusy(other, changed, later);
  expect((await the.ledger.waiting.ofBatch(id)).map((row) => row.contentHash)).toEqual([a.contentHash]);

  await poll(mine, id, 1, { ...accepted(a), settled: [id] });

  expect(await due()).toEqual(['a']);
  expect((await claim(other, [changed])).skipReasons).toEqual([undefined]);
});

it('keeps the missing parents of a pending record whose row was read while it was sent', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  const read = await reading();
  const claimed = await claim(mine, [a], read);
  const later = await reading();
  expect((await claim(other, [changed], later)).skipReasons).toEqual(['busy']);
  const missing = [{ schemaName: 'customer', externalId: 'c1' }];
  const id = await notePending(mine, claimed, [a], read, { missing });

  await noteBusy(other, changed, later);

  expect(await the.ledger.waiting.ofBatch(id)).toMatchObject([{ missing }]);
});

it('does not send a pending record whose row has become a dead letter meanwhile', async () => {
  const partition = await newPartition();
  await hold(partition, [a]);
  await the.ledger.checkpoint(partition, await outcome(null, [a], 'deadLettered'));

  expect((await claim(partition, [changed])).skipReasons).toEqual(['pending']);
});

it('counts a row as unchanged if its record stopped being pending after the claim', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  const id = await hold(mine, [a]);
  expect((await claim(other, [a])).skipReasons).toEqual(['pending']);
  await poll(mine, id, 1, { ...accepted(a), settled: [id] });

  await the.ledger.checkpoint(other, await outcome(null, [a], 'waiting'));

  expect(await counts(other)).toEqual({ read: 1, accepted: 0, unchanged: 1, waiting: 0 });
  expect(await counts(mine)).toEqual({ read: 1, accepted: 1, unchanged: 0, waiting: 0 });
});

it('does not change the counts of a finished run when its pending record is accepted', async () => {
  const over = await newPartition();
  const id = await hold(over, [a]);
  await the.ledger.runs.end(over.runId, 'incomplete');

  await poll(await newPartition(), id, 1, { ...accepted(a), settled: [id] });

  expect(await counts(over)).toEqual({ read: 1, accepted: 0, unchanged: 0, waiting: 1 });
});

it('waits at the end of a run only for records that this run left pending and whose parents may still come', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  const id = await hold(mine, [a]);
  await hold(other, [b]);
  expect(await the.ledger.waiting.outlook(the.mappingId, mine.runId)).toMatchObject({ waiting: 2, pending: 1 });

  await the.ledger.waiting.setReason(id, 'parent_missing', ['a']);

  expect(await the.ledger.waiting.outlook(the.mappingId, mine.runId)).toMatchObject({ waiting: 2, pending: 0 });
  expect(await the.ledger.waiting.outlook(the.mappingId, other.runId)).toMatchObject({ waiting: 2, pending: 1 });
});
