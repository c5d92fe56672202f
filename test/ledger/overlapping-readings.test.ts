/** Readings of the same rows by several runs: the newest is not lost, and each row is counted once. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { recordOf } from '../../src/records/record-list.js';
import { ledgerForTests, record, type Read } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome } = the;
const [a, b] = [record('a', '1'), record('b', '1')];
const changed = record('a', '2');

/** Writes that the record was in flight in another batch, and that its row is to be read again in `dueIn` seconds. */
async function queueAsContended(
  partition: AcquiredPartition,
  r: MappedRecord,
  read: Read,
  dueIn = 3600,
): Promise<void> {
  const parts = { readSeqs: read, waiting: [the.queued(r, { dueIn })] };
  await the.ledger.checkpoint(partition, await outcome(null, [r], 'waiting', parts));
}
const counts = async (partition: AcquiredPartition): Promise<object | undefined> =>
  (
    await the.database.query(
      `SELECT read::int, accepted::int, unchanged::int, waiting::int FROM partner_sync.partition_counts WHERE partition_id = $1`,
      [partition.id],
    )
  )[0];

it('does not lose a newer reading to the outcome of an older one', async () => {
  const [slow, quick] = [await newPartition(), await newPartition()];
  const early = await reading();
  const claimed = await claim(slow, [a], early);
  const late = await reading();
  expect((await claim(quick, [changed], late)).skipReasons).toEqual(['contended']);
  await queueAsContended(quick, changed, late);

  await the.ledger.checkpoint(slow, await outcome(claimed, [a], 'accepted', { readSeqs: early }));

  expect(await the.ledger.waiting.backlog(the.mappingId, quick.runId)).toMatchObject({ waiting: 1 });
  expect(await counts(quick)).toEqual({ read: 1, accepted: 0, unchanged: 0, waiting: 1 });
});

it('does not lose the newest of three readings, even if an older one is stored after it', async () => {
  const [oldest, sent, newest] = [await newPartition(), await newPartition(), await newPartition()];
  const [first, second, third] = [await reading(), await reading(), await reading()];
  const claimed = await claim(sent, [a], second);
  expect((await claim(newest, [changed], third)).skipReasons).toEqual(['contended']);
  expect((await claim(oldest, [record('a', '0')], first)).skipReasons).toEqual(['contended']);
  await queueAsContended(newest, changed, third);
  await queueAsContended(oldest, record('a', '0'), first);

  await the.ledger.checkpoint(sent, await outcome(claimed, [a], 'accepted', { readSeqs: second }));

  expect(await the.ledger.waiting.backlog(the.mappingId, newest.runId)).toMatchObject({ waiting: 1 });
});

it('does not send what was read before the row of a record that was never sent was found marked as deleted', async () => {
  const [slow, quick] = [await newPartition(), await newPartition()];
  const early = await reading();
  const mark = recordOf('north', 'a', ['a'], '{"id":"a","status":"gone"}', 'apply');
  expect((await claim(quick, [mark])).skipReasons).toEqual(['unchanged']);

  expect((await claim(slow, [a], early)).skipReasons).toEqual(['contended']);
  expect((await claim(slow, [a])).skipReasons).toEqual([undefined]);
});

it('counts a waiting row for the run that read it last', async () => {
  const [before, after] = [await newPartition(), await newPartition()];
  await queueAsContended(before, a, await reading());
  await queueAsContended(after, a, await reading());
  expect(await counts(before)).toEqual({ read: 1, accepted: 0, unchanged: 1, waiting: 0 });
  expect(await counts(after)).toEqual({ read: 1, accepted: 0, unchanged: 0, waiting: 1 });

  const again = { kind: 'retry' } as const;
  await the.ledger.checkpoint(before, await outcome(await claim(before, [a]), [a], 'accepted', again));

  expect(await counts(before)).toEqual({ read: 1, accepted: 0, unchanged: 1, waiting: 0 });
  expect(await counts(after)).toEqual({ read: 1, accepted: 1, unchanged: 0, waiting: 0 });
});

it('counts a row that was read twice in one chunk twice as read, and once as unchanged', async () => {
  const partition = await newPartition();
  await the.ledger.checkpoint(
    partition,
    await outcome(await claim(partition, [a]), [a], 'accepted', { rowsReadTwice: 1 }),
  );
  expect(await counts(partition)).toEqual({ read: 2, accepted: 1, unchanged: 1, waiting: 0 });
});

it('leaves a partition done when its waiting records are read again', async () => {
  const partition = await newPartition();
  await the.ledger.partitions.finish(partition);

  const again = { kind: 'retry' } as const;
  await the.ledger.checkpoint(partition, await outcome(await claim(partition, [a]), [a], 'accepted', again));

  expect((await the.ledger.partitions.acquire(partition.id)).done).toBe(true);
});

it('waits at the end of a run for records that are due within seconds, not for those due hours later', async () => {
  const partition = await newPartition();
  await queueAsContended(partition, a, await reading(), 20);
  await queueAsContended(partition, b, await reading(), 3600);

  expect(await the.ledger.waiting.backlog(the.mappingId, partition.runId)).toMatchObject({
    waiting: 2,
    pending: 0,
    dueSoon: 1,
  });
});

it('lets no early reading for small tenants overwrite what a later one in order found unchanged', async () => {
  const before = await newPartition();
  await the.deliver(before, [a]);
  await the.ledger.runs.end(before.runId, 'complete');
  const inOrder = await newPartition();
  const { id } = await the.ledger.partitions.forSmallTenants(inOrder.runId, the.mappingId);
  const round = await the.ledger.partitions.acquire(id);
  // The row changes and changes back; the round reads it in between.
  const early = await reading();
  expect((await claim(inOrder, [a])).skipReasons).toEqual(['unchanged']);
  expect((await claim(round, [changed], early)).skipReasons).toEqual(['contended']);
  await the.ledger.partitions.finish(round);
});

it('takes two chunks of one partition, which share a number, for readings one after the other', async () => {
  const partition = await newPartition();
  const first = await reading();
  const second = { readSeqStart: first.readSeqEnd, readSeqEnd: await the.ledger.nextReadSeq() };
  const deadLetter = {
    ...{ tenantId: the.tenantIds.get('north')!, externalId: 'a', sourceKey: ['a'], code: 'record_invalid' as const },
    ...{ pointer: '', rule: '', reason: '', shape: '' },
  };
  await the.ledger.checkpoint(
    partition,
    await outcome(null, [], 'deadLettered', { readSeqs: first, deadLetters: [deadLetter] }),
  );
  await queueAsContended(partition, b, first);
  const c = record('c', '1');
  const sent = await outcome(await claim(partition, [c], first), [c], 'accepted', { readSeqs: first });
  await the.ledger.checkpoint(partition, sent);

  const rows = [a, b, record('c', '2')];
  const claimed = await claim(partition, rows, second);
  expect(claimed.skipReasons).toEqual([undefined, undefined, undefined]);
  await the.ledger.checkpoint(partition, await outcome(claimed, rows, 'accepted', { readSeqs: second }));

  expect(await the.ledger.deadLetters.ofRecord(the.mappingId, 'a')).toEqual([]);
  expect(await the.ledger.waiting.any(the.mappingId)).toBe(false);
});
