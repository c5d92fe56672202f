/** What the ledger keeps of a run over time: its periods, its requests, and the days of a sync. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { addCounts, NO_COUNTS } from '../../src/domain/run/run.js';
import type { Effort } from '../../src/domain/run/effort.js';
import type { RunHistory } from '../../src/domain/run/run-history.js';
import { periodOf } from '../../src/ledger/runs/periods.js';
import { ledgerForTests, record } from './ledger-for-tests.js';
import { newPartitionOf, newRun } from './new-partition.js';

const the = ledgerForTests();
const records = [record('a', '1'), record('b', '1'), record('c', '1')];
const [a, b, c] = records as [(typeof records)[0], (typeof records)[0], (typeof records)[0]];

const historyOf = async (run: string): Promise<RunHistory> => (await the.ledger.runHistories.of(run))!;
const sumOf = ({ periods }: RunHistory) => {
  const { read, accepted, unchanged, waiting, deadLettered } = periods.reduce(addCounts, NO_COUNTS);
  return { read, accepted, unchanged, waiting, deadLettered };
};
/** Lets the run have begun so many seconds earlier. */
const started = (run: string, seconds: number) =>
  the.database.query(`UPDATE partner_sync.runs SET started_at = started_at - $2 * interval '1 second' WHERE id = $1`, [
    run,
    seconds,
  ]);
const effort: Effort = {
  readingMs: 10.4,
  sendingMs: 200,
  ledgerMs: 5,
  requests: [
    { operation: 'uploadResources', status: '2xx', requests: 2, ms: 80 },
    { operation: 'uploadResources', status: '5xx', requests: 1, ms: 20.6 },
  ],
};

it('adds rows to the period in which they got their outcomes, and takes those that waited out of it later', async () => {
  const partition = await the.newPartition();
  const claimed = await the.claim(partition, [a, b, c]);
  const batch = claimed.batches[0]!.id!;
  await the.ledger.batches.markSent(claimed.batches[0]!, 'p1');
  await the.ledger.checkpoint(
    partition,
    await the.outcome(claimed, [a, b, c], 'waiting', {
      sent: [],
      batches: [{ id: batch, pending: ['a', 'b', 'c'] }],
      waiting: [a, b, c].map((r) => the.pending(r, batch)),
    }),
    effort,
  );
  await started(partition.runId, 61);
  const [open] = await the.ledger.batches.withPending(the.mappingId);
  await the.ledger.checkpoint(partition, the.polled(open!, [a, b]), effort);

  const history = await historyOf(partition.runId);
  expect(sumOf(history)).toEqual({ read: 3, accepted: 2, unchanged: 0, waiting: 1, deadLettered: 0 });
  expect(history).toMatchObject({ outcome: 'running', periodSeconds: 10, total: sumOf(history) });
  const [progress] = await the.ledger.counts.progress(partition.runId);
  expect(progress).toMatchObject(sumOf(history));
  expect(history.mappings[0]).toMatchObject({ readingMs: 20, sendingMs: 400, ledgerMs: 10 });
  const requests = history.requests.map(({ operation, status, requests, ms }) => [operation, status, requests, ms]);
  expect(requests.filter(([, status]) => status === '5xx').map(([, , n]) => n)).toContain(
    history.requests.length === 2 ? 2 : 1,
  );
});

it('adds up what several checkpoints bring to one period', async () => {
  const partition = await the.newPartition();
  // Periods of five minutes.
  await started(partition.runId, 86_400);
  const kinds = ['accepted', 'unchanged', 'waiting', 'deadLettered'] as const;
  for (const no of [1, 2])
    for (const kind of kinds) {
      const row = record(`${kind}-${no}`, '1');
      const waiting = kind === 'waiting' ? [the.queued(row)] : [];
      await the.ledger.checkpoint(partition, await the.outcome(null, [row], kind, { waiting }), effort);
    }

  const history = await historyOf(partition.runId);
  expect(sumOf(history)).toEqual({ read: 8, accepted: 2, unchanged: 2, waiting: 2, deadLettered: 2 });
  expect(history.mappings).toMatchObject([{ readingMs: 80, sendingMs: 1600, ledgerMs: 40 }]);
  const of = (wanted: string, what: 'requests' | 'ms') =>
    history.requests.filter(({ status }) => status === wanted).reduce((sum, request) => sum + request[what], 0);
  expect([of('2xx', 'requests'), of('2xx', 'ms')]).toEqual([16, 640]);
  expect([of('5xx', 'requests'), of('5xx', 'ms')]).toEqual([8, 168]);
});

it('writes nothing of a checkpoint that another attempt has fenced off, or that is written twice', async () => {
  const dead = await the.newPartition();
  const claimed = await the.claim(dead, [a]);
  const checkpoint = await the.outcome(claimed, [a], 'accepted');
  const successor = await the.ledger.partitions.acquire(dead.id);
  await expect(the.ledger.checkpoint(dead, checkpoint, effort)).rejects.toMatchObject({ code: 'fenced_off' });
  await expect(the.ledger.recordEffort(dead, effort)).rejects.toMatchObject({ code: 'fenced_off' });
  expect((await historyOf(dead.runId)).periods).toEqual([]);

  await the.ledger.recordEffort(successor, effort);
  const { periods, requests } = await historyOf(dead.runId);
  expect(periods).toMatchObject([{ read: 0, readingMs: 10 }]);
  expect(requests).toMatchObject([
    { operation: 'uploadResources', status: '2xx', requests: 2, ms: 80 },
    { operation: 'uploadResources', status: '5xx', requests: 1, ms: 21 },
  ]);
});

it('keeps longer periods the longer the run has lasted, so that a run of a week has some thousand at most', async () => {
  const partition = await the.newPartition();
  const kept: number[] = [];
  for (const lasted of [0, 30, 300, 7200, 86_400]) {
    await started(partition.runId, lasted);
    await the.ledger.recordEffort(partition, effort);
    const [latest] = await the.database.query<{ seconds: number }>(
      `SELECT extract(epoch FROM begins_at)::float8 AS seconds FROM partner_sync.partition_periods
       WHERE partition_id = $1 ORDER BY begins_at LIMIT 1`,
      [partition.id],
    );
    kept.push(latest!.seconds);
  }
  expect(kept[2]! % 10).toBe(0);
  expect(kept[3]! % 60).toBe(0);
  expect(kept[4]! % 300).toBe(0);
  // A day and two hours, in periods of 15 minutes.
  expect(await historyOf(partition.runId)).toMatchObject({ periodSeconds: 900 });
});

it('keeps periods on servers that lack date_bin, as PostgreSQL 12 and 13 do', async () => {
  await the.database.query(`DO $$ BEGIN
    ALTER FUNCTION pg_catalog.date_bin(interval, timestamptz, timestamptz) RENAME TO newer;
  EXCEPTION WHEN undefined_function THEN NULL; END $$`);
  const partition = await the.newPartition();
  await the.ledger.recordEffort(partition, effort);
  expect((await historyOf(partition.runId)).periods).toMatchObject([{ readingMs: 10, sendingMs: 200 }]);
});

it('begins periods at whole multiples of their length, also those of a time a microsecond before the next', async () => {
  const beginnings = async (time: string): Promise<string[]> =>
    Promise.all(
      [1, 10, 60, 300, 86_400].map(async (seconds) => {
        const sql = `SELECT (${periodOf(`timestamptz '${time}'`, String(seconds))} AT TIME ZONE 'UTC')::text AS begins`;
        return (await the.database.query<{ begins: string }>(sql))[0]!.begins;
      }),
    );
  expect(await beginnings('2026-03-29 02:07:59.999999+00')).toEqual([
    '2026-03-29 02:07:59',
    '2026-03-29 02:07:50',
    '2026-03-29 02:07:00',
    '2026-03-29 02:05:00',
    '2026-03-29 00:00:00',
  ]);
  expect(new Set(await beginnings('2026-03-29 00:00:00+00'))).toEqual(new Set(['2026-03-29 00:00:00']));
});

it('compares a run with those of its kind and mode before it, and counts each day of the sync', async () => {
  const sync = randomUUID();
  const mappingId = await the.ledger.ids.mappingId(sync, 'customers');
  const run = async (mode: string, outcome: 'complete' | 'failed' | null, code?: string): Promise<string> => {
    const id = await newRun(the.ledger, { sync, kind: 'sync', mode });
    const partition = await newPartitionOf(the.ledger, mappingId, true, id);
    await the.ledger.checkpoint(partition, await the.outcome(null, [record(randomUUID(), '1')], 'unchanged'));
    if (outcome !== null)
      await the.ledger.runs.end(id, outcome, code === undefined ? undefined : { code, message: 'why' });
    return id;
  };
  const first = await run('full', 'complete');
  await run('incremental', 'complete');
  const failed = await run('full', 'failed', 'source_unavailable');
  await run('full', 'failed', 'run_in_progress');
  const latest = await run('full', null);

  const { before, endedAt } = await historyOf(latest);
  expect(endedAt).toBe(null);
  expect(before.map(({ run, outcome, read }) => [run, outcome, read])).toEqual([
    [failed, 'failed', 1],
    [first, 'complete', 1],
  ]);
  const day = new Date().toISOString().slice(0, 10);
  const counted = await the.ledger.runHistories.days([sync], 30);
  // A test that runs at midnight has two days.
  expect(counted.every((each) => each.day <= day || each.sync === sync)).toBe(true);
  expect(counted.reduce((sum, { runs }) => sum + runs.complete, 0)).toBe(2);
  expect(counted.reduce((sum, { runs }) => sum + runs.failed, 0)).toBe(1);
  expect(counted.reduce((sum, { unchanged }) => sum + unchanged, 0)).toBe(3);
  // A second end of the same run changes nothing.
  await the.ledger.runs.end(first, 'failed');
  expect(await the.ledger.runHistories.days([sync], 30)).toEqual(counted);
});

it('reads the days of 100 syncs with three years of runs in a moment', async () => {
  await the.database.query(
    `INSERT INTO partner_sync.sync_days SELECT 'many-' || s, current_date - d, 1440, 3, 2, 1, 100000, 90000, 9000, 500, 500
     FROM generate_series(1, 100) AS s, generate_series(0, 1095) AS d`,
  );
  const plan = await the.database.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT * FROM partner_sync.sync_days WHERE sync = ANY (ARRAY['many-1', 'many-2']) AND day > current_date - 30`,
  );
  expect(JSON.stringify(plan)).toContain('Index');
  expect(await the.ledger.runHistories.days(['many-1', 'many-100'], 30)).toHaveLength(60);
});
