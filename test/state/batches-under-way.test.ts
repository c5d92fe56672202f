/** Batches on their way, their parts, and what becomes of them when their attempt is dead. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { RecordList } from '../../src/domain/record-list.js';
import type { MappedRecord } from '../../src/domain/record.js';
import type { OpenBatch } from '../../src/state/open-batches.js';
import type { RecordOutcome } from '../../src/state/record-outcomes.js';
import { ledgerForTests, record } from './ledger-for-tests.js';
import { newRangeOf } from './new-range.js';

const the = ledgerForTests();
const { newRange, reading, claim, outcome } = the;
const [a, b, c] = [record('a', '1'), record('b', '1'), record('c', '1')];

const outcomesOf = (batch: OpenBatch, end: RecordOutcome['outcome']): RecordOutcome[] =>
  batch.externalIds.map((externalId, i) => ({
    ...{ tenantId: batch.tenantId, externalId, contentHash: batch.contentHashes[i]!, outcome: end },
  }));

/** A batch of a run that ended without settling it, as a later run finds it. */
async function abandoned(records: readonly MappedRecord[]) {
  const dead = await newRange();
  const [batch] = (await claim(dead, records)).batches;
  await the.ledger.runs.end(dead.runId, 'failed');
  const successor = await newRange();
  const [left] = await the.ledger.batches.leftBehind(successor);
  return { batch: batch!, left: left!, successor };
}

it('does not claim a record of a batch that the platform has taken already', async () => {
  const [mine, other] = [await newRange(), await newRange()];
  const [batch] = (await claim(mine, [a])).batches;
  await the.ledger.batches.sent(batch!, 'platform-1');

  expect((await claim(other, [record('a', '2')])).verdicts).toEqual(['busy']);
});

it('does not open a batch again that was given up, when its dead attempt notes its id at last', async () => {
  const { batch, left, successor } = await abandoned([a]);
  await the.ledger.batches.recover(successor, left, outcomesOf(left, 'unclear'), []);

  await the.ledger.batches.sent(batch, 'platform-1');

  expect(await the.ledger.batches.leftBehind(successor)).toEqual([]);
  expect((await claim(await newRange(), [a])).verdicts).toEqual([undefined]);
});

it('knows of each of several batches what it was sent with', async () => {
  const range = await newRange();
  const cut = (all: RecordList) => [all.slice(0, 1), all.slice(1)];
  const read = { ...(await reading()), tenantIds: the.tenantIds };
  await the.ledger.claim(range, { ...read, records: RecordList.of([a, b, c]), cut });

  const open = await the.ledger.batches.leftBehind(range);

  expect(open.map((o) => [o.externalIds, o.contentHashes])).toEqual([
    [['a'], [a.contentHash]],
    [
      ['b', 'c'],
      [b.contentHash, c.contentHash],
    ],
  ]);
});

it('puts the parts of a batch in its place, read when it was read', async () => {
  const range = await newRange();
  const read = await reading();
  const [whole] = (await claim(range, [a, b, c], read)).batches;

  await the.ledger.batches.split(range, whole!, [RecordList.of([a, b]), RecordList.of([c])]);

  const open = await the.ledger.batches.leftBehind(range);
  expect(open.map((o) => [o.externalIds, o.contentHashes, o.readStamp, o.records])).toEqual([
    [['a', 'b'], [a.contentHash, b.contentHash], read.after, 2],
    [['c'], [c.contentHash], read.after, 1],
  ]);
});

it('leaves what a dead run left of another mapping to those who read that mapping', async () => {
  const { left } = await abandoned([a]);
  const another = await newRangeOf(the.ledger, await the.ledger.catalog.mappingId('shop', randomUUID()));

  expect(await the.ledger.batches.leftBehind(another)).toEqual([]);
  expect((await the.ledger.batches.leftBehind(await newRange())).map((o) => o.id)).toEqual([left.id]);
});

it('goes on following a recovered batch, though another range of the run found it as well', async () => {
  const { left, successor } = await abandoned([a, b]);
  await the.ledger.batches.recover(successor, left, [], ['a', 'b']);

  await the.ledger.batches.recover(await newRange(), left, outcomesOf(left, 'unclear'), []);

  expect((await the.ledger.batches.waitingOf(the.mappingId)).map((o) => o.externalIds)).toEqual([['a', 'b']]);
  expect(await the.ledger.batches.waitingOf(await the.ledger.catalog.mappingId('shop', randomUUID()))).toEqual([]);
  expect((await claim(await newRange(), [a])).verdicts).toEqual(['waiting']);
});

it("reads a row again that changed before its dead attempt's record was found held", async () => {
  const dead = await newRange();
  await claim(dead, [a]);
  await the.ledger.runs.end(dead.runId, 'failed');
  const successor = await newRange();
  // The row is read anew while the batch is still to be recovered.
  const changed = record('a', '2');
  expect((await claim(successor, [changed])).verdicts).toEqual(['busy']);
  const tenantId = the.tenantIds.get('north')!;
  const entry = { tenantId, externalId: 'a', sourceKey: ['a'], missing: [], expiresAt: null };
  const busy = { ...entry, reason: 'busy', batchId: null, contentHash: null, dueIn: 3600 } as const;
  await the.ledger.checkpoint(successor, await outcome(null, [changed], 'waiting', { waiting: [busy] }));
  const [left] = await the.ledger.batches.leftBehind(successor);
  await the.ledger.batches.recover(successor, left!, [], ['a']);

  const held = { kind: 'held', batchId: left!.id, seen: 1, ...(await reading()) } as const;
  await the.ledger.checkpoint(successor, await outcome(null, [a], 'accepted', { reading: held, settled: [left!.id] }));

  const due = await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 10);
  expect(due.map((row) => row.externalId)).toEqual(['a']);
});

it('counts a record that a dead attempt left held in no books: its row counts where it is read again', async () => {
  const { left, successor } = await abandoned([a]);
  await the.ledger.batches.recover(successor, left, [], ['a']);

  const held = { kind: 'held', batchId: left.id, seen: 1, ...(await reading()) } as const;
  await the.ledger.checkpoint(successor, await outcome(null, [a], 'accepted', { reading: held, settled: [left.id] }));

  const none = { read: 0, accepted: 0, unchanged: 0, waiting: 0, deadLettered: 0 };
  expect(await the.ledger.books.progress(successor.runId)).toMatchObject([none]);
  expect(await the.ledger.waiting.outlook(the.mappingId, successor.runId)).toMatchObject({ waiting: 0 });
});
