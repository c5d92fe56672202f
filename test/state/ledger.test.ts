/** The ledger's promises, kept by PostgreSQL: who may send what, and how far a run is. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { recoverRange } from '../../activities/recover-range.js';
import type { UploadScope } from '../../activities/upload-batch.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { RecordList } from '../../src/domain/record-list.js';
import type { WaitingRecord } from '../../src/state/group-outcome.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, reading, claim, outcome, deliver } = the;

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof PartnerSyncError ? error.code : String(error)),
  );

it('claims a record once: what was accepted is not sent again, by this run or another', async () => {
  const [mine, other] = [await newRange(), await newRange()];
  await deliver(mine, [record('a', '1'), record('b', '1')]);

  const again = await claim(mine, [record('a', '1'), record('b', '2')]);
  expect(again.verdicts).toEqual(['accepted', undefined]);
  expect(again.batches.flatMap((b) => b.records.map((r) => r.externalId))).toEqual(['b']);
  expect((await claim(other, [record('a', '1')])).verdicts).toEqual(['unchanged']);
});

it('tells equal external ids of two tenants apart', async () => {
  const range = await newRange();
  await deliver(range, [record('a', '1', 'north')]);
  const { verdicts, batches } = await claim(range, [record('a', '1', 'south')]);
  expect(verdicts.some(Boolean)).toBe(false);
  expect(batches[0]).toMatchObject({ tenant: 'south' });
});

it('does not claim a record that another unfinished batch holds', async () => {
  const [mine, other] = [await newRange(), await newRange()];
  const first = await claim(mine, [record('a', '1')]);

  expect((await claim(other, [record('a', '2')])).verdicts).toEqual(['busy']);
  expect((await claim(other, [record('a', '1')])).verdicts).toEqual(['busy']);

  await the.ledger.checkpoint(mine, await outcome(first, [record('a', '1')], 'accepted'));
  expect((await claim(other, [record('a', '2')])).verdicts.some(Boolean)).toBe(false);
});

it('never claims what was read before what was claimed last', async () => {
  const [slow, quick] = [await newRange(), await newRange()];
  const early = await reading();
  await deliver(quick, [record('a', 'new')]);

  expect((await claim(slow, [record('a', 'old')], early)).verdicts).toEqual(['busy']);

  // Neither is a reading taken that overlaps with it.
  const before = await the.ledger.stamp();
  await deliver(quick, [record('a', 'newer')]);
  const overlapping = { before, after: await the.ledger.stamp() };
  expect((await claim(slow, [record('a', 'old')], overlapping)).verdicts).toEqual(['busy']);
  expect((await claim(slow, [record('a', 'newest')])).verdicts.some(Boolean)).toBe(false);
});

it('never claims what was read before the row was seen to be as the platform has it', async () => {
  const [first, slow, second] = [await newRange(), await newRange(), await newRange()];
  await deliver(first, [record('a', 'A'), record('b', 'A')]);
  // The row is B for a moment, in which it is read; then it is A again, and another run finds nothing to send.
  const early = await reading();
  expect((await claim(second, [record('a', 'A')])).verdicts).toEqual(['unchanged']);

  const claimed = await claim(slow, [record('a', 'B'), record('b', 'B')], early);

  expect(claimed.verdicts).toEqual(['busy', undefined]);
  expect((await claim(slow, [record('a', 'B')])).verdicts).toEqual([undefined]);
});

it('writes nothing for unchanged records while no other run reads the mapping', async () => {
  const [range, other] = [await newRange(), await newRange()];
  await deliver(range, [record('a', 'A')]);
  await the.ledger.runs.end(range.runId, 'complete');
  const version = () => the.database.query(`SELECT xmin::text, ctid::text FROM partner_sync.record_blocks`);
  const before = await version();

  for (const run of await the.ledger.runs.unended('shop'))
    if (run.id !== other.runId) await the.ledger.runs.end(run.id, 'failed');
  expect((await claim(other, [record('a', 'A')])).verdicts).toEqual(['unchanged']);

  expect(await version()).toEqual(before);
});

it('lets a record that failed be sent again, and knows nothing of its content then', async () => {
  const range = await newRange();
  const a = record('a', '1');
  for (const end of ['rejected', 'unclear'] as const) {
    const claimed = await claim(range, [a]);
    expect(claimed.verdicts.some(Boolean)).toBe(false);
    const { contentHash } = a;
    const records = [{ tenantId: the.tenantIds.get('north')!, externalId: 'a', contentHash, outcome: end }];
    await the.ledger.checkpoint(range, await outcome(claimed, [a], 'deadLettered', { records }));
    const keys = { tenantIds: [the.tenantIds.get('north')!], externalIds: ['a'] };
    expect((await the.ledger.receipts.hashes(the.mappingId, keys)).size).toBe(0);
  }
});

it('finds the receipt of a record behind one whose tenant it has never seen', async () => {
  const range = await newRange();
  await deliver(range, [record('b', '1', 'south')]);
  const keys = { tenantIds: [the.tenantIds.get('north')!, the.tenantIds.get('south')!], externalIds: ['a', 'b'] };
  expect([...(await the.ledger.receipts.hashes(the.mappingId, keys)).keys()]).toEqual([1]);
});

it('fences an attempt off that was superseded, whatever it tries to write', async () => {
  const zombie = await newRange();
  const claimed = await claim(zombie, [record('a', '1')]);
  const [batch] = claimed.batches;
  const successor = await the.ledger.ranges.take(zombie.id);

  expect(await codeOf(claim(zombie, [record('b', '1')]))).toBe('fenced_off');
  expect(await codeOf(the.ledger.checkpoint(zombie, await outcome(claimed, [record('a', '1')], 'accepted')))).toBe(
    'fenced_off',
  );
  expect(await codeOf(the.ledger.batches.renew(zombie, batch!))).toBe('fenced_off');
  expect(
    await codeOf(the.ledger.batches.split(zombie, batch!, [RecordList.of([record('a', '1')]), RecordList.of([])])),
  ).toBe('fenced_off');
  const [open] = await the.ledger.batches.leftBehind(successor);
  expect(await codeOf(the.ledger.batches.recover(zombie, open!, [], []))).toBe('fenced_off');
  expect(open).toMatchObject({ id: batch!.id, externalIds: ['a'], state: 'intended' });
});

it('finds what a run left behind that is over, fences its attempts off, and frees its records once', async () => {
  const dead = await newRange();
  const abandoned = await claim(dead, [record('a', '1')]);
  const [one, two] = [await newRange(), await newRange()];
  expect(await the.ledger.batches.leftBehind(one)).toEqual([]);

  await the.ledger.runs.end(dead.runId, 'failed');
  const [found] = await the.ledger.batches.leftBehind(one);
  expect(found!.id).toBe(abandoned.batches[0]!.id);
  expect(await codeOf(claim(dead, [record('b', '1')]))).toBe('fenced_off');

  const unclear = [
    { tenantId: found!.tenantId, externalId: 'a', contentHash: found!.contentHashes[0]!, outcome: 'unclear' as const },
  ];
  await the.ledger.batches.recover(one, found!, unclear, []);
  const taken = await claim(one, [record('a', '1')]);
  expect(taken.verdicts.some(Boolean)).toBe(false);
  // Another range of the successor found the same batch: by now the record is somebody else's.
  await the.ledger.batches.recover(two, found!, unclear, []);
  expect((await claim(two, [record('a', '1')])).verdicts).toEqual(['busy']);
});

it('waits for the platform to be through with a POST of unknown fate, before its records are free', async () => {
  const inDoubtDelay = 0.5;
  const dead = await newRange();
  await claim(dead, [record('a', '1')]);
  const range = await the.ledger.ranges.take(dead.id);
  const started = performance.now();

  // Half a delay until the POST may begin, half for its answer, and a whole one for the platform.
  const scope = {
    deps: { ledger: the.ledger },
    sync: { spec: { upload: { inDoubtDelay } } },
    range,
    signal: new AbortController().signal,
  };
  await recoverRange(scope as unknown as UploadScope);

  expect(performance.now() - started).toBeGreaterThan(2 * inDoubtDelay * 1000 - 200);
  expect((await claim(range, [record('a', '1')])).verdicts.some(Boolean)).toBe(false);
});

it('moves a position by a checkpoint only, and only for ranges that may', async () => {
  const range = await newRange();
  const backfill = await newRange(false);
  const rows = [record('a', '1')];
  const position = { cursor: '2020-01-01 00:00:00.000001+00', key: ['a'] };
  const claimed = await claim(range, rows);
  await the.ledger.batches.sent(claimed.batches[0]!, 'platform-1');
  expect(await the.ledger.ranges.position(the.mappingId)).toBeNull();

  await the.ledger.checkpoint(backfill, await outcome(null, [], 'accepted', { position }));
  expect(await the.ledger.ranges.position(the.mappingId)).toBeNull();
  expect((await the.ledger.ranges.take(backfill.id)).bounds.after).toEqual(position);

  await the.ledger.checkpoint(range, await outcome(claimed, rows, 'accepted', { position }));
  expect(await the.ledger.ranges.position(the.mappingId)).toMatchObject(position);
  expect((await the.ledger.ranges.take(range.id)).bounds.after).toEqual(position);
});

it('writes all of a checkpoint or nothing', async () => {
  const range = await newRange();
  const rows = [record('a', '1')];
  const claimed = await claim(range, rows);
  const broken = await outcome(claimed, rows, 'accepted', {
    position: { cursor: 'x', key: ['a'] },
    waiting: [
      {
        tenantId: 1,
        externalId: 'z',
        sourceKey: ['z'],
        reason: 'nonsense' as 'busy',
        batchId: null,
        contentHash: null,
        missing: [],
        expiresAt: null,
        dueIn: 1,
      },
    ],
  });
  expect(await codeOf(the.ledger.checkpoint(range, broken))).toBe('unexpected');
  expect(await the.ledger.ranges.position(the.mappingId)).toBeNull();
  expect((await claim(await newRange(), rows)).verdicts).toEqual(['busy']);
});

it('recovers a batch whatever its ids are, so that their rows are read again', async () => {
  const range = await newRange();
  const ids = ['a', '..', randomBytes(30_000).toString('hex'), 'b'];
  await claim(
    range,
    ids.map((id) => record(id, '1')),
  );
  const [open] = await the.ledger.batches.leftBehind(range);
  const outcomes = ids.map((externalId) => ({
    tenantId: the.tenantIds.get('north')!,
    externalId,
    contentHash: '00'.repeat(16),
    outcome: 'unclear' as const,
  }));
  await the.ledger.batches.recover(await the.ledger.ranges.take(range.id), open!, outcomes, [ids[2]!]);
  expect(await the.ledger.batches.leftBehind(range)).toEqual([]);
});

it('frees the records of a batch that the platform gave an id which no address can hold', async () => {
  const range = await newRange();
  const rows = [record('a', '1')];
  const claimed = await claim(range, rows);
  await the.ledger.batches.sent(claimed.batches[0]!, '..');
  const scope = {
    deps: { ledger: the.ledger },
    sync: { spec: { upload: { inDoubtDelay: 0 } } },
    range,
    signal: new AbortController().signal,
  };

  await recoverRange(scope as unknown as UploadScope);

  expect((await claim(range, rows)).verdicts.some(Boolean)).toBe(false);
});

it('keeps a waiting record whatever the platform calls the parents that it misses', async () => {
  const range = await newRange();
  const rows = [record('a', '1')];
  const wait: WaitingRecord = {
    tenantId: the.tenantIds.get('north')!,
    externalId: 'a',
    sourceKey: ['a'],
    reason: 'expired',
    batchId: null,
    contentHash: null,
    missing: ['p', 'p\u0000', '\ud83d', randomBytes(30_000).toString('hex')].map((externalId) => ({
      schemaName: 'parent',
      externalId,
    })),
    expiresAt: null,
    dueIn: -1,
  };
  await the.ledger.checkpoint(range, await outcome(null, rows, 'waiting', { waiting: [wait] }));
  const [due] = await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 1);
  expect(due!.missing).toEqual([{ schemaName: 'parent', externalId: 'p' }]);
});

it('says at once of a statement that it would be refused again', async () => {
  const range = await newRange();
  const rows = ['a', randomBytes(30_000).toString('hex')].map((id) => record(id, '1'));
  const claimed = await claim(range, rows);
  const written = the.ledger.checkpoint(range, await outcome(claimed, rows, 'accepted'));
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
  const range = await newRange();
  const rows = odd.map((id) => record(id, '1'));
  const claimed = await claim(range, rows);
  expect(claimed.verdicts.some(Boolean)).toBe(false);
  const [open] = await the.ledger.batches.leftBehind(range);
  expect(open!.externalIds).toEqual(odd);
  await the.ledger.checkpoint(range, await outcome(claimed, rows, 'accepted'));
  const again = await claim(range, rows);
  expect(again.verdicts.filter(Boolean).length).toBe(odd.length);

  const waits: WaitingRecord[] = odd.map((id) => ({
    tenantId: the.tenantIds.get('north')!,
    externalId: id,
    sourceKey: [id, id],
    reason: 'busy',
    batchId: null,
    contentHash: null,
    missing: [],
    expiresAt: null,
    dueIn: -1,
  }));
  await the.ledger.checkpoint(range, await outcome(null, rows, 'waiting', { waiting: waits }));
  const due = await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 100);
  expect(due.map((row) => row.sourceKey[1]).sort()).toEqual([...odd].sort());
});

it('says what is wrong with an id that PostgreSQL cannot hold, without quoting it', async () => {
  const range = await newRange();
  const ends = [record('canary\u0000', '1')];
  const waiting: WaitingRecord = {
    ...{ tenantId: the.tenantIds.get('north')!, externalId: 'canary\u0000', sourceKey: ['1'] },
    ...{ reason: 'busy', batchId: null, contentHash: null, missing: [], expiresAt: null, dueIn: 1 },
  };
  const written = the.ledger.checkpoint(range, await outcome(null, ends, 'waiting', { waiting: [waiting] }));
  const error = await written.catch((e: unknown) => e as Error);
  expect(error).toBeInstanceOf(PartnerSyncError);
  expect((error as Error).message).not.toContain('canary');
});
