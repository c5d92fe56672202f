/** Retention: what is removed once it is old, what stays whatever its age, and that nobody can tell the difference. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DEFAULT_RETENTION, type RetentionKind } from '../../src/domain/sync/retention.js';
import { FIRST_PLACE } from '../../src/ledger/record-key.js';
import { ledgerForTests } from './ledger-for-tests.js';
import { pastRuns, SCHEDULE, type RunOptions } from './past-runs.js';

const the = ledgerForTests();
const past = pastRuns(the);
const { run, delivering, claimed, leavingPending, leavingDeadLetter, prune, rowsOf, runIds, saidOf, recentRuns } = past;
const DAY = 86_400_000;

it('removes batches a fortnight after they were settled, and no others', async () => {
  await run({ ago: 15, work: delivering('a') });
  await run({ ago: 13, work: delivering('b') });

  await prune();

  expect(await rowsOf('batches')).toBe(1);
  expect(await rowsOf('partitions')).toBe(2);
});

it('keeps batches that are on their way or whose records wait, with their runs, whatever their age', async () => {
  await run({ ago: 5000, work: leavingPending, outcome: 'incomplete' });
  await run({ ago: 4999, outcome: 'failed', work: async (partition) => void (await claimed(partition, 'in flight')) });
  await run({ ago: 4998 });
  await recentRuns();

  await prune();

  const states = await the.database.query('SELECT state FROM partner_sync.batches WHERE mapping_id = $1 ORDER BY id', [
    past.mappingId,
  ]);
  expect(states).toEqual([{ state: 'pending' }, { state: 'intended' }]);
  expect(await rowsOf('waiting')).toBe(1);
  expect(await runIds()).toHaveLength(2 + 21);
});

it('removes the partitions and counts of a run after 90 days, and leaves its report', async () => {
  const old = await run({ ago: 91, work: delivering('a') });
  await the.ledger.runs.keepReport(old, { version: 1 } as never);
  await run({ ago: 89, work: delivering('b') });

  await prune();

  expect(await rowsOf('partitions')).toBe(1);
  expect(
    await rowsOf('partition_counts', 'partition_id IN (SELECT id FROM partner_sync.partitions WHERE run_id = $1)', old),
  ).toBe(0);
  expect(await the.ledger.runs.get(old)).toMatchObject({ outcome: 'complete', report: { version: 1 } });
});

it('removes runs after 400 days', async () => {
  await run({ ago: 401, work: delivering('a') });
  const young = await run({ ago: 399, work: delivering('b') });
  await recentRuns();

  await prune();

  expect((await runIds())[0]).toBe(young);
  expect(await runIds()).toHaveLength(22);
});

describe('whatever its age, keeps a run', () => {
  it('whose dead letters are open', async () => {
    const kept = await run({ ago: 500, work: leavingDeadLetter, outcome: 'complete_with_dead_letters' });
    await recentRuns();
    await prune();
    expect((await runIds())[0]).toBe(kept);
    expect(await rowsOf('dead_letters')).toBe(1);
  });

  it('that moved a position last', async () => {
    const kept = await run({
      ago: 500,
      work: async (partition) => {
        const position = { cursor: '2020-01-01', key: ['1'] };
        await the.ledger.checkpoint(partition, await the.outcome(null, [], 'unchanged', { position }));
      },
    });
    await recentRuns();
    await prune();
    expect((await runIds())[0]).toBe(kept);
    expect(await the.ledger.partitions.position(past.mappingId)).toMatchObject({ cursor: '2020-01-01' });
  });

  it('whose removal plan awaits approval', async () => {
    const kept = await run({ ago: 500 });
    const plan = await the.ledger.removals.open(kept, past.mappingId, '{}');
    await the.ledger.removals.decide(plan, 'awaiting_approval', { records: 1, accepted: 1 });
    await recentRuns();
    await prune();
    expect((await runIds())[0]).toBe(kept);
    expect(await the.ledger.removals.awaitingApproval(past.sync)).toHaveLength(1);
  });

  it('that was the last success, and those that have failed since', async () => {
    await run({ ago: 504 });
    const success = await run({ ago: 503 });
    const failed = await run({ ago: 502, outcome: 'failed' });
    for (let i = 0; i < 25; i++) await run({ ago: 501, outcome: 'incomplete' });

    await prune();

    expect((await runIds()).slice(0, 2)).toEqual([success, failed]);
    expect(await runIds()).toHaveLength(27);
  });

  it('with which a sync began that has never succeeded', async () => {
    const first = await run({ ago: 600, kind: 'backfill' });
    await run({ ago: 599, kind: 'backfill' });
    for (let i = 0; i < 25; i++) await run({ ago: 500, outcome: 'failed' });
    const said = await saidOf();
    await prune();
    expect((await runIds())[0]).toBe(first);
    expect(await runIds()).toHaveLength(26);
    expect(await saidOf()).toEqual(said);
  });

  it('of a schedule that has failed ever since, beside other runs that succeed', async () => {
    await run({ ago: 504, trigger: 'schedule', outcome: 'failed' });
    const good = await run({ ago: 503, trigger: 'schedule' });
    for (let i = 0; i < 25; i++) await run({ ago: 502, trigger: 'schedule', outcome: 'failed' });
    await recentRuns();

    await prune();

    expect(await the.ledger.runs.ofSchedule(SCHEDULE)).toMatchObject({ lastOutcome: 'failed', runsSinceSuccess: 25 });
    expect((await runIds())[0]).toBe(good);
  });
});

it('removes removal plans that are over, and keeps records that were approved and are not removed yet', async () => {
  const planned = async (state: 'due' | 'awaiting_approval', ago: number) => {
    const plan = await the.ledger.removals.open(await run({ ago }), past.mappingId, '{}');
    await the.ledger.removals.add(plan, { tenantIds: [the.tenantIds.get('north')!], externalIds: ['a'] }, FIRST_PLACE);
    await the.ledger.removals.decide(plan, state, { records: 1, accepted: 10 });
    return plan;
  };
  await the.ledger.removals.finish(await planned('due', 200));
  const approved = await planned('awaiting_approval', 150);
  const actor = { who: 'ana', origin: 'cli' } as const;
  await the.ledger.removals.approve([approved.id], { sync: past.sync, run: '1', actor });
  await planned('awaiting_approval', 120);

  const { removed } = await prune();

  expect(removed.find(({ kind }) => kind === 'removalPlans')).toMatchObject({ rows: 1 });
  expect(await rowsOf('removal_plans')).toBe(2);
  expect(await rowsOf('removals', 'plan_id = $1', approved.id)).toBe(1);
});

it('says the same of a sync after pruning as before', async () => {
  await run({ ago: 900, work: delivering('a'), trigger: 'schedule' });
  await run({ ago: 800, work: leavingDeadLetter, outcome: 'complete_with_dead_letters', trigger: 'schedule' });
  await run({ ago: 700, work: leavingPending, outcome: 'incomplete' });
  await run({ ago: 600, kind: 'backfill', work: delivering('b') });
  const guarded: RunOptions['work'] = async ({ runId }) => void (await the.ledger.guards.begin(runId, past.mappingId));
  await run({ ago: 599, work: guarded });
  for (let i = 0; i < 30; i++) await run({ ago: 598 - i, work: delivering(`c${i}`), trigger: 'schedule' });
  await run({ ago: 200, outcome: 'failed', trigger: 'schedule' });
  const { ledger } = the;
  // A run that is working, whose report is to come.
  const current = await ledger.runs.begin({
    sync: past.sync,
    kind: 'sync',
    mode: 'full',
    input: { sync: past.sync },
    files: null,
    mappingVersion: 'v1',
    workflowId: 'w',
    firstExecutionRunId: randomUUID(),
    start: { trigger: 'other', by: null },
  });
  await ledger.partitions.forRowsByKey(current.id, past.mappingId);
  const said = async () => ({
    // The first run matters only to a sync without a success, of which no run is removed.
    states: (await ledger.syncStates.of(past.sync)).map(
      ({ now: _, firstRunAt: __, expectedSince: ___, ...state }) => state,
    ),
    statuses: await ledger.counts.statuses(past.sync),
    undelivered: [...(await ledger.counts.undelivered(current.id))],
    latest: await ledger.runs.latest(past.sync, 10),
    schedule: await ledger.runs.ofSchedule(SCHEDULE),
    gauges: await ledger.gauges.read([past.sync]),
    causes: await ledger.deadLetters.causes(past.sync, {}),
    awaiting: await ledger.removals.needingAttention(past.sync),
  });
  const before = await said();

  const { removed } = await prune();

  expect(await said()).toEqual(before);
  expect(await rowsOf('guards')).toBe(0);
  expect(removed.filter(({ rows }) => rows > 0).map(({ kind }) => kind)).toEqual(['batches', 'partitions', 'runs']);
});

it('counts beforehand what it would remove, with the age of the oldest', async () => {
  await run({ ago: 500, work: delivering('a') });
  await run({ ago: 450, work: leavingPending, outcome: 'incomplete' });
  await run({ ago: 430, work: delivering('b') });
  await recentRuns();

  const counted = await the.ledger.retention.prunable(past.sync, DEFAULT_RETENTION);
  const { removed, done } = await prune();

  expect(counted).toEqual(removed);
  expect(done).toBe(true);
  const rows = Object.fromEntries(removed.map(({ kind, rows: n }) => [kind, n]));
  expect(rows).toEqual({ batches: 2, partitions: 2, removalPlans: 0, runs: 2, audit: 0 } satisfies Record<
    RetentionKind,
    number
  >);
  expect(Math.round((Date.now() - Date.parse(removed[0]!.oldest!)) / DAY)).toBe(500);
  expect((await prune()).removed.every((kind) => kind.rows === 0)).toBe(true);
});

it('works in steps of 1,000 rows, stops between two of them, and goes on where it stopped', async () => {
  const id = await run({ ago: 30 });
  await the.database.query(
    `INSERT INTO partner_sync.batches (run_id, partition_id, mapping_id, tenant_id, state, records, read_seq, settled_at)
     SELECT p.run_id, p.id, p.mapping_id, $2, 'settled', 1, 1, now() - interval '30 days'
     FROM partner_sync.partitions p, generate_series(1, 2500) WHERE p.run_id = $1`,
    [id, the.tenantIds.get('north')],
  );
  const steps: number[] = [];
  const first = await prune({
    shouldContinue: () => steps.length < 2,
    onStep: (_: RetentionKind, rows: number) => steps.push(rows),
  });

  expect(first.done).toBe(false);
  expect(steps).toEqual([1000, 2000]);
  expect(await rowsOf('batches')).toBe(500);
  expect((await prune()).done).toBe(true);
  expect(await rowsOf('batches')).toBe(0);
});

it('leaves other syncs alone', async () => {
  await run({ ago: 500, work: delivering('a') });
  const [before, batches] = [await runIds(), await rowsOf('batches')];

  await the.ledger.retention.prune(randomUUID(), DEFAULT_RETENTION);

  expect([await runIds(), await rowsOf('batches')]).toEqual([before, batches]);
});

it('prunes one sync twice at once', async () => {
  for (let i = 0; i < 5; i++) await run({ ago: 500, work: delivering(`a${i}`) });
  await recentRuns();

  const both = await Promise.all([prune(), prune()]);

  expect(both.map(({ done }) => done)).toEqual([true, true]);
  expect(await runIds()).toHaveLength(21);
});
