/** People are notified once that something is wrong with a sync, once a day that it still is, and once that it is over. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { WatchResult } from '../../src/domain/monitoring/alerts.js';
import { loadAlerts } from '../../src/mapping/load-alerts.js';
import { alertsWorkflowId } from '../../src/domain/run/work.js';
import { eventually, failureOf, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { build, startWorkerProcess } from '../pipeline/worker-process.js';
import { SECRET, startWebhook, type Webhook } from './targets.js';

beforeAll(build);

let shop: Shop;
let webhook: Webhook;

const SYNC_YAML = filesOf({})['sync.yaml']!;
const ALERTS = "alerts: [{ webhook: '${env:ALERT_URL}' }]\n";

beforeEach(async () => {
  webhook = await startWebhook();
  const files = { 'sync.yaml': SYNC_YAML + ALERTS };
  shop = await openShop({ files, env: { ALERT_URL: webhook.url } });
  onTestFinished(() => shop.close());
  await shop.work();
  await fill(shop, 3);
});

/** One evaluation by the watch workflow, and the delivery of what it found. */
async function evaluate(): Promise<WatchResult> {
  const workflowId = randomUUID();
  const result = await shop.client.workflow.execute<() => Promise<WatchResult>>('watch', {
    taskQueue: shop.taskQueue,
    workflowId,
  });
  await delivered();
  return result;
}

/** Waits until no delivery is under way. */
const delivered = async (): Promise<void> => {
  for (const workflowId of await deliveries())
    await shop.client.workflow
      .getHandle(workflowId)
      .result()
      .catch(() => undefined);
};

/** Ids of the workflows that tell the targets of the sync as it is. */
async function deliveries(): Promise<string[]> {
  const settings = await loadAlerts(shop.folder, SYNC, shop.env);
  const targets = settings === 'unreadable' ? [] : settings.targets;
  return targets.map(({ id }) => alertsWorkflowId(shop.taskQueue, { sync: SYNC, target: id }));
}

/** The attempt to tell a target that has failed last. */
const failedAttempt = (workflowId: string) =>
  eventually('the attempt has failed', async () => {
    const { raw } = await shop.client.workflow.getHandle(workflowId).describe();
    return raw.pendingActivities?.find(({ lastFailure }) => lastFailure != null);
  });

/** A run that fails, for a reason that has nothing to do with sync.yaml. */
async function fail(): Promise<void> {
  shop.write('customers.mapping.yaml', 'broken');
  await failureOf(await shop.start('sync', { sync: SYNC }));
}

async function succeed(): Promise<void> {
  shop.write('customers.mapping.yaml', filesOf({})['customers.mapping.yaml']!);
  await shop.run();
}

/** Lets the time of the alerts pass, in the ledger. */
const pass = (interval: string): Promise<unknown> =>
  shop.state.query(
    `UPDATE partner_sync.alerts SET since = since - CAST($1 AS interval), changed_at = changed_at - CAST($1 AS interval)`,
    [interval],
  );

it('a run that fails causes one notification, at its end, however often it is evaluated and fails again', async () => {
  await fail();
  await eventually('the notification arrives', () => Promise.resolve(webhook.delivered().length > 0));
  expect(await evaluate()).toEqual({ syncs: 1, wrong: 1, unreadable: [], pingsUnanswered: [] });
  await fail();
  await evaluate();
  await delivered();

  expect(webhook.delivered()).toEqual(['problem failing']);
  const [notification] = webhook.notifications();
  const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
  expect(notification).toEqual({
    version: 1,
    id: `shop/failing/${notification!.since}/1`,
    key: 'shop/failing',
    state: 'problem',
    sync: 'shop',
    problem: 'failing',
    what: 'the latest run failed, last with config_invalid',
    since,
    endedAt: null,
    open: ['failing'],
  });
  expect(webhook.received[0]).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
});

it('the end of a problem is notified once, and a problem that comes back is notified again', async () => {
  await fail();
  await eventually('the notification arrives', () => Promise.resolve(webhook.delivered().length > 0));
  await succeed();
  await eventually('the end arrives', () => Promise.resolve(webhook.delivered().length > 1));
  await evaluate();
  await evaluate();
  expect(webhook.delivered()).toEqual(['problem failing', 'recovered failing']);
  expect(webhook.notifications()[1]).toMatchObject({
    key: 'shop/failing',
    endedAt: expect.any(String) as string,
    open: [],
  });

  await fail();
  await evaluate();
  expect(webhook.delivered()).toEqual(['problem failing', 'recovered failing', 'problem failing']);
  expect(new Set(webhook.notifications().map(({ id }) => id)).size).toBe(3);
});

it('a problem that lasts causes a reminder each day', async () => {
  await fail();
  await evaluate();
  await pass('23 h');
  await evaluate();
  expect(webhook.delivered()).toEqual(['problem failing']);
  await pass('1 h');
  await evaluate();
  await evaluate();
  expect(webhook.delivered()).toEqual(['problem failing', 'reminder failing']);
  await pass('1 d');
  await evaluate();
  expect(webhook.delivered()).toEqual(['problem failing', 'reminder failing', 'reminder failing']);
});

it('a notification survives a webhook that is down, and arrives once', async () => {
  webhook.answer = null;
  await fail();
  await eventually('it was tried twice', () => Promise.resolve(webhook.received.length > 1));
  expect(webhook.delivered()).toEqual([]);
  webhook.answer = { status: 200 };
  await delivered();
  await evaluate();
  expect(webhook.delivered()).toEqual(['problem failing']);
});

it('a problem that was over before its target could be notified is notified once, with its end', async () => {
  webhook.answer = { status: 500 };
  await fail();
  await eventually('it was tried', () => Promise.resolve(webhook.received.length > 0));
  await succeed();
  webhook.answer = { status: 200 };
  await delivered();
  await evaluate();
  expect(webhook.delivered()).toEqual(['recovered failing']);
});

it('a sync that is not run any more is reported as late, with no run and no schedule at all', async () => {
  shop.write('sync.yaml', `${SYNC_YAML}${ALERTS}limits: { success: 2h }\n`);
  await succeed();
  await evaluate();
  expect(webhook.delivered()).toEqual([]);
  await shop.state.query(
    `UPDATE partner_sync.runs SET started_at = started_at - interval '3 h', ended_at = ended_at - interval '3 h'`,
  );
  await evaluate();
  await evaluate();
  expect(webhook.notifications()).toMatchObject([
    { state: 'problem', problem: 'late', what: 'the last success was 3h 0m ago (limit 2h 0m)' },
  ]);
});

it('a sync that has never run is reported as late by its own limit, from the first evaluation on', async () => {
  await evaluate();
  shop.write('sync.yaml', `${SYNC_YAML}${ALERTS}limits: { success: 2h }\n`);
  await evaluate();
  expect(webhook.delivered()).toEqual([]);
  await shop.state.query(`UPDATE partner_sync.awaited_syncs SET since = since - interval '3 h'`);
  await evaluate();
  expect(webhook.notifications()).toMatchObject([
    { problem: 'late', what: 'it has never run, and runs have been expected for 3h 0m (limit 2h 0m)' },
  ]);
  await succeed();
  await eventually('the end arrives', () => Promise.resolve(webhook.delivered().length > 1));
  expect(webhook.delivered()).toEqual(['problem late', 'recovered late']);
});

it('a run that works and settles nothing is reported as stalled', async () => {
  shop.write('sync.yaml', `${SYNC_YAML}${ALERTS}limits: { stalled: 30m }\n`);
  let refused = 0;
  let refuses = true;
  shop.proxy.fail(({ upload }) =>
    upload && refuses && ++refused ? { forward: false, answer: { status: 503, body: '{}' } } : undefined,
  );
  const run = await shop.start('sync', { sync: SYNC });
  onTestFinished(async () => void (await run.terminate()));
  await eventually('it has begun to send', () => Promise.resolve(refused > 0));
  await run.executeUpdate('pause');
  refuses = false;
  await eventually('its time slice has ended, and so nothing touches its partitions', async () => {
    const { raw } = await run.describe();
    return (raw.pendingActivities ?? []).length === 0;
  });
  await shop.state.query(`UPDATE partner_sync.runs SET started_at = started_at - interval '2 h'`);
  await evaluate();
  expect(webhook.delivered()).toEqual([]);
  await shop.state.query(
    `UPDATE partner_sync.partitions SET started_at = started_at - interval '2 h', updated_at = updated_at - interval '31 min'`,
  );
  await evaluate();
  expect(webhook.delivered()).toEqual(['problem stalled']);
});

it('each target is notified of what it subscribed to, and a new one of what is wrong and not of what was', async () => {
  const second = await startWebhook();
  await fail();
  await succeed();
  shop.write(
    'sync.yaml',
    `${SYNC_YAML}alerts:\n  - { webhook: '${webhook.url}' }\n  - { webhook: '${second.url}', on: [late, dead-letters] }
limits: { success: 1s, deadLetters: 0 }\n`,
  );
  await shop.source.query(`UPDATE shop.customers SET status = 'X', updated_at = now() WHERE id = 1`);
  await shop.run();
  await eventually('the second has been notified', () => Promise.resolve(second.delivered().length > 0));
  await evaluate();
  expect(second.delivered().filter((text) => !text.endsWith('late'))).toEqual(['problem dead-letters']);
  expect(webhook.delivered()).toEqual(
    expect.arrayContaining(['problem failing', 'recovered failing', 'problem dead-letters']),
  );
  expect(second.delivered()).not.toContain('recovered failing');
});

it('nothing of rows, ids or addresses is in a notification, in the ledger or in the history of Temporal', async () => {
  webhook.answer = { status: 404, body: `Cannot POST /hooks/${SECRET}` };
  await shop.source.query(
    `UPDATE shop.customers SET status = 'Hush', name = 'Ada Private', updated_at = now() WHERE id = 2`,
  );
  shop.write('sync.yaml', `${SYNC_YAML}${ALERTS}limits: { deadLetters: 0 }\n`);
  await shop.run();
  await eventually('it was tried', () => Promise.resolve(webhook.received.length > 0));
  const [workflowId] = await deliveries();
  const pending = await failedAttempt(workflowId!);
  expect(pending.lastFailure!.message).toBe(
    'shop could not notify alerts[0] (webhook): it responded with 404: there is no such address; was it revoked, or mistyped?',
  );
  webhook.answer = { status: 200 };
  await delivered();
  await evaluate();
  expect(webhook.delivered()).toEqual(['problem dead-letters']);

  const kept = await shop.state.query(
    `SELECT row_to_json(a)::text AS text FROM partner_sync.alerts a UNION ALL SELECT row_to_json(d)::text FROM partner_sync.alert_deliveries d`,
  );
  const history = await shop.client.workflow.getHandle(workflowId!).fetchHistory();
  const seen = JSON.stringify([history, webhook.received.map(({ body }) => body), kept, pending]);
  for (const hidden of [SECRET, 'Ada', 'Hush', 'c2@example.org', webhook.url]) expect(seen).not.toContain(hidden);
  expect(history.events!.length).toBeLessThan(15);
});

it('a target that asks for a pause is left alone until then, and does not hold up another one', async () => {
  const second = await startWebhook();
  shop.write('sync.yaml', `${SYNC_YAML}alerts: [{ webhook: '${second.url}' }, { webhook: '${webhook.url}' }]\n`);
  second.answer = { status: 429, headers: { 'retry-after': '1800' } };
  await fail();
  const [workflowId] = await deliveries();
  const { nextAttemptScheduleTime: next, lastAttemptCompleteTime: last } = await failedAttempt(workflowId!);
  expect(Number(next!.seconds) - Number(last!.seconds)).toBeGreaterThan(1700);
  await succeed();
  await eventually('the other one is notified', () => Promise.resolve(webhook.delivered().length > 1));
  expect(webhook.delivered()).toEqual(['problem failing', 'recovered failing']);
  expect(second.received).toHaveLength(1);
});

it('a sync.yaml whose other parts are broken still tells that its runs fail', async () => {
  shop.write('sync.yaml', `${SYNC_YAML.replace('tenant:', 'tennant:')}${ALERTS}`);
  await failureOf(await shop.start('sync', { sync: SYNC }));
  await eventually('the notification arrives', () => Promise.resolve(webhook.delivered().length > 0));
  expect(webhook.delivered()).toEqual(['problem failing']);

  shop.write('sync.yaml', `${SYNC_YAML}alerts: [{ webhook: '\${env:NOT_SET}' }]\n`);
  expect(await evaluate()).toMatchObject({ syncs: 0, unreadable: [SYNC] });
});

it('a ping address is not called while the alerts of a sync that has it cannot be read', async () => {
  const [ping, ownPing] = [await startWebhook(), await startWebhook()];
  mkdirSync(join(shop.folder, 'shop-two'));
  writeFileSync(
    join(shop.folder, 'shop-two', 'sync.yaml'),
    `${SYNC_YAML}alerts: [{ ping: '${ping.url}' }, { ping: '${ownPing.url}/two' }]\n`,
  );
  const called = async (alerts: string): Promise<number[]> => {
    shop.write('sync.yaml', SYNC_YAML + alerts);
    const before = [ping, ownPing].map(({ received }) => received.length);
    await evaluate();
    return [ping, ownPing].map(({ received }, at) => received.length - before[at]!);
  };
  expect(await called(`alerts: [{ ping: '${ping.url}' }]\n`)).toEqual([1, 1]);
  expect(await called(`alerts: [{ webhook: '\${env:NOT_SET}' }, { ping: '${ping.url}' }]\n`)).toEqual([0, 1]);
  expect(await called(`alerts: [{ ping: '${ping.url}'\n`)).toEqual([0, 1]);
  expect(await called(`alerts: [{ webhook: '\${env:NOT_SET}' }]\n`)).toEqual([1, 1]);
});

it('the ping address is called after each evaluation, and not if the ledger cannot be queried', async () => {
  const ping = await startWebhook();
  shop.write('sync.yaml', `${SYNC_YAML}alerts: [{ ping: '${ping.url}' }]\n`);
  await evaluate();
  await evaluate();
  expect(ping.received.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(2).fill(`GET /hooks/${SECRET}`));

  ping.answer = { status: 503 };
  expect(await evaluate()).toMatchObject({ pingsUnanswered: ['shop: alerts[0] (ping)'] });
  await shop.state.query('ALTER TABLE partner_sync.runs RENAME TO gone');
  const failed = await failureOf(
    await shop.client.workflow.start('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() }),
  );
  expect(failed.type).toBe('state_refused');
  expect(ping.received).toHaveLength(3);
});

it('a sync that cannot be evaluated keeps no other one from it; the ping stays away for that sync alone', async () => {
  const [other, ping, otherPing] = [await startWebhook(), await startWebhook(), await startWebhook()];
  shop.write('sync.yaml', `${SYNC_YAML}alerts: [{ webhook: '${webhook.url}' }, { ping: '${ping.url}' }]\n`);
  // Evaluated after the first one.
  mkdirSync(join(shop.folder, 'shop-two'));
  const alerts = `alerts: [{ webhook: '${other.url}' }, { ping: '${otherPing.url}' }]\nlimits: { success: 2h }\n`;
  writeFileSync(join(shop.folder, 'shop-two', 'sync.yaml'), SYNC_YAML + alerts);
  await evaluate();
  await shop.state.query(
    `UPDATE partner_sync.awaited_syncs SET since = since - interval '3 h' WHERE sync = 'shop-two';
     CREATE FUNCTION partner_sync.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON partner_sync.alerts FOR EACH ROW WHEN (NEW.sync = 'shop') EXECUTE FUNCTION partner_sync.refuse()`,
  );
  await fail();

  const watch = await shop.client.workflow.start('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() });
  expect((await failedAttempt(watch.workflowId)).lastFailure!.message).toMatch(/^shop: /);
  await watch.terminate();
  await eventually('the other is notified', () => Promise.resolve(other.delivered().length > 0));
  expect(other.delivered()).toEqual(['problem late']);
  expect(webhook.received).toEqual([]);
  // Once with both, and then by itself.
  expect(otherPing.received.length).toBeGreaterThan(1);
  expect(ping.received).toHaveLength(1);
});

it('a notification whose worker is killed while it sends it arrives by another one, soon', async () => {
  await shop.rest();
  webhook.answer = 'nothing';
  const first = await startWorkerProcess(shop);
  onTestFinished(() => void first.child.kill('SIGKILL'));
  await fail();
  await eventually('it is being sent', () => Promise.resolve(webhook.received.length > 0));
  first.child.kill('SIGKILL');
  webhook.answer = { status: 200 };
  await shop.work();
  await eventually('it arrives', () => Promise.resolve(webhook.delivered().length > 0));
  expect(webhook.delivered()).toEqual(['problem failing']);
});
