/** Pending records: whoever polls them and whatever is read meanwhile, none is lost or sent twice. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { Claimed } from '../../src/ledger/batches/claims.js';
import type { OpenBatch } from '../../src/ledger/batches/batches.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { PendingRecord, QueuedRecord, WaitingRow } from '../../src/ledger/waiting/index.js';
import { recordOf } from '../../src/records/record-list.js';
import { eventually } from '../pipeline/shop.js';
import { ledgerForTests, record, type Read } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome } = the;
const [a, b] = [record('a', '1'), record('b', '1')];
const changed = record('a', '2');

/** The platform holds all records of the claim's batch. */
async function notePending(
  partition: AcquiredPartition,
  claimed: Claimed,
  records: readonly MappedRecord[],
  read: Read,
  more: Partial<PendingRecord> = {},
): Promise<string> {
  const id = claimed.batches[0]!.id!;
  const waiting = records.map((r) => the.pending(r, id, more));
  const batches = [{ id, pending: records.map((r) => r.externalId) }];
  const parts = { readSeqs: read, sent: records.map((r) => the.sent(r, 'pending')), batches, waiting };
  await the.ledger.checkpoint(partition, await outcome(claimed, records, 'waiting', parts));
  return id;
}
/** Sends the records, of which the platform holds all. */
async function hold(partition: AcquiredPartition, records: readonly MappedRecord[]): Promise<string> {
  const read = await reading();
  const claimed = await claim(partition, records, read);
  await the.ledger.batches.markSent(claimed.batches[0]!, 'platform-1');
  return notePending(partition, claimed, records, read);
}
/** Sends the records, and dies: it is in doubt whether the platform keeps them. Returns the partition as the next attempt holds it. */
async function leaveInDoubt(records: readonly MappedRecord[]): Promise<AcquiredPartition> {
  const dead = await newPartition();
  await claim(dead, records);
  const successor = await the.ledger.partitions.acquire(dead.id);
  const [left] = await the.ledger.batches.takeOverLeftBehind(successor);
  await the.ledger.batches.recover(successor, left!, {
    outcomes: records.map((r) => the.sent(r, 'unknown')),
    pending: records.map((r) => r.externalId),
    dependencyWait: 3600,
  });
  return successor;
}
/** Writes that the row was read, but its record was contended. */
async function queueAsContended(partition: AcquiredPartition, r: MappedRecord, read: Read): Promise<void> {
  const parts = { readSeqs: read, waiting: [the.queued(r)] };
  await the.ledger.checkpoint(partition, await outcome(null, [r], 'waiting', parts));
}

const batchWithPending = async (): Promise<OpenBatch> => (await the.ledger.batches.withPending(the.mappingId))[0]!;

/** Polls the mapping's batch, and finds the record accepted. */
async function poll(partition: AcquiredPartition, accepted: MappedRecord): Promise<void> {
  await the.ledger.checkpoint(partition, the.polled(await batchWithPending(), [accepted]));
}
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
  await hold(partition, [a, b]);
  const batch = await batchWithPending();
  await the.ledger.checkpoint(partition, the.polled(batch, [a]));
  expect((await the.ledger.batches.withPending(the.mappingId)).map((o) => o.externalIds)).toEqual([['b']]);

  // The other one could not make sense of the platform's answer, and would have both records sent again.
  await the.ledger.checkpoint(await newPartition(), {
    kind: 'poll',
    batch,
    pending: [],
    result: {
      rowOutcomes: [a, b].map((r) => the.rowOutcome(r, 'accepted')),
      sent: [a, b].map((r) => the.sent(r, 'unknown')),
      waiting: [],
    },
  });

  expect((await the.ledger.batches.withPending(the.mappingId)).map((o) => o.externalIds)).toEqual([['b']]);
  expect((await claim(partition, [a, b])).skipReasons).toEqual(['delivered_in_this_run', 'pending']);
});

it('applies a poll to a record that another read moves into its own counts at the same moment', async () => {
  await hold(await newPartition(), [a]);
  const reader = await newPartition();
  const batch = await batchWithPending();
  const mover = await the.database.connect();
  try {
    await mover.query('BEGIN');
    // As a checkpoint does that counts the record as waiting (apply-outcomes.ts).
    await mover.query('UPDATE partner_sync.waiting SET partition_id = $1, counted = true WHERE mapping_id = $2', [
      reader.id,
      the.mappingId,
    ]);
    const polled = newPartition().then((partition) => the.ledger.checkpoint(partition, the.polled(batch, [a])));
    await eventually('the poll waits for the record', async () => {
      const waiting = await the.database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await mover.query('COMMIT');
    await polled;
  } finally {
    await mover.end();
  }

  expect(await the.ledger.waiting.any(the.mappingId)).toBe(false);
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
  await queueAsContended(partition, b, await reading());

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
  expect((await claim(other, [changed], later)).skipReasons).toEqual(['contended']);
  if (when === 'before') await queueAsContended(other, changed, later);
  const id = await notePending(mine, claimed, [a], read);
  if (when === 'after') await queueAsContended(other, changed, later);
  expect((await the.ledger.waiting.ofBatch(id)).map((row) => row.contentHash)).toEqual([a.contentHash]);

  await poll(mine, a);

  expect(await due()).toEqual(['a']);
  expect((await claim(other, [changed])).skipReasons).toEqual([undefined]);
});

it('keeps the missing parents of a pending record whose row was read while it was sent', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  const read = await reading();
  const claimed = await claim(mine, [a], read);
  const later = await reading();
  expect((await claim(other, [changed], later)).skipReasons).toEqual(['contended']);
  const missing = [{ schemaName: 'customer', externalId: 'c1' }];
  const id = await notePending(mine, claimed, [a], read, { missing });

  await queueAsContended(other, changed, later);

  expect(await the.ledger.waiting.ofBatch(id)).toMatchObject([{ missing }]);
});

it('does not send a pending record whose row has become a dead letter meanwhile', async () => {
  const partition = await newPartition();
  await hold(partition, [a]);
  await the.ledger.checkpoint(partition, await outcome(null, [a], 'deadLettered'));

  expect((await claim(partition, [changed])).skipReasons).toEqual(['pending']);
});

it('does not send newer content of a record that may be pending, although its row was a dead letter meanwhile', async () => {
  const successor = await leaveInDoubt([a]);

  // Nothing was sent with that outcome, so the platform may be keeping what it had before.
  await the.ledger.checkpoint(successor, await outcome(null, [a], 'deadLettered'));

  expect((await claim(successor, [changed])).skipReasons).toEqual(['pending']);
});

it('is read again if a poll that began before its row was read finds it dropped', async () => {
  const dead = await newPartition();
  const claimed = await claim(dead, [a]);
  await the.ledger.batches.markSent(claimed.batches[0]!, 'platform-1');
  const successor = await the.ledger.partitions.acquire(dead.id);
  const [left] = await the.ledger.batches.takeOverLeftBehind(successor);
  await the.ledger.batches.recover(successor, left!, { outcomes: [], pending: ['a'], dependencyWait: 0 });
  const polled = the.polled(await batchWithPending(), [a]);
  // The poll has seen the entry without a key, so it gives the row no outcome but that it is not awaited.
  const dropped = { ...polled, result: { ...polled.result, sent: [the.sent(a, 'unknown')], waiting: [] } };

  expect((await claim(successor, [a])).skipReasons).toEqual(['pending']);
  await the.ledger.checkpoint(successor, dropped as typeof polled);

  expect(await due()).toEqual(['a']);
});

it('is found by whoever looks for records while the platform keeps one that it never had before', async () => {
  const partition = await newPartition();
  const read = await reading();
  const claimed = await claim(partition, [a], read);
  await the.ledger.checkpoint(
    partition,
    await outcome(claimed, [a], 'waiting', {
      readSeqs: read,
      sent: [the.sent(a, 'pending')],
      batches: [{ id: claimed.batches[0]!.id!, pending: ['a'] }],
      waiting: [the.pending(a, claimed.batches[0]!.id!)],
    }),
  );
  const plan = await the.ledger.removals.open(partition.runId, the.mappingId, '{}');
  const scanned = await the.ledger.removals.scan(plan, 1);
  expect(scanned!.records).toMatchObject([{ externalId: 'a', contentHash: null }]);
});

it('counts a row as unchanged if its record stopped being pending after the claim', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  await hold(mine, [a]);
  expect((await claim(other, [a])).skipReasons).toEqual(['pending']);
  await poll(mine, a);

  await the.ledger.checkpoint(other, await outcome(null, [a], 'waiting'));

  expect(await counts(other)).toEqual({ read: 1, accepted: 0, unchanged: 1, waiting: 0 });
  expect(await counts(mine)).toEqual({ read: 1, accepted: 1, unchanged: 0, waiting: 0 });
});

it('does not change the counts of a finished run when its pending record is accepted', async () => {
  const over = await newPartition();
  await hold(over, [a]);
  await the.ledger.runs.end(over.runId, 'incomplete');

  await poll(await newPartition(), a);

  expect(await counts(over)).toEqual({ read: 1, accepted: 0, unchanged: 0, waiting: 1 });
});

it('waits at the end of a run only for records that this run left pending and whose parents may still come', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  const id = await hold(mine, [a]);
  await hold(other, [b]);
  expect(await the.ledger.waiting.backlog(the.mappingId, mine.runId)).toMatchObject({ waiting: 2, pending: 1 });

  await the.ledger.waiting.setReason(id, 'parent_missing', ['a']);

  expect(await the.ledger.waiting.backlog(the.mappingId, mine.runId)).toMatchObject({ waiting: 2, pending: 0 });
  expect(await the.ledger.waiting.backlog(the.mappingId, other.runId)).toMatchObject({ waiting: 2, pending: 1 });
});

it('counts a record as waiting no longer only once, even if two rows with its external id get an outcome', async () => {
  const partition = await newPartition();
  const read = await reading();
  const [one, other] = [record('r', '1'), record('s', '1')];
  const parts = { readSeqs: read, waiting: [the.queued(one), the.queued(other)] };
  await the.ledger.checkpoint(partition, await outcome(null, [one, other], 'waiting', parts));
  // The second row maps to the first record now: both rows of it become dead letters, and nothing is left of the second.
  const both = [one, recordOf('north', 'r', ['s'], '{}')];
  const rowOutcomes = [...both, other].map((r) => the.rowOutcome(r, 'deadLettered'));
  await the.ledger.checkpoint(partition, await outcome(null, [], 'deadLettered', { kind: 'retry', rowOutcomes }));
  expect(await counts(partition)).toEqual({ read: 2, accepted: 0, unchanged: 0, waiting: 0 });
});

it('counts as an attempt what was sent, not the decision to wait for parents', async () => {
  const partition = await newPartition();
  const queue = async (kind: 'counted' | 'retry', more: Partial<QueuedRecord>): Promise<void> => {
    const waiting = [the.queued(a, { reason: 'lacks_parent', dueIn: 0, ...more })];
    await the.ledger.checkpoint(partition, await outcome(null, [a], 'waiting', { kind, waiting }));
  };
  const entry = async (): Promise<object> => {
    const [{ tries, waits }] = (await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 10)) as [
      WaitingRow,
    ];
    return { tries, waits };
  };
  await queue('counted', {});
  for (let i = 0; i < 6; i++) await queue('retry', { isPostponed: true });
  expect(await entry()).toEqual({ tries: 0, waits: 6 });
  await queue('retry', {});
  expect(await entry()).toEqual({ tries: 1, waits: 0 });
});

it('does not send what was read before the row of a pending record was found as it was sent', async () => {
  const [sender, slow, quick] = [await newPartition(), await newPartition(), await newPartition()];
  await hold(sender, [a]);
  // The row changes and changes back; the slow reader reads it in between.
  const between = await reading();
  expect((await claim(quick, [a])).skipReasons).toEqual(['pending']);
  await poll(quick, a);

  expect((await claim(slow, [changed], between)).skipReasons).toEqual(['contended']);
  expect((await claim(slow, [changed])).skipReasons).toEqual([undefined]);
});

it('is read and sent again, whatever a reading finds that began before somebody read its newer content', async () => {
  const [sender, slow, quick] = [await newPartition(), await newPartition(), await newPartition()];
  await hold(sender, [a]);
  const early = await reading();
  expect((await claim(quick, [changed])).skipReasons).toEqual(['pending']);
  await poll(quick, a);
  expect(await due()).toEqual(['a']);

  await the.ledger.checkpoint(slow, await outcome(null, [a], 'unchanged', { readSeqs: early }));

  expect(await due()).toEqual(['a']);
});

it('is read and sent again, whatever such a reading finds, also if its newer content was read before it was pending', async () => {
  const [sender, slow, quick] = [await newPartition(), await newPartition(), await newPartition()];
  const sent = await reading();
  const claimed = await claim(sender, [a], sent);
  await the.ledger.batches.markSent(claimed.batches[0]!, 'platform-1');
  const early = await reading();
  const late = await reading();
  expect((await claim(quick, [changed], late)).skipReasons).toEqual(['contended']);
  await notePending(sender, claimed, [a], sent);
  await queueAsContended(quick, changed, late);
  await poll(quick, a);
  expect(await due()).toEqual(['a']);

  await the.ledger.checkpoint(slow, await outcome(null, [a], 'unchanged', { readSeqs: early }));

  expect(await due()).toEqual(['a']);
});

it('is in doubt as long as only other content is accepted, and stays pending if it is known to be kept', async () => {
  const successor = await leaveInDoubt([a]);
  await hold(await newPartition(), [b]);
  // What is sent ahead of its turn has no outcome of its own yet.
  const accept = async (...sent: MappedRecord[]): Promise<void> =>
    the.ledger.checkpoint(successor, {
      kind: 'early',
      readSeqs: await reading(),
      result: { sent: sent.map((r) => the.sent(r)), batches: [], waiting: [] },
      resumePoint: null,
    });

  await accept(changed, b);

  const next = async (r: MappedRecord) => (await claim(await newPartition(), [r])).skipReasons;
  expect(await next(record('a', '3'))).toEqual(['pending']);
  expect(await next(record('b', '3'))).toEqual(['pending']);
  await accept(a);
  expect(await next(record('a', '3'))).toEqual([undefined]);
});

it('is over once another copy of it is accepted, if it is in doubt whether the platform keeps it, and not if that is known', async () => {
  const successor = await leaveInDoubt([a]);
  await hold(await newPartition(), [b]);

  const read = await reading();
  const claimed = await claim(successor, [a], read);
  await the.ledger.checkpoint(successor, await outcome(claimed, [a, b], 'accepted', { readSeqs: read }));

  const newer = [changed, record('b', '2')];
  expect((await claim(await newPartition(), newer)).skipReasons).toEqual([undefined, 'pending']);
});

it('is not in doubt any more once a reading ahead of its turn has sent the same again', async () => {
  const rows = [a, b];
  const successor = await leaveInDoubt(rows);
  // Another run has read one of the rows meanwhile, and counts it as waiting.
  const newer = record('b', '2');
  const other = await newPartition();
  const read = await reading();
  expect((await claim(other, [newer], read)).skipReasons).toEqual(['pending']);
  await the.ledger.checkpoint(other, await outcome(null, [newer], 'waiting', { readSeqs: read }));

  const again = await reading();
  const claimed = await claim(successor, rows, again);
  expect(claimed.skipReasons).toEqual([undefined, undefined]);
  await the.ledger.checkpoint(successor, {
    kind: 'early',
    readSeqs: again,
    result: {
      sent: rows.map((r) => the.sent(r)),
      batches: claimed.batches.map(({ id }) => ({ id: id!, pending: [] })),
      waiting: [],
    },
    resumePoint: null,
  });

  // Full versions of the records need not wait until the platform would have dropped what it may be keeping.
  expect((await claim(successor, [changed, newer])).skipReasons).toEqual([undefined, undefined]);
  expect(await due()).toEqual(['b']);
  expect(await counts(other)).toMatchObject({ waiting: 1 });
});
