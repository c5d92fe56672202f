/** A year of runs, one a minute: the ledger stays below the size that docs/retention.md states. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { COUNT_BOUND } from '../../src/domain/values/quantity.js';
import { DEFAULT_RETENTION } from '../../src/domain/sync/retention.js';
import { startPostgres, type EmbeddedPostgres } from '../../src/embedded/postgres-server.js';
import { openLedger, type Ledger } from '../../src/ledger/ledger.js';
import { inCampaign } from '../campaign.js';
import { readPage } from '../docs/pages.js';
import { POSTGRES_PROGRAM } from '../postgres-program.js';
import { createDatabase, type Database } from '../pipeline/shop.js';

/**
 * A server of its own, and no autovacuum, so that the size depends on nothing else. Before PostgreSQL 16, a transaction that is open in
 * any database of the server keeps room in indexes from being used again: the tables took up to a sixth more.
 */
const SETTINGS = { fsync: 'off', autovacuum: 'off' };

let folder: string;
let server: EmbeddedPostgres;
let database: Database;
let ledger: Ledger;
beforeAll(async () => {
  folder = mkdtempSync(join(inject('runFolder'), 'year-'));
  chmodSync(folder, 0o755);
  const log = (): void => undefined;
  server = await startPostgres({ folder: join(folder, 'pg'), log, settings: SETTINGS, ...POSTGRES_PROGRAM });
  database = await createDatabase(server.url('postgres'));
  ledger = await openLedger(database.url);
});
afterAll(async () => {
  await ledger.close();
  await database.drop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** In an ordinary run each thirtieth minute only: the tables grow in proportion to the rows. */
const MINUTES = inCampaign(30, 1);
const RUNS_A_WEEK = (7 * 24 * 60) / MINUTES;
const WEEKS = 53;
const FIRST = Date.parse('2025-01-01T00:00:00Z');
const WEEK = 7 * 86_400_000;
const MIB = 1024 * 1024;

/** What the page promises for each mapping of a sync, in MiB. */
const stated = (): number =>
  Number(/stays below \*\*([\d,]+) MiB\*\*/.exec(readPage('docs/retention.md').text)![1]!.replace(',', ''));

/**
 * The runs of a week as an incremental run with a few new rows leaves them: a run with its report, the partition of the
 * overlap and that of the new rows, their counts, and a batch. Rows as wide as real ones, written in bulk.
 */
const A_WEEK = `
  WITH begun AS (
    INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger,
      started_by, started_at, ended_at, outcome, report)
    SELECT $1, 'sync', 'incremental', jsonb_build_object('sync', $1::text, 'mode', 'incremental'), md5(''),
      'sync-' || $1 || '-minutely-2025-01-01T00:00:00Z', md5(random()::text || clock_timestamp()::text)::uuid::text, 'schedule',
      'partner-sync/' || $1 || '/minutely', t, t + interval '5 seconds', 'complete', $3::json
    FROM generate_series($2::timestamptz, $2::timestamptz + interval '7 days' - interval '1 second', $4::interval) AS t
    RETURNING id, started_at
  ), parted AS (
    INSERT INTO partner_sync.partitions (run_id, mapping_id, kind, no, by_cursor, moves_position, reads, cursor_from,
      cursor_before, resume_cursor, resume_key, done, fencing_token, started_at, updated_at)
    SELECT id, $5, 'planned', no, true, no = 1, CASE no WHEN 1 THEN md5('') END, started_at::text, started_at::text, started_at::text, ARRAY[id::text],
      true, 1, started_at, started_at
    FROM begun, generate_series(0, 1) AS no RETURNING id, run_id, no, started_at
  ), counted AS (
    INSERT INTO partner_sync.partition_counts (partition_id, tenant_id, read, accepted, unchanged)
    SELECT id, $6, 3, 1, 2 FROM parted
  ), periods AS (
    INSERT INTO partner_sync.partition_periods (partition_id, begins_at, read, accepted, unchanged, waiting, dead_lettered,
      reading_ms, sending_ms, ledger_ms)
    SELECT id, started_at, 3, 1, 2, 0, 0, 12, 345, 6 FROM parted
  ), requests AS (
    INSERT INTO partner_sync.partition_requests (partition_id, begins_at, operation, status, requests, ms)
    SELECT id, started_at, operation, '2xx', 1, 123 FROM parted, unnest(ARRAY['uploadResources', 'getBatch']) AS operation
    WHERE no = 1
  )
  INSERT INTO partner_sync.batches (run_id, partition_id, mapping_id, tenant_id, state, platform_batch_id, records,
    read_seq, intended_at, sent_at, settled_at)
  SELECT run_id, id, $5, $6, 'settled', md5(random()::text || clock_timestamp()::text)::uuid::text, 1, run_id, started_at, started_at, started_at
  FROM parted WHERE no = 1`;

/** The tables as PostgreSQL keeps them, with indexes, TOAST and whatever room is free in them. */
const sizeOf = async (): Promise<number> => {
  const [sum] = await database.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
     WHERE relnamespace = 'partner_sync'::regnamespace AND relkind = 'r'`,
  );
  return sum!.bytes;
};

it(
  'stays below the stated size for a sync of one mapping that runs each minute for a year',
  async () => {
    const sync = randomUUID();
    const mappingId = await ledger.ids.mappingId(sync, 'customers');
    const tenant = (await ledger.ids.tenantIds(['north'])).get('north');
    const report = JSON.stringify(REPORT);
    const empty = await sizeOf();
    for (let week = 0; week < WEEKS; week++) {
      const begins = new Date(FIRST + week * WEEK);
      await database.query(A_WEEK, [sync, begins.toISOString(), report, `${MINUTES} minutes`, mappingId, tenant]);
      // The runs of the week have pruned; as autovacuum, VACUUM comes by now and then.
      const { done } = await ledger.retention.prune(sync, DEFAULT_RETENTION, {
        asOf: new Date(begins.getTime() + WEEK),
      });
      expect(done).toBe(true);
      if (week % 4 === 3) await database.query('VACUUM ANALYZE');
    }
    await database.query('VACUUM ANALYZE');

    const counts = await database.query<{ runs: number; partitions: number; batches: number }>(
      `SELECT (SELECT count(*)::float8 FROM partner_sync.runs) AS runs,
         (SELECT count(*)::float8 FROM partner_sync.partitions) AS partitions,
         (SELECT count(*)::float8 FROM partner_sync.batches) AS batches`,
    );
    const days = (n: number): number => Math.round((n * MINUTES) / (24 * 60));
    expect(counts.map(({ runs, partitions, batches }) => [days(runs), days(partitions / 2), days(batches)])).toEqual([
      [WEEKS * 7, 90, 14],
    ]);
    expect(RUNS_A_WEEK * WEEKS).toBe(counts[0]!.runs);
    const mebibytes = (((await sizeOf()) - empty) * MINUTES) / MIB;
    expect(mebibytes).toBeLessThan(stated());
    // The page does not promise much more than is needed either.
    expect(mebibytes).toBeGreaterThan(stated() / 3);
  },
  inCampaign(60_000, 900_000),
);

/** The runs of a week that fail while they read: each leaves its reason and a partition that is not done. */
const A_WEEK_OF_FAILURES = `
  WITH begun AS (
    INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger,
      started_by, started_at, ended_at, outcome, failure_code, failure_message)
    SELECT $1, 'sync', 'incremental', jsonb_build_object('sync', $1::text, 'mode', 'incremental'), md5(''),
      'sync-' || $1 || '-minutely-2025-01-01T00:00:00Z', md5(random()::text || clock_timestamp()::text)::uuid::text, 'schedule',
      'partner-sync/' || $1 || '/minutely', t, t + interval '5 seconds', 'failed', 'source_unavailable', $5
    FROM generate_series($2::timestamptz, $2::timestamptz + interval '7 days' - interval '1 second', $3::interval) AS t
    RETURNING id, started_at
  )
  INSERT INTO partner_sync.partitions (run_id, mapping_id, kind, no, by_cursor, moves_position, fencing_token, started_at, updated_at)
  SELECT id, $4, 'planned', 0, true, true, 1, started_at, started_at FROM begun`;

it(
  'keeps of a sync that fails each minute for a year what tells how often and since when, and no more',
  async () => {
    const sync = randomUUID();
    const mappingId = await ledger.ids.mappingId(sync, 'customers');
    const retention = { ...DEFAULT_RETENTION, runs: 30 * 86_400 };
    const success = new Date(FIRST - WEEK);
    await database.query(
      `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger,
         started_at, ended_at, outcome)
       VALUES ($1, 'sync', 'incremental', '{}', '', 'w', $1, 'other', $2, $2, 'complete')`,
      [sync, success.toISOString()],
    );
    for (let week = 0; week < WEEKS; week++) {
      const begins = new Date(FIRST + week * WEEK);
      const message = 'The database of the source cannot be reached: connection refused';
      await database.query(A_WEEK_OF_FAILURES, [sync, begins.toISOString(), `${MINUTES} minutes`, mappingId, message]);
      const { done } = await ledger.retention.prune(sync, retention, { asOf: new Date(begins.getTime() + WEEK) });
      expect(done).toBe(true);
    }
    const [state] = await ledger.syncStates.of(sync);
    expect(state).toMatchObject({
      lastSuccessAt: success,
      runsSinceSuccess: COUNT_BOUND,
      latest: { outcome: 'failed' },
    });
    expect(await ledger.runs.ofSchedule(`partner-sync/${sync}/minutely`)).toMatchObject({
      runsSinceSuccess: COUNT_BOUND,
    });
    const [kept] = await database.query<{ runs: number; partitions: number }>(
      `SELECT count(*)::int AS runs, (SELECT count(*)::int FROM partner_sync.partitions WHERE mapping_id = $2) AS partitions
       FROM partner_sync.runs WHERE sync = $1`,
      [sync, mappingId],
    );
    // The last success, and the first failure after it.
    expect(kept!.runs).toBe(2 + Math.max(COUNT_BOUND, (30 * 24 * 60) / MINUTES));
    expect((kept!.partitions * MINUTES) / (24 * 60)).toBeLessThan(91);
  },
  inCampaign(60_000, 900_000),
);

/** A report as a run of one mapping leaves it. */
const REPORT = {
  version: 1,
  run: '525600',
  sync: 'a sync of an ordinary name',
  kind: 'sync',
  mode: 'incremental',
  outcome: 'complete',
  startedAt: '2025-01-01T00:00:00.000Z',
  endedAt: '2025-01-01T00:00:05.000Z',
  mappings: [
    {
      mapping: 'customers',
      read: 6,
      accepted: 2,
      unchanged: 4,
      waiting: 0,
      deadLettered: 0,
      seconds: 0.612345,
      undelivered: { waiting: 0, deadLettered: 0 },
    },
  ],
  deadLetters: [],
  removals: [],
  total: { read: 6, accepted: 2, unchanged: 4, waiting: 0, deadLettered: 0 },
};
