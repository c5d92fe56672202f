/** Open batches, their parts, and what happens to them after their attempt has died. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { RecordList } from '../../src/records/record-list.js';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { OpenBatch } from '../../src/ledger/batches/batches.js';
import type { SentRecord } from '../../src/ledger/outcomes/sent-records.js';
import { WAITING_LOCK } from '../../src/ledger/waiting/lock-entries.js';
import { eventually } from '../pipeline/shop.js';
import { ledgerForTests, record } from './ledger-for-tests.js';
import { newPartitionOf } from './new-partition.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome } = the;
/** Of each record that the ledger knows, the run that sent it: a mirror run looks for the rows of all others. */
const runsOfRecords = async (partition: AcquiredPartition): Promise<Record<string, number>> => {
  const plan = await the.ledger.removals.open(partition.runId, the.mappingId, '{}');
  const { records } = (await the.ledger.removals.scan(plan, 10))!;
  return Object.fromEntries(records.map(({ externalId, runId }) => [externalId, runId]));
};

const [a, b, c] = [record('a', '1'), record('b', '1'), record('c', '1')];

const outcomesOf = (batch: OpenBatch, outcome: SentRecord['outcome']): SentRecord[] =>
  batch.externalIds.map((externalId, i) => ({
    tenantId: batch.tenantId,
    externalId,
    contentHash: batch.contentHashes[i]!,
    outcome,
  }));

/** A batch of a run that ended without settling it, as a later run finds it. */
async function abandoned(records: readonly MappedRecord[]) {
  const dead = await newPartition();
  const [batch] = (await claim(dead, records)).batches;
  await the.ledger.runs.end(dead.runId, 'failed');
  const successor = await newPartition();
  const [left] = await the.ledger.batches.takeOverLeftBehind(successor);
  return { batch: batch!, left: left!, successor };
}

it('does not claim a record of a batch that the platform has already accepted', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  const [batch] = (await claim(mine, [a])).batches;
  await the.ledger.batches.markSent(batch!, 'platform-1');

  expect((await claim(other, [record('a', '2')])).skipReasons).toEqual(['contended']);
});

it("does not reopen a batch that was given up when its dead attempt stores the platform's id late", async () => {
  const { batch, left, successor } = await abandoned([a]);
  await the.ledger.batches.recover(successor, left, {
    outcomes: outcomesOf(left, 'unknown'),
    pending: [],
    dependencyWait: 0,
  });

  await the.ledger.batches.markSent(batch, 'platform-1');

  expect(await the.ledger.batches.takeOverLeftBehind(successor)).toEqual([]);
  expect((await claim(await newPartition(), [a])).skipReasons).toEqual([undefined]);
});

it('says whether another record may have been accepted since a batch was intended', async () => {
  const { ledger, mappingId } = the;
  const own = await ledger.ids.mappingId('shop', randomUUID());
  const intended = async (tenant: string): Promise<string[]> =>
    (await the.claim(await newPartitionOf(ledger, own), [record('child', '1', tenant)])).batches.map(({ id }) => id!);
  const isAcceptedSince = (batches: string[]) => ledger.batches.anyAcceptedSince(batches, [mappingId]);
  const partition = await newPartition();
  const [early, pending] = [await claim(partition, [a]), await claim(partition, [b, c])];
  await ledger.checkpoint(partition, await outcome(early, [a], 'accepted'));

  const children = [await intended('north'), await intended('south')].flat();
  expect(await isAcceptedSince(children)).toBe(false);

  // One of its records was accepted at a time that nobody has noted.
  const id = pending.batches[0]!.id!;
  const waiting = [the.pending(c, id)];
  const batches = [{ id, pending: ['c'] }];
  await ledger.checkpoint(partition, await outcome(pending, [b, c], 'accepted', { sent: [], batches, waiting }));
  expect(await isAcceptedSince([children[0]!])).toBe(true);
  expect(await isAcceptedSince([children[1]!])).toBe(false);

  const [open] = await ledger.batches.withPending(mappingId);
  await ledger.checkpoint(partition, the.polled(open!, [c]));
  expect(await isAcceptedSince([children[0]!])).toBe(true);
  expect(await isAcceptedSince(await intended('north'))).toBe(false);
});

it('keeps apart the contents of several batches', async () => {
  const partition = await newPartition();
  const cut = (all: RecordList) => [all.slice(0, 1), all.slice(1)];
  const read = { ...(await reading()), tenantIds: the.tenantIds };
  await the.ledger.claim(partition, { ...read, records: RecordList.of([a, b, c]), cut });

  const open = await the.ledger.batches.takeOverLeftBehind(partition);

  expect(open.map((o) => [o.externalIds, o.contentHashes])).toEqual([
    [['a'], [a.contentHash]],
    [
      ['b', 'c'],
      [b.contentHash, c.contentHash],
    ],
  ]);
});

it("replaces a batch by its parts, which have the batch's read sequence number", async () => {
  const partition = await newPartition();
  const read = await reading();
  const [whole] = (await claim(partition, [a, b, c], read)).batches;

  await the.ledger.batches.split(partition, whole!, [RecordList.of([a, b]), RecordList.of([c])]);

  const open = await the.ledger.batches.takeOverLeftBehind(partition);
  expect(open.map((o) => [o.externalIds, o.contentHashes, o.readSeq, o.records])).toEqual([
    [['a', 'b'], [a.contentHash, b.contentHash], read.readSeqEnd, 2],
    [['c'], [c.contentHash], read.readSeqEnd, 1],
  ]);
});

it('leaves a record to the run that sent it, whichever run recovers or polls its batch', async () => {
  const { left, successor } = await abandoned([a, b]);
  const accepted = outcomesOf(left, 'accepted');
  await the.ledger.batches.recover(successor, left, {
    outcomes: accepted.slice(0, 1),
    pending: ['b'],
    dependencyWait: 0,
  });
  expect(await runsOfRecords(successor)).toEqual({ a: Number(left.runId) });

  const [pending] = await the.ledger.batches.withPending(the.mappingId);
  await the.ledger.checkpoint(successor, the.polled(pending!, [b]));
  expect(await runsOfRecords(successor)).toEqual({ a: Number(left.runId), b: Number(left.runId) });
});

it('leaves the batches of a dead run to runs that read the same mapping', async () => {
  const { left } = await abandoned([a]);
  const another = await newPartitionOf(the.ledger, await the.ledger.ids.mappingId('shop', randomUUID()));

  expect(await the.ledger.batches.takeOverLeftBehind(another)).toEqual([]);
  expect((await the.ledger.batches.takeOverLeftBehind(await newPartition())).map((o) => o.id)).toEqual([left.id]);
});

it('writes no entry of a pending record beside a checkpoint that writes entries, whose counts would not notice it', async () => {
  const { left, successor } = await abandoned([a]);
  const checkpoint = await the.database.connect();
  await checkpoint.query('BEGIN');
  await checkpoint.query('SELECT pg_advisory_xact_lock($1, $2)', [WAITING_LOCK, the.mappingId]);
  let recovered = false;
  const recovery = the.ledger.batches
    .recover(successor, left, { outcomes: [], pending: ['a'], dependencyWait: 0 })
    .then(() => (recovered = true));
  await eventually('it waits for the lock', async () => {
    const waits = await the.database.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted`,
      [the.mappingId],
    );
    return recovered || waits.length > 0;
  });
  expect(recovered).toBe(false);
  await checkpoint.query('COMMIT');
  await checkpoint.end();
  await recovery;
  expect((await the.ledger.batches.withPending(the.mappingId)).map((o) => o.externalIds)).toEqual([['a']]);
});

it('continues polling a recovered batch, even if another partition of the run finds it too', async () => {
  const { batch, left, successor } = await abandoned([a, b]);
  await the.ledger.batches.markSent(batch, 'platform-1');
  await the.ledger.batches.recover(successor, left, { outcomes: [], pending: ['a', 'b'], dependencyWait: 0 });

  await the.ledger.batches.recover(await newPartition(), left, {
    outcomes: outcomesOf(left, 'unknown'),
    pending: [],
    dependencyWait: 0,
  });

  expect((await the.ledger.batches.withPending(the.mappingId)).map((o) => o.externalIds)).toEqual([['a', 'b']]);
  expect(await the.ledger.batches.withPending(await the.ledger.ids.mappingId('shop', randomUUID()))).toEqual([]);
  expect((await claim(await newPartition(), [a])).skipReasons).toEqual(['pending']);
});

it("reads a row again that changed before its dead attempt's record was found pending", async () => {
  const dead = await newPartition();
  await claim(dead, [a]);
  await the.ledger.runs.end(dead.runId, 'failed');
  const successor = await newPartition();
  // The row is read anew while the batch is still to be recovered.
  const changed = record('a', '2');
  expect((await claim(successor, [changed])).skipReasons).toEqual(['contended']);
  await the.ledger.checkpoint(successor, await outcome(null, [changed], 'waiting', { waiting: [the.queued(changed)] }));
  const [left] = await the.ledger.batches.takeOverLeftBehind(successor);
  await the.ledger.batches.recover(successor, left!, { outcomes: [], pending: ['a'], dependencyWait: 0 });

  const [pending] = await the.ledger.batches.withPending(the.mappingId);
  await the.ledger.checkpoint(successor, the.polled(pending!, [a]));

  const due = await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 10);
  expect(due.map((row) => row.externalId)).toEqual(['a']);
});

it('does not count a record that a dead attempt left pending, since its row is counted when it is read again', async () => {
  const { left, successor } = await abandoned([a]);
  await the.ledger.batches.recover(successor, left, { outcomes: [], pending: ['a'], dependencyWait: 0 });

  const [pending] = await the.ledger.batches.withPending(the.mappingId);
  await the.ledger.checkpoint(successor, the.polled(pending!, [a]));

  const none = { read: 0, accepted: 0, unchanged: 0, waiting: 0, deadLettered: 0 };
  expect(await the.ledger.counts.progress(successor.runId)).toMatchObject([none]);
  expect(await the.ledger.waiting.backlog(the.mappingId, successor.runId)).toMatchObject({ waiting: 0 });
});

it('writes nothing for an attempt that has outlived its run, even if it left no batch open', async () => {
  const frozen = await newPartition();
  await the.ledger.runs.end(frozen.runId, 'failed');

  await expect(claim(frozen, [a])).rejects.toMatchObject({ code: 'fenced_off' });
  await expect(the.ledger.checkpoint(frozen, await outcome(null, [], 'unchanged'))).rejects.toMatchObject({
    code: 'fenced_off',
  });
});
