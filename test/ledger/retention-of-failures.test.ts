/** Retention of a sync that has failed more often than is counted: nobody can tell the difference. */
import { describe, expect, it } from 'vitest';
import type { RetentionKind } from '../../src/domain/sync/retention.js';
import type { RunTrigger } from '../../src/domain/run/search-attributes.js';
import { ledgerForTests } from './ledger-for-tests.js';
import { pastRuns, SCHEDULE } from './past-runs.js';

const the = ledgerForTests();
const past = pastRuns(the);
const { run, prune, runIds, saidOf, recentRuns } = past;

describe('of a sync that has failed more often than is counted', () => {
  /** Adds this many runs, a minute apart, the last of which ended so many days ago. */
  const failures = (n: number, ago: number, failure: string, trigger: RunTrigger = 'schedule') =>
    the.database.query(
      `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id,
         trigger, started_by, started_at, ended_at, outcome, failure_code)
       SELECT $1, 'sync', 'full', '{}', 'v', 'w', md5(random()::text || clock_timestamp()::text)::uuid::text, $5, CASE $5 WHEN 'schedule' THEN $6 END, t, t, 'failed', $4
       FROM generate_series(1, $2::int) i, LATERAL (SELECT now() - $3::int * interval '1 day' - ($2::int - i) * interval '1 minute') m(t)`,
      [past.sync, n, ago, failure, trigger, SCHEDULE],
    );

  it('removes failures beyond those, and says the same', async () => {
    const success = await run({ ago: 600, trigger: 'schedule' });
    const first = await run({ ago: 599, outcome: 'failed', trigger: 'schedule' });
    await failures(11_000, 500, 'source_unavailable');
    const before = await saidOf();
    expect(before.state).toMatchObject({ runsSinceSuccess: 10_001, refused: 0, latest: { outcome: 'failed' } });
    expect(before.schedule).toMatchObject({ runsSinceSuccess: 10_001, lastOutcome: 'failed' });

    const steps: number[] = [];
    expect(
      await prune({ onStep: (kind: RetentionKind, rows: number) => kind === 'runs' && steps.push(rows) }),
    ).toMatchObject({ done: true });

    expect(steps).toEqual([999]);
    expect(await saidOf()).toEqual(before);
    const kept = await runIds(20_000);
    expect(kept).toHaveLength(10_003);
    expect(kept.slice(0, 2)).toEqual([success, first]);
  });

  it('removes all of them once it succeeds', async () => {
    await failures(1500, 500, 'source_unavailable', 'other');
    await recentRuns();
    expect((await prune()).removed.find(({ kind }) => kind === 'runs')).toMatchObject({ rows: 1500 });
    expect(await runIds()).toHaveLength(21);
  });

  it('does the same with runs that were refused, and without a schedule', async () => {
    const success = await run({ ago: 600 });
    await failures(10_500, 500, 'run_in_progress', 'other');
    const before = await saidOf();
    expect(before.state).toMatchObject({ runsSinceSuccess: 0, refused: 10_001 });
    await prune();
    expect(await saidOf()).toEqual(before);
    const kept = await runIds(20_000);
    expect([kept.length, kept[0]]).toEqual([10_003, success]);
  });
});
