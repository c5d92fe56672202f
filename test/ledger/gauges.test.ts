/** What the ledger tells metrics: right where numbers are small, bounded where they are large. */
import { expect, it } from 'vitest';
import type { LedgerMetric } from '../../src/domain/monitoring/metrics.js';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();

/** The values of a metric for the sync, by its other labels. */
async function read(metric: LedgerMetric, sync = 'shop'): Promise<Record<string, number>> {
  const samples = await the.ledger.gauges.read([sync]);
  return Object.fromEntries(
    samples
      .filter((sample) => sample.metric === metric)
      .map(({ labels: { sync: of, ...others }, value }) => {
        expect(of).toBe(sync);
        return [Object.values(others).join(' '), value];
      }),
  );
}

/** Inserts a run of the sync that ended so many seconds ago; null: it is still running. */
const run = (sync: string, endedAgo: number | null, outcome: string | null, kind = 'sync', mode = 'incremental') =>
  the.database.query(
    `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger,
       ended_at, outcome)
     VALUES ($1, $2, $3, '{}', 'v', 'w', md5(random()::text || clock_timestamp()::text)::uuid, 'other', now() - $4::int * interval '1 second', $5)`,
    [sync, kind, mode, endedAgo, outcome],
  );

const mappingName = async (): Promise<string> => {
  const [row] = await the.database.query<{ name: string }>('SELECT name FROM partner_sync.mappings WHERE id = $1', [
    the.mappingId,
  ]);
  return row!.name;
};

it('knows the latest success and outcome of runs, not of backfills, samples and other syncs', async () => {
  await run('fresh', 500, 'complete');
  await run('fresh', 400, 'complete_with_dead_letters');
  await run('fresh', 300, 'failed');
  await run('fresh', 200, 'complete', 'backfill');
  await run('fresh', 100, 'complete', 'sync', 'sample');
  await run('fresh', null, null);
  await run('another', 50, 'complete');
  await run('another', 10, 'failed');
  await the.database.query(
    `UPDATE partner_sync.runs SET failure_code = 'run_in_progress' WHERE sync = 'another' AND outcome = 'failed'`,
  );

  const success = (await read('last_success_timestamp_seconds', 'fresh'))['']!;
  expect(Date.now() / 1000 - success).toBeGreaterThanOrEqual(399);
  expect(Date.now() / 1000 - success).toBeLessThan(460);
  expect(await read('last_run', 'fresh')).toEqual({
    complete: 0,
    complete_with_dead_letters: 0,
    incomplete: 0,
    failed: 1,
  });
  // A run that was refused beside another one says nothing.
  expect(await read('last_run', 'another')).toMatchObject({ complete: 1, failed: 0 });
  expect(await read('last_run', 'unknown')).toEqual({});
});

it('stops counting after 10,000 waiting records and dead letters, but knows the oldest exactly', async () => {
  const name = await mappingName();
  const partition = await the.newPartition();
  await the.database.query(
    `INSERT INTO partner_sync.waiting (mapping_id, tenant_id, external_id, source_key, reason, partition_id, read_seq,
       counted, since)
     SELECT $1::int, (SELECT id FROM partner_sync.tenants WHERE platform_id = 'north'), i::text, ARRAY[i::text],
       CASE WHEN i > 200 THEN 'contended' ELSE 'lacks_parent' END, $2::bigint, 1, true, now() - (30000 - abs(i - 15000)) * interval '1 second'
     FROM generate_series(1, 30000) i`,
    [the.mappingId, partition.id],
  );
  await the.database.query(
    `INSERT INTO partner_sync.dead_letters (mapping_id, tenant_id, source_key, key_hash, mapping_version, code, pointer, rule,
       reason, shape, run_id, read_seq)
     SELECT $1::int, 1, ARRAY[i::text], sha256(i::text::bytea), 'v',
       CASE WHEN i <= 3 THEN 'tenant_unknown' WHEN i <= 8 THEN 'mapping_failed' ELSE 'record_invalid' END,
       '/a', 'r', 'r', 's', 1, 1
     FROM generate_series(1, 30000) i`,
    [the.mappingId],
  );
  await the.database.query('ANALYZE partner_sync.waiting, partner_sync.dead_letters');

  const waiting = await read('waiting_records');
  expect(Object.values(waiting).reduce((a, b) => a + b, 0)).toBe(10_001);
  expect(Object.keys(waiting).every((labels) => labels.startsWith(name))).toBe(true);
  expect(await read('dead_letters')).toEqual({
    [`${name} tenant_unknown`]: 3,
    [`${name} mapping_failed`]: 5,
    [`${name} record_invalid`]: 10_001,
  });
  // So does what a sync is judged by, which the watch asks for each minute.
  const [state] = await the.ledger.syncStates.of('shop');
  expect(state).toMatchObject({ deadLetters: 10_001 });
  // The fifteen thousandth has waited longest.
  const oldest = (await read('oldest_waiting_timestamp_seconds'))['']!;
  expect(Math.abs(Date.now() / 1000 - 30_000 - oldest)).toBeLessThan(60);
  expect(state!.oldestWaitingAt!.getTime() / 1000).toBeCloseTo(oldest);
});

it('knows since when a schedule is paused, whatever becomes of its note, until it is resumed', async () => {
  const { schedules } = the.ledger;
  const nightly = { id: 'partner-sync/shop/nightly', note: null, skipped: 0, missed: 0 };
  await schedules.record([{ ...nightly, paused: true }]);
  const before = await read('paused_since_timestamp_seconds');
  expect(Date.now() / 1000 - before['nightly']!).toBeLessThan(60);
  const watch = { ...nightly, id: 'partner-sync-watch/queue', paused: true };
  await schedules.record([{ ...nightly, paused: true, note: 'stocktaking' }, watch]);
  expect(await read('paused_since_timestamp_seconds')).toEqual(before);
  await schedules.record([{ ...nightly, paused: false }]);
  expect(await read('paused_since_timestamp_seconds')).toEqual({});
});

it('counts removal plans that await approval, and open batches by state', async () => {
  const partition = await the.newPartition();
  const plan = (state: string) =>
    the.database.query(
      `INSERT INTO partner_sync.removal_plans (run_id, mapping_id, action, state)
       SELECT id, $1::int, '{}', $2 FROM partner_sync.runs r
       WHERE NOT EXISTS (SELECT FROM partner_sync.removal_plans p WHERE p.run_id = r.id AND p.mapping_id = $1::int)
       ORDER BY id LIMIT 1`,
      [the.mappingId, state],
    );
  const batch = (state: string) =>
    the.database.query(
      `INSERT INTO partner_sync.batches (run_id, partition_id, mapping_id, tenant_id, state, records, read_seq)
       VALUES ($1, $2, $3, (SELECT id FROM partner_sync.tenants WHERE platform_id = 'north'), $4, 1, 1)`,
      [partition.runId, partition.id, the.mappingId, state],
    );
  const before = await read('removal_plans_awaiting_approval');
  await plan('replaced');
  await plan('awaiting_approval');
  for (const state of ['intended', 'pending', 'pending', 'settled', 'superseded']) await batch(state);

  expect((await read('removal_plans_awaiting_approval'))['']).toBe((before[''] ?? 0) + 1);
  expect(await read('open_batches')).toEqual({ intended: 1, sent: 0, pending: 2 });
  expect(await read('open_batches', 'another')).toEqual({});
});

it('counts for the tenants that it is asked about, each up to the bound', async () => {
  await the.database.query(
    `INSERT INTO partner_sync.dead_letters (mapping_id, tenant_id, source_key, key_hash, mapping_version, code, pointer, rule,
       reason, shape, run_id, read_seq)
     SELECT $1::int, t.id, ARRAY[t.id || ' ' || i], sha256((t.id || ' ' || i)::bytea), 'v', 'record_invalid', '/a', 'r', 'r', 's', 1, 1
     FROM partner_sync.tenants t, generate_series(1, CASE WHEN t.platform_id = 'north' THEN 2 ELSE 10002 END) i
     WHERE t.platform_id IN ('north', 'south')`,
    [the.mappingId],
  );
  const sync = 'of tenants';
  await the.database.query('UPDATE partner_sync.mappings SET sync = $2 WHERE id = $1', [the.mappingId, sync]);
  const asked = async (...tenants: string[]) =>
    (await the.ledger.gauges.read([sync], tenants))
      .filter(({ metric }) => metric === 'tenant_dead_letters')
      .map(({ labels: { tenant }, value }) => [tenant, value]);
  expect(await asked()).toEqual([]);
  expect(await asked('north', 'unknown')).toEqual([['north', 2]]);
  expect(await asked('south')).toEqual([['south', 10_001]]);
});
