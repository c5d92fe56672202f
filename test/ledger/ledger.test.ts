/** What the ledger guarantees: which attempt may send which record, and how far a run has come. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { recoverPartition } from '../../src/delivery/upload/recover-partition.js';
import type { PartitionContext } from '../../src/delivery/partition-context.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { RecordList } from '../../src/records/record-list.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome, deliver } = the;

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof PartnerSyncError ? error.code : String(error)),
  );

it('claims a record once: an accepted version is not sent again, by this run or another', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  await deliver(mine, [record('a', '1'), record('b', '1')]);

  const again = await claim(mine, [record('a', '1'), record('b', '2')]);
  expect(again.skipReasons).toEqual(['delivered_in_this_run', undefined]);
  expect(again.batches.flatMap((b) => b.records.map((r) => r.externalId))).toEqual(['b']);
  expect((await claim(other, [record('a', '1')])).skipReasons).toEqual(['unchanged']);
});

it('distinguishes equal external ids of two tenants', async () => {
  const partition = await newPartition();
  await deliver(partition, [record('a', '1', 'north')]);
  const { skipReasons, batches } = await claim(partition, [record('a', '1', 'south')]);
  expect(skipReasons.some(Boolean)).toBe(false);
  expect(batches[0]).toMatchObject({ tenant: 'south' });
});

it('does not claim a record that is in another open batch', async () => {
  const [mine, other] = [await newPartition(), await newPartition()];
  const first = await claim(mine, [record('a', '1')]);

  expect((await claim(other, [record('a', '2')])).skipReasons).toEqual(['contended']);
  expect((await claim(other, [record('a', '1')])).skipReasons).toEqual(['contended']);

  await the.ledger.checkpoint(mine, await outcome(first, [record('a', '1')], 'accepted'));
  expect((await claim(other, [record('a', '2')])).skipReasons.some(Boolean)).toBe(false);
});

it('never claims a version that was read before the one claimed last', async () => {
  const [slow, quick] = [await newPartition(), await newPartition()];
  const early = await reading();
  await deliver(quick, [record('a', 'new')]);

  expect((await claim(slow, [record('a', 'old')], early)).skipReasons).toEqual(['contended']);

  // Nor is a record claimed whose reading overlaps with the one that was sent last.
  const readSeqStart = await the.ledger.nextReadSeq();
  await deliver(quick, [record('a', 'newer')]);
  const overlapping = { readSeqStart, readSeqEnd: await the.ledger.nextReadSeq() };
  expect((await claim(slow, [record('a', 'old')], overlapping)).skipReasons).toEqual(['contended']);
  expect((await claim(slow, [record('a', 'newest')])).skipReasons.some(Boolean)).toBe(false);
});

it('never claims a version that was read before the row was found to match the platform', async () => {
  const [first, slow, second] = [await newPartition(), await newPartition(), await newPartition()];
  await deliver(first, [record('a', 'A'), record('b', 'A')]);
  // The row is B for a moment, in which it is read; then it is A again, and another run finds nothing to send.
  const early = await reading();
  expect((await claim(second, [record('a', 'A')])).skipReasons).toEqual(['unchanged']);

  const claimed = await claim(slow, [record('a', 'B'), record('b', 'B')], early);

  expect(claimed.skipReasons).toEqual(['contended', undefined]);
  expect((await claim(slow, [record('a', 'B')])).skipReasons).toEqual([undefined]);
});

it('writes nothing for unchanged records while no other run reads the mapping', async () => {
  const [partition, other] = [await newPartition(), await newPartition()];
  await deliver(partition, [record('a', 'A')]);
  await the.ledger.runs.end(partition.runId, 'complete');
  const version = () => the.database.query(`SELECT xmin::text, ctid::text FROM partner_sync.record_blocks`);
  const before = await version();

  for (const run of await the.ledger.runs.notEnded('shop'))
    if (run.id !== other.runId) await the.ledger.runs.end(run.id, 'failed');
  expect((await claim(other, [record('a', 'A')])).skipReasons).toEqual(['unchanged']);

  expect(await version()).toEqual(before);
});

it('lets a record that failed be sent again, and keeps no accepted hash of it', async () => {
  const partition = await newPartition();
  const a = record('a', '1');
  for (const sentOutcome of ['rejected', 'unknown'] as const) {
    const claimed = await claim(partition, [a]);
    expect(claimed.skipReasons.some(Boolean)).toBe(false);
    const sent = [the.sent(a, sentOutcome)];
    await the.ledger.checkpoint(partition, await outcome(claimed, [a], 'deadLettered', { sent }));
    const keys = { tenantIds: [the.tenantIds.get('north')!], externalIds: ['a'] };
    expect((await the.ledger.acceptedHashes.hashes(the.mappingId, keys)).size).toBe(0);
  }
});

it('finds the accepted hash of a record that follows one of an unknown tenant', async () => {
  const partition = await newPartition();
  await deliver(partition, [record('b', '1', 'south')]);
  const keys = { tenantIds: [the.tenantIds.get('north')!, the.tenantIds.get('south')!], externalIds: ['a', 'b'] };
  expect([...(await the.ledger.acceptedHashes.hashes(the.mappingId, keys)).keys()]).toEqual([1]);
});

it('fences off a superseded attempt, whatever it tries to write', async () => {
  const zombie = await newPartition();
  const claimed = await claim(zombie, [record('a', '1')]);
  const [batch] = claimed.batches;
  const successor = await the.ledger.partitions.acquire(zombie.id);

  expect(await codeOf(claim(zombie, [record('b', '1')]))).toBe('fenced_off');
  expect(await codeOf(the.ledger.checkpoint(zombie, await outcome(claimed, [record('a', '1')], 'accepted')))).toBe(
    'fenced_off',
  );
  expect(await codeOf(the.ledger.batches.renew(zombie, batch!))).toBe('fenced_off');
  expect(
    await codeOf(the.ledger.batches.split(zombie, batch!, [RecordList.of([record('a', '1')]), RecordList.of([])])),
  ).toBe('fenced_off');
  const [open] = await the.ledger.batches.takeOverLeftBehind(successor);
  expect(
    await codeOf(the.ledger.batches.recover(zombie, open!, { outcomes: [], pending: [], dependencyWait: 0 })),
  ).toBe('fenced_off');
  expect(open).toMatchObject({ id: batch!.id, externalIds: ['a'], platformBatchId: null });
});

it('finds what a dead run left behind, fences off its attempts, and frees its records once', async () => {
  const dead = await newPartition();
  const abandoned = await claim(dead, [record('a', '1')]);
  const [one, two] = [await newPartition(), await newPartition()];
  expect(await the.ledger.batches.takeOverLeftBehind(one)).toEqual([]);

  await the.ledger.runs.end(dead.runId, 'failed');
  const [found] = await the.ledger.batches.takeOverLeftBehind(one);
  expect(found!.id).toBe(abandoned.batches[0]!.id);
  expect(await codeOf(claim(dead, [record('b', '1')]))).toBe('fenced_off');

  const unknown = [
    { tenantId: found!.tenantId, externalId: 'a', contentHash: found!.contentHashes[0]!, outcome: 'unknown' as const },
  ];
  await the.ledger.batches.recover(one, found!, { outcomes: unknown, pending: [], dependencyWait: 0 });
  const taken = await claim(one, [record('a', '1')]);
  expect(taken.skipReasons.some(Boolean)).toBe(false);
  // Another partition of the successor found the same batch, whose record has been claimed again by now.
  await the.ledger.batches.recover(two, found!, { outcomes: unknown, pending: [], dependencyWait: 0 });
  expect((await claim(two, [record('a', '1')])).skipReasons).toEqual(['contended']);
});

it('moves a position only by a checkpoint, and only for partitions that may move it', async () => {
  const partition = await newPartition();
  const backfill = await newPartition(false);
  const rows = [record('a', '1')];
  const position = { cursor: '2020-01-01 00:00:00.000001+00', key: ['a'] };
  const claimed = await claim(partition, rows);
  await the.ledger.batches.markSent(claimed.batches[0]!, 'platform-1');
  expect(await the.ledger.partitions.position(the.mappingId)).toBeNull();

  await the.ledger.checkpoint(backfill, await outcome(null, [], 'accepted', { position }));
  expect(await the.ledger.partitions.position(the.mappingId)).toBeNull();
  expect((await the.ledger.partitions.acquire(backfill.id)).work).toMatchObject({ bounds: { after: position } });

  await the.ledger.checkpoint(partition, await outcome(claimed, rows, 'accepted', { position }));
  expect(await the.ledger.partitions.position(the.mappingId)).toEqual({ cursor: position.cursor, reads: 'at' });
  expect((await the.ledger.partitions.acquire(partition.id)).work).toMatchObject({ bounds: { after: position } });
});

it('writes a checkpoint completely or not at all', async () => {
  const partition = await newPartition();
  const rows = [record('a', '1')];
  const claimed = await claim(partition, rows);
  const broken = await outcome(claimed, rows, 'accepted', {
    position: { cursor: 'x', key: ['a'] },
    waiting: [the.queued(record('z', '1'), { reason: 'nonsense' as 'contended' })],
  });
  expect(await codeOf(the.ledger.checkpoint(partition, broken))).toBe('unexpected');
  expect(await the.ledger.partitions.position(the.mappingId)).toBeNull();
  expect((await claim(await newPartition(), rows)).skipReasons).toEqual(['contended']);
});

it('recovers a batch whatever its external ids are, so that their rows are read again', async () => {
  const partition = await newPartition();
  const ids = ['a', '..', randomBytes(30_000).toString('hex'), 'b'];
  await claim(
    partition,
    ids.map((id) => record(id, '1')),
  );
  const [open] = await the.ledger.batches.takeOverLeftBehind(partition);
  const outcomes = ids.map((externalId) => ({
    tenantId: the.tenantIds.get('north')!,
    externalId,
    contentHash: '00'.repeat(16),
    outcome: 'unknown' as const,
  }));
  await the.ledger.batches.recover(await the.ledger.partitions.acquire(partition.id), open!, {
    outcomes,
    pending: [ids[2]!],
    dependencyWait: 0,
  });
  expect(await the.ledger.batches.takeOverLeftBehind(partition)).toEqual([]);
});

it('frees the records of a batch whose platform id cannot be part of an address', async () => {
  const partition = await newPartition();
  const rows = [record('a', '1')];
  const claimed = await claim(partition, rows);
  await the.ledger.batches.markSent(claimed.batches[0]!, '..');
  const scope = {
    deps: { ledger: the.ledger },
    sync: { spec: { upload: { inDoubtDelay: 0 } } },
    mapping: { spec: { options: {}, schema: { schema: {} } } },
    partition,
    signal: new AbortController().signal,
  };

  await recoverPartition(scope as unknown as PartitionContext);

  expect((await claim(partition, rows)).skipReasons.some(Boolean)).toBe(false);
});

it('keeps a waiting record whatever the platform calls its missing parents', async () => {
  const partition = await newPartition();
  const rows = [record('a', '1')];
  const wait = the.queued(rows[0]!, {
    reason: 'lacks_parent',
    missing: ['p', 'p\u0000', '\ud83d', randomBytes(30_000).toString('hex')].map((externalId) => ({
      schemaName: 'parent',
      externalId,
    })),
    dueIn: -1,
  });
  await the.ledger.checkpoint(partition, await outcome(null, rows, 'waiting', { waiting: [wait] }));
  const [due] = await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 1);
  expect(due!.missing).toEqual([{ schemaName: 'parent', externalId: 'p' }]);
});

it('distinguishes a statement that would be refused again from a database that cannot be reached', async () => {
  const partition = await newPartition();
  const rows = ['a', randomBytes(30_000).toString('hex')].map((id) => record(id, '1'));
  const claimed = await claim(partition, rows);
  const written = the.ledger.checkpoint(partition, await outcome(claimed, rows, 'accepted'));
  // 54000: program_limit_exceeded, an entry that is too long for an index.
  await expect(written).rejects.toMatchObject({
    code: 'state_refused',
    message: expect.stringContaining('54000') as string,
  });
});

it('keeps ids of any text', async () => {
  const odd = [
    `'`,
    '"',
    '\\',
    '{}',
    '{"a",b}',
    'NULL',
    'null',
    ',',
    ' ',
    '$1',
    '?',
    '??',
    ':name',
    'ä😀',
    '\u202E',
    'x'.repeat(2000),
    '\t\n',
  ];
  const partition = await newPartition();
  const rows = odd.map((id) => record(id, '1'));
  const claimed = await claim(partition, rows);
  expect(claimed.skipReasons.some(Boolean)).toBe(false);
  const [open] = await the.ledger.batches.takeOverLeftBehind(partition);
  expect(open!.externalIds).toEqual(odd);
  await the.ledger.checkpoint(partition, await outcome(claimed, rows, 'accepted'));
  const again = await claim(partition, rows);
  expect(again.skipReasons.filter(Boolean).length).toBe(odd.length);

  const waits = rows.map((r) => the.queued(r, { sourceKey: [r.externalId, r.externalId], dueIn: -1 }));
  await the.ledger.checkpoint(partition, await outcome(null, rows, 'waiting', { waiting: waits }));
  const due = await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 100);
  expect(due.map((row) => row.sourceKey[1]).sort()).toEqual([...odd].sort());
});

it('does not quote an id that PostgreSQL cannot store', async () => {
  const partition = await newPartition();
  const rowOutcomes = [record('canary\u0000', '1')];
  const waiting = rowOutcomes.map((r) => the.queued(r, { sourceKey: ['1'] }));
  const written = the.ledger.checkpoint(partition, await outcome(null, rowOutcomes, 'waiting', { waiting }));
  const error = await written.catch((e: unknown) => e as Error);
  expect(error).toBeInstanceOf(PartnerSyncError);
  expect((error as Error).message).not.toContain('canary');
});
