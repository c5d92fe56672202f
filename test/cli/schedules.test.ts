/** What schedules do beside starting runs, on a real Temporal server, and what commands say of it. */
import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { ScheduleDescription } from '@temporalio/client';
import { startWebhook } from '../alerts/targets.js';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { createNamespace } from '../temporal-namespace.js';
import { runInProcess } from './in-process.js';

const NIGHTLY = 'partner-sync/shop/nightly';

let shop: Shop;
beforeEach(async () => {
  shop = await openShop({ env: { TEMPORAL_NAMESPACE: await createNamespace() } });
  onTestFinished(() => shop.close());
  await fill(shop, 3);
});

/** Applies the schedules, with other keys of sync.yaml beside them. */
async function declare(schedules: readonly object[], more = '', failOn?: string): Promise<void> {
  const head = filesOf(failOn === undefined ? {} : { failOn })['sync.yaml']!;
  shop.write('sync.yaml', `${head}${more}schedules: ${JSON.stringify(schedules)}\n`);
  expect(await runInProcess(['schedules', 'apply', SYNC], shop.env)).toMatchObject({ code: 0 });
}

it('pauses and resumes schedules whose sync has no folder any more', async () => {
  await declare([{ name: 'nightly', cron: '0 3 * * *' }]);
  const mappings = shop.env['PARTNER_SYNC_MAPPINGS']!;
  renameSync(join(mappings, SYNC), join(mappings, 'another'));
  const pause = await runInProcess(['schedules', 'pause', SYNC, '--reason', 'it is gone'], shop.env);
  expect(pause).toMatchObject({ code: 0, stdout: expect.stringContaining(NIGHTLY) as string });
  expect(await runInProcess(['schedules', 'resume', SYNC], shop.env)).toMatchObject({ code: 0 });
  const unknown = await runInProcess(['schedules', 'pause', 'shup', '--reason', 'x'], shop.env);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no sync "shup"') as string });
});

/** As the schedule itself does: beside a run that is working, it starts none. */
async function startRun(): Promise<void> {
  expect(await runInProcess(['schedules', 'trigger', SYNC], shop.env)).toMatchObject({ code: 0 });
}
const status = () => runInProcess(['status', SYNC], shop.env);
const startingWith = (text: string): string =>
  expect.stringMatching(new RegExp(`^${text.replaceAll(/[()]/g, '\\$&')}`)) as string;
const watch = (): Promise<unknown> =>
  shop.client.workflow.execute('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() });
/** Lets time pass for paused schedules, in the ledger. */
const pass = (interval: string): Promise<unknown> =>
  shop.state.query('UPDATE partner_sync.schedules SET paused_since = paused_since - CAST($1 AS interval)', [interval]);
const described = (): Promise<ScheduleDescription> => shop.client.schedule.getHandle(NIGHTLY).describe();

it('delay starts by up to 30 s unless sync.yaml says otherwise, so that many syncs do not start at once', async () => {
  const nightly = { name: 'nightly', cron: '30 3 * * *' };
  await declare([nightly]);
  expect((await described()).spec.jitter).toBe(30_000);
  await declare([{ ...nightly, jitter: '0s' }]);
  expect((await described()).spec.jitter).toBe(0);
});

it('show how many runs they have skipped, since one was working, and missed in outages', async () => {
  await declare([{ name: 'nightly', every: '1h' }]);
  // No worker takes it, so it goes on working.
  await startRun();
  await startRun();
  const counts = await eventually('a run was skipped', async () => {
    const { stdout } = await runInProcess(['schedules', 'list', SYNC, '--json'], shop.env);
    const [nightly] = (JSON.parse(stdout) as { schedules: { skipped: number; missed: number }[] }).schedules;
    return nightly!.skipped > 0 && nightly;
  });
  expect(counts).toMatchObject({ skipped: 1, missed: 0 });
  const { stdout } = await runInProcess(['schedules', 'list', SYNC], shop.env);
  await declare([{ name: 'nightly', every: '1h' }]);
  expect((await status()).stdout).toMatch(
    / {2}the schedule nightly has skipped 1 run, as another one was active; the last [\d.]+s ago\n/,
  );
  expect(stdout).toMatch(/failed since +skipped +missed +next[^\n]*\n[^\n]*nightly +no +- +0 +1 +0 +\d{4}-/);
});

it.each([
  ['incomplete', true],
  ['never', false],
])('with pauseOnFailure and failOn: %s, an incomplete run pauses them: %s', async (failOn, pauses) => {
  await declare([{ name: 'nightly', every: '1h', pauseOnFailure: true }], '', failOn);
  shop.write('orders.mapping.yaml', filesOf({ wait: '1h' })['orders.mapping.yaml']!);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('o99', 99, 1)`);
  await shop.work();
  await eventually('a second run, which begins when Temporal knows how the first one ended', async () => {
    await startRun();
    const runs = await shop.state.query('SELECT FROM partner_sync.runs');
    return runs.length > 1;
  });
  expect(await shop.state.query('SELECT outcome FROM partner_sync.runs WHERE id = 1')).toEqual([
    { outcome: 'incomplete' },
  ]);
  const { state } = await described();
  expect(state.paused).toBe(pauses);
});

it('are late if no run begins, as when the worker has died on its first day', async () => {
  await declare([{ name: 'nightly', every: '15m' }]);
  expect(await status()).toMatchObject({ code: 0, stdout: startingWith('shop: ok; no success yet\n') });
  await shop.state.query(`UPDATE partner_sync.awaited_syncs SET since = since - interval '1 h'`);
  const late = {
    code: 1,
    stdout: startingWith(
      'shop: late; no success yet\n  it has never run, and runs have been expected for 1h 0m (limit 30m 0s)\n',
    ),
  };
  expect(await status()).toMatchObject(late);
  expect(await runInProcess(['status'], shop.env)).toMatchObject(late);
});

it('are said to be paused, by whom and why, and after a day that is a problem, until they are resumed', async () => {
  await declare([{ name: 'nightly', every: '1d' }]);
  await runInProcess(['schedules', 'pause', SYNC, '--reason', 'stocktaking'], shop.env);
  const sentence =
    / {2}the schedule nightly has been paused since \d{4}-\d\d-\d\d \d\d:\d\d UTC: stocktaking \(.+@.+\)/;
  const before = await status();
  expect(before).toMatchObject({ code: 0, stdout: startingWith('shop: ok') });
  expect(before.stdout).toMatch(sentence);

  await pass('25 h');
  const after = await status();
  expect(after).toMatchObject({ code: 1, stdout: startingWith('shop: paused') });
  expect(after.stdout).toMatch(new RegExp(`${sentence.source} \\(limit 24h 0m\\)`));
  await declare([{ name: 'nightly', every: '1d' }], 'limits: { paused: 2d }\n');
  expect((await status()).code).toBe(0);

  await runInProcess(['schedules', 'resume', SYNC], shop.env);
  expect((await status()).stdout).not.toContain('paused');
  const audit = `SELECT origin FROM partner_sync.audit WHERE action IN ('schedules_paused', 'schedules_resumed')`;
  expect(await shop.state.query(audit)).toEqual([{ origin: 'cli' }, { origin: 'cli' }]);
});

it('are known to be paused in the Web UI, or after a failure, once the watch has seen it, and so says the audit', async () => {
  const webhook = await startWebhook();
  await declare([{ name: 'nightly', every: '1d' }], `alerts: [{ webhook: '${webhook.url}' }]\n`);
  await shop.work();
  const nightly = shop.client.schedule.getHandle(NIGHTLY);
  await nightly.pause('paused due to workflow failure: sync-shop-nightly-2026: no tenant "secret"');
  await watch();
  await pass('25 h');
  await watch();
  await eventually('people are notified', () => Promise.resolve(webhook.delivered().includes('problem paused')));
  const [notification] = webhook.notifications();
  expect(notification!.what).toMatch(
    /^the schedule nightly has been paused since .* UTC: paused due to workflow failure \(limit 24h 0m\)$/,
  );

  await nightly.pause('asked by sales');
  await watch();
  expect((await status()).stdout).toMatch(/paused since .*: asked by sales \(limit/);
  await nightly.unpause();
  await eventually('it is over', async () => {
    await watch();
    return webhook.delivered().includes('recovered paused');
  });
  expect((await status()).stdout).not.toContain('paused');

  await nightly.pause();
  await watch();
  expect((await status()).stdout).toContain('nightly has been paused since');
  await nightly.delete();
  await eventually('nobody says so of a schedule that is gone', async () => {
    await watch();
    return !(await status()).stdout.includes('paused');
  });
  expect(
    await shop.state.query(
      `SELECT action, who, subject FROM partner_sync.audit WHERE origin = 'temporal' AND action LIKE 'schedules%' ORDER BY id`,
    ),
  ).toMatchObject([
    { action: 'schedules_paused', who: null, subject: { paused: [NIGHTLY], note: 'paused due to workflow failure' } },
    { action: 'schedules_resumed', who: null, subject: { resumed: [NIGHTLY] } },
    { action: 'schedules_paused', who: null, subject: { paused: [NIGHTLY] } },
  ]);
});
