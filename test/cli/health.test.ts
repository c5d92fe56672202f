/** `status` says what is wrong with a sync by its own limits, from the ledger alone. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { problemsOf, DEFAULT_LIMITS, type EvaluatedState } from '../../src/domain/monitoring/sync-health.js';
import { eventually, fill, failureOf, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { runInProcess } from './in-process.js';

const NOW = new Date('2026-03-01T12:00:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);
const HOUR = 3600;

const paused = (hours: number) => ({ name: 'nightly', since: ago(hours * HOUR), note: 'stocktaking (ana@ops)' });

/** A feed with a limit of ten bytes. */
const FEED = {
  ...{ name: 'slot', keptBytes: 9, unreadBytes: 9, maxBytes: 10, problem: null, givenUp: null },
  readAt: ago(HOUR),
};

const WELL: EvaluatedState = {
  now: NOW,
  firstRunAt: ago(100 * HOUR),
  expectedSince: ago(100 * HOUR),
  lastSuccessAt: ago(HOUR / 2),
  followedUntil: null,
  runsSinceSuccess: 0,
  latest: null,
  usualGap: HOUR,
  usualDuration: 60,
  oldestWaitingAt: null,
  deadLetters: 0,
  mostLagging: null,
  pausedSchedules: [],
  pausedRuns: [],
  skipped: [],
  plansAwaitingApproval: 0,
  mappingsOnHold: 0,
  retrying: null,
  noProgressSince: null,
  feeds: [],
};

describe('a sync', () => {
  const LIMITS = { ...DEFAULT_LIMITS, lag: 2 * HOUR, deadLetters: 10 };
  const triggers = (state: Partial<EvaluatedState>, limits = LIMITS): string[] =>
    problemsOf({ ...WELL, ...state }, limits, 'incomplete').map(({ trigger }) => trigger);

  it.each<[string, Partial<EvaluatedState>, string[]]>([
    ['is well', {}, []],
    ['is late after twice its usual gap', { lastSuccessAt: ago(2.1 * HOUR) }, ['late']],
    ['is not late before', { lastSuccessAt: ago(2 * HOUR) }, []],
    ['is not late while a run follows its change feeds', { lastSuccessAt: ago(99 * HOUR), followedUntil: ago(5) }, []],
    ['is not late before such a run has ended', { lastSuccessAt: null, followedUntil: ago(5) }, []],
    [
      'is late if such a run no longer gets on',
      { lastSuccessAt: ago(99 * HOUR), followedUntil: ago(2.1 * HOUR) },
      ['late'],
    ],
    ['is late if it has never succeeded', { lastSuccessAt: null }, ['late']],
    [
      'is never late without a schedule and without enough scheduled runs to tell',
      { usualGap: null, lastSuccessAt: ago(99 * HOUR) },
      [],
    ],
    [
      'fails',
      { runsSinceSuccess: 18, latest: { outcome: 'failed', failure: { code: 'source_unreachable' } } },
      ['failing'],
    ],
    ...(['incremental', 'mirror'] as const).map((mode): [string, Partial<EvaluatedState>, string[]] => [
      `has failed in mode ${mode} before a run that follows its feeds delivered everything`,
      {
        followedUntil: ago(5),
        runsSinceSuccess: 1,
        latest: { outcome: 'failed', mode, endedAt: ago(60).toISOString(), failure: { code: 'guard_exceeded' } },
      },
      mode === 'mirror' ? ['failing'] : [],
    ]),
    ['ends incomplete', { runsSinceSuccess: 1, latest: { outcome: 'incomplete', failure: null } }, ['incomplete']],
    ['has a record that waits too long', { oldestWaitingAt: ago(1.1 * HOUR) }, ['waiting']],
    ['has a record that waits', { oldestWaitingAt: ago(0.9 * HOUR) }, []],
    ['has as many dead letters as allowed', { deadLetters: 10 }, []],
    ['has too many dead letters', { deadLetters: 11 }, ['dead-letters']],
    ['has a feed within its limit', { feeds: [FEED] }, []],
    ['has a feed that is kept too much for', { feeds: [{ ...FEED, keptBytes: 11, unreadBytes: 11 }] }, ['feed-behind']],
    ['has such a feed without a limit', { feeds: [{ ...FEED, keptBytes: 11, maxBytes: null }] }, []],
    ['has a feed that was given up', { feeds: [{ ...FEED, givenUp: 'it was given up' }] }, ['feed-behind']],
    ['has a feed that is gone', { feeds: [{ ...FEED, problem: 'there is no slot' }] }, ['feed-unreadable']],
    ['lags', { mostLagging: { mapping: 'orders', readUntil: ago(2.1 * HOUR) } }, ['lagging']],
    ['lags as much as it may', { mostLagging: { mapping: 'orders', readUntil: ago(1.9 * HOUR) } }, []],
    ['works on a run that has settled something lately', { noProgressSince: ago(1.1 * HOUR) }, []],
    [
      'is retrying if steps of a run have been failing',
      { retrying: { code: 'source_unreachable', since: ago(45), lastFailedAt: ago(15) } },
      ['retrying'],
    ],
    [
      'is well while steps have been failing for seconds',
      { retrying: { code: 'source_unreachable', since: ago(25), lastFailedAt: ago(0) } },
      [],
    ],
    [
      'is well after a failure that did not last',
      { retrying: { code: 'source_unreachable', since: ago(120), lastFailedAt: ago(100) } },
      [],
    ],
    ['is stalled if a run settles nothing', { noProgressSince: ago(1.2 * HOUR) }, ['stalled']],
    ['has a schedule that was paused for the night', { pausedSchedules: [paused(23)] }, []],
    ['has a schedule that nobody has resumed', { pausedSchedules: [paused(25)] }, ['paused']],
    ['leaves out a mapping while a run works', { skipped: [{ mapping: 'a', message: 'gone' }] }, ['incomplete']],
    ['has a held removal plan', { plansAwaitingApproval: 1 }, ['awaiting-approval']],
  ])('%s', (_, state, expected) => {
    expect(triggers(state)).toEqual(expected);
  });

  describe('of which no three scheduled runs have ended', () => {
    const QUARTERLY = { ...LIMITS, scheduledGap: HOUR / 4 };
    const young = { usualGap: null, usualDuration: null };

    it('is late after twice the time between two starts that its schedules declare', () => {
      expect(triggers({ ...young, lastSuccessAt: ago(0.5 * HOUR) }, QUARTERLY)).toEqual([]);
      expect(problemsOf({ ...WELL, ...young, lastSuccessAt: ago(0.6 * HOUR) }, QUARTERLY, 'incomplete')).toEqual([
        { trigger: 'late', what: 'the last success was 36m 0s ago (limit 30m 0s)' },
      ]);
      expect(triggers({ ...young, lastSuccessAt: ago(0.6 * HOUR) }, { ...QUARTERLY, success: HOUR })).toEqual([]);
    });

    it('is late if it has never run', () => {
      const never = { ...young, firstRunAt: null, lastSuccessAt: null, expectedSince: ago(HOUR) };
      expect(problemsOf({ ...WELL, ...never }, QUARTERLY, 'incomplete')).toEqual([
        { trigger: 'late', what: 'it has never run, and runs have been expected for 1h 0m (limit 30m 0s)' },
      ]);
      expect(triggers(never)).toEqual([]);
    });

    it('is not late while its first run works, which may read for hours', () => {
      const first = { ...young, lastSuccessAt: null, noProgressSince: ago(60) };
      expect(triggers(first, QUARTERLY)).toEqual([]);
    });
  });

  it('is told the worst first, in plain sentences', () => {
    const state = {
      ...WELL,
      runsSinceSuccess: 18,
      lastSuccessAt: ago(7 * HOUR),
      plansAwaitingApproval: 2,
      deadLetters: 1,
    };
    const latest = { outcome: 'failed', failure: { code: 'source_unreachable' } };
    expect(
      problemsOf({ ...state, latest }, { ...LIMITS, success: 6 * HOUR, deadLetters: 0 }, 'never').map(
        ({ what }) => what,
      ),
    ).toEqual([
      'the latest 18 runs failed, last with source_unreachable',
      'the last success was 7h 0m ago (limit 6h 0m)',
      '2 removal plans await a decision of a person',
      '1 dead letter (limit 0)',
    ]);
  });

  it('has paused schedules, each with its time and the reason that was given', () => {
    const pausedSchedules = [paused(25), { ...paused(1), name: 'hourly', note: null }];
    expect(problemsOf({ ...WELL, pausedSchedules }, LIMITS, 'never')).toEqual([
      {
        trigger: 'paused',
        what: 'the schedule nightly has been paused since 2026-02-28 11:00 UTC: stocktaking (ana@ops); the schedule hourly has been paused since 2026-03-01 11:00 UTC (limit 24h 0m)',
      },
    ]);
  });

  it('has more dead letters than are counted', () => {
    expect(problemsOf({ ...WELL, deadLetters: 10_001 }, LIMITS, 'never')).toEqual([
      { trigger: 'dead-letters', what: 'more than 10,000 dead letters (limit 10)' },
    ]);
  });

  it('may end incomplete where failOn says never', () => {
    expect(
      problemsOf({ ...WELL, runsSinceSuccess: 3, latest: { outcome: 'incomplete', failure: null } }, LIMITS, 'never'),
    ).toEqual([]);
  });
});

describe('status', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
    onTestFinished(() => shop.close());
    await shop.work();
    await fill(shop, 3);
  });
  const status = (...args: string[]) => runInProcess(['status', ...args], shop.env);

  it('says how long a sync has not succeeded, and ends with 1, whatever its schedule does', async () => {
    await shop.run();
    expect(await status(SYNC)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^shop: ok; last success [\d.]+s ago/) as string,
    });

    shop.write('sync.yaml', `${filesOf({})['sync.yaml']!}limits: { success: 2h }\n`);
    await shop.state.query(
      `UPDATE partner_sync.runs SET started_at = started_at - interval '3 h', ended_at = ended_at - interval '3 h'`,
    );
    for (const args of [[], [SYNC]])
      expect(await status(...args)).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(
          /^shop: late; last success 3h 0m ago\n {2}the last success was 3h 0m ago \(limit 2h 0m\)\n/,
        ) as string,
      });
  });

  it('says that a mapping lags until a run has read it to the end, whether it has new rows or not', async () => {
    shop.write('sync.yaml', `${filesOf({})['sync.yaml']!}limits: { lag: 2h }\n`);
    const before = new Date();
    await shop.run();
    const readUntil = async (): Promise<string[]> => {
      const { json } = await status(SYNC, '--json');
      return json<{ mappings: { readUntil: string }[] }>().mappings.map((mapping) => mapping.readUntil);
    };
    const first = await readUntil();
    expect(first).toHaveLength(3);
    for (const moment of first) expect(Date.parse(moment)).toBeGreaterThanOrEqual(before.getTime());
    await shop.state.query(
      `UPDATE partner_sync.mappings SET read_until = read_until - interval '3 h' WHERE name = 'orders'`,
    );
    const lagging = async () => {
      const { code, stdout } = await status(SYNC);
      return [code, stdout.split('\n')[1]];
    };
    const LAGS = [1, '  orders has not been read to the end for 3h 0m (limit 2h 0m)'];
    expect(await lagging()).toEqual(LAGS);

    // A backfill, a sample, a run of other mappings, and one that has to stop the mapping do not read it to the end.
    await shop.backfill({ mapping: 'orders', externalIds: ['o1'] });
    await shop.run({ limit: 1 });
    await shop.run({ mappings: ['customers'] });
    expect(await lagging()).toEqual(LAGS);
    await shop.source.query('ALTER TABLE shop.orders RENAME TO away');
    expect(await shop.run()).toMatchObject({ outcome: 'incomplete' });
    expect((await status(SYNC)).stdout).toContain(LAGS[1]);
    await shop.source.query('ALTER TABLE shop.away RENAME TO orders');

    const { total } = await shop.run();
    expect(total).toMatchObject({ accepted: 0 });
    expect((await status(SYNC)).code).toBe(0);
    for (const [i, moment] of (await readUntil()).entries())
      expect(Date.parse(moment)).toBeGreaterThan(Date.parse(first[i]!));
  });

  it('calls dead letters a problem where they make runs fail in Temporal, until they are dropped', async () => {
    await shop.source.query(`UPDATE shop.customers SET status = 'X' WHERE id = 1`);
    await shop.run();
    expect((await status(SYNC)).code).toBe(0);

    shop.write('sync.yaml', filesOf({ failOn: 'dead-letters' })['sync.yaml']!);
    expect(await status(SYNC)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^shop: dead-letters; .*\n {2}3 dead letters \(limit 0\)\n/) as string,
    });
    shop.write('sync.yaml', `${filesOf({ failOn: 'dead-letters' })['sync.yaml']!}limits: { deadLetters: 3 }\n`);
    expect((await status(SYNC)).code).toBe(0);
    shop.write('sync.yaml', filesOf({ failOn: 'dead-letters' })['sync.yaml']!);
    await runInProcess(['dead-letters', 'drop', SYNC, '--yes'], shop.env);
    expect((await status(SYNC)).code).toBe(0);
  });

  it('names a run that is paused, since when, by whom and why, and what continues it, also once it counts as stalled', async () => {
    await shop.run();
    let isFree = false;
    shop.proxy.fail(({ upload }) =>
      !upload || isFree ? undefined : { forward: false, answer: { status: 503, body: '{"success":false}' } },
    );
    await shop.source.query(`UPDATE shop.customers SET name = 'New', updated_at = clock_timestamp()`);
    const run = await shop.start('sync', { sync: SYNC }, 'at-midnight');
    await eventually('the run', async () => (await status(SYNC)).stdout.includes('at-midnight'));
    expect((await status(SYNC)).stdout).not.toContain('paused');

    expect(await runInProcess(['pause', SYNC, '--reason', 'stocktaking'], shop.env)).toMatchObject({ code: 0 });
    await eventually('the entry of the audit', async () => (await status(SYNC)).stdout.includes('paused'));
    expect((await status(SYNC)).stdout).toMatch(
      /^ {2}the run at-midnight has been paused since \d{4}-\d\d-\d\d \d\d:\d\d UTC by \S+@\S+: stocktaking; partner-sync resume shop continues it$/m,
    );
    // What was under way when the run was paused may still be noted as progress.
    let stalled: Awaited<ReturnType<typeof status>>;
    await eventually('a run without progress', async () => {
      await shop.state.query(
        `UPDATE partner_sync.runs SET started_at = now() - interval '3 h' WHERE workflow_id = 'at-midnight';
         UPDATE partner_sync.partitions SET started_at = now() - interval '3 h', updated_at = now() - interval '3 h'`,
      );
      stalled = await status(SYNC);
      return stalled.code === 1;
    });
    expect(stalled!.stdout).toMatch(
      /^shop: stalled; [^]* {2}a run has settled nothing for 3h 0m \(limit 1h [\dms ]+\): the run at-midnight has been paused since .*: stocktaking; partner-sync resume shop continues it$/m,
    );

    isFree = true;
    expect(await runInProcess(['resume', SYNC], shop.env)).toMatchObject({ code: 0 });
    await eventually('its end', async () => !(await status(SYNC)).stdout.includes('paused'));
    await run.result();
  });

  it('tells late from the usual time between scheduled runs, of which backfills and refused runs are none', async () => {
    await shop.run();
    await shop.state.query(
      `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger, started_at, ended_at, outcome)
       SELECT 'shop', 'sync', 'incremental', '{}', 'v', 'w', 'scheduled ' || i, 'schedule', at, at + interval '1 min', 'complete'
       FROM generate_series(1, 6) i, LATERAL (SELECT now() - interval '3 h' - i * interval '1 h' AS at) t`,
    );
    await shop.state.query(
      `UPDATE partner_sync.runs SET ended_at = started_at - interval '5 h' WHERE trigger = 'other'`,
    );
    await shop.backfill({ mapping: 'customers', externalIds: ['1'] });

    expect((await status(SYNC)).stdout).toMatch(/the last success was 3h 59m ago \(limit 2h 1m\)/);
  });

  it('counts runs that were refused since the last success, which are no failures', async () => {
    const refuse = (endedAgo: string) =>
      shop.state.query(
        `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger, ended_at, outcome, failure_code)
         VALUES ('shop', 'sync', 'incremental', '{}', 'v', 'w', gen_random_uuid(), 'schedule', now() - CAST($1 AS interval), 'failed', 'run_in_progress')`,
        [endedAgo],
      );
    await refuse('1 h');
    await shop.run();
    expect((await status(SYNC)).stdout).not.toContain('refused since then');
    await refuse('0');
    await refuse('0');
    expect(await status(SYNC)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^shop: ok; last success [\d.]+s ago\n {2}2 runs refused since then, as another one was working\n/,
      ) as string,
    });
    expect((await status('--json')).json()).toMatchObject({
      healths: [{ sync: SYNC, runsSinceSuccess: 0, refused: 2 }],
    });
  });

  it('lists syncs with the worst first, then by name', async () => {
    const end = (sync: string, outcome: string) =>
      shop.state.query(
        `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger, ended_at, outcome)
         VALUES ($1, 'sync', 'incremental', '{}', 'v', 'w', gen_random_uuid(), 'other', now(), $2)`,
        [sync, outcome],
      );
    for (const sync of ['billing', 'crm']) await end(sync, 'complete');
    for (const sync of ['leads', 'mail']) await end(sync, 'incomplete');
    await end('zoo', 'failed');
    expect((await status()).stdout.match(/^\w+(?=: )/gm)?.slice(0, 5)).toEqual([
      'zoo',
      'leads',
      'mail',
      'billing',
      'crm',
    ]);
  });

  it('shows the report of an earlier run, and why a run has none', async () => {
    const { run } = await shop.run();
    shop.write('customers.mapping.yaml', 'broken');
    await failureOf(await shop.start('sync', { sync: SYNC }));

    expect((await status(SYNC, run)).stdout).toMatch(/COMPLETE/);
    expect((await status(SYNC, run, '--json')).json()).toMatchObject({ run, outcome: 'complete', total: { read: 9 } });
    expect((await status(SYNC, String(Number(run) + 1))).stdout).toMatch(
      /^run 2 of shop \(-\), started .*: failed: config_invalid/,
    );
    expect(await status(SYNC, '99')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('shop has no run 99') as string,
    });
    // A broken mapping does not hide by what the sync is judged; a broken sync.yaml does.
    expect((await status(SYNC)).stdout).toMatch(/^shop: failing; last success \S+ ago\n/);
    shop.write('sync.yaml', 'broken');
    expect((await status(SYNC)).stdout).toMatch(/^shop: failing; .*default limits: its files cannot be read here/);
  });
});
