/** People are told once that something is wrong with a sync, once a day that it still is, and once that it is over. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { WatchResult } from '../../src/domain/alerts.js';
import { loadAlerts } from '../../src/mapping/load-alerts.js';
import { alertsWorkflowId } from '../../src/domain/work.js';
import { eventually, failureOf, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { SECRET, startWebhook, type Webhook } from './targets.js';

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

/** One look of the watch, and the delivery of what it found. */
async function look(): Promise<WatchResult> {
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
  const targets = settings === null || settings === 'unreadable' ? [] : settings.targets;
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

it('a run that fails is told once, at its end, however often it is looked at and fails again', async () => {
  await fail();
  await eventually('the notice arrives', () => Promise.resolve(webhook.told().length > 0));
  expect(await look()).toEqual({ syncs: 1, wrong: 1, unreadable: [], pingsUnanswered: [] });
  await fail();
  await look();
  await delivered();

  expect(webhook.told()).toEqual(['problem failing']);
  const [notice] = webhook.notices();
  const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
  expect(notice).toEqual({
    version: 1,
    id: `shop/failing/${notice!.since}/1`,
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

it('the end of a problem is told once, and a problem that comes back is told again', async () => {
  await fail();
  await eventually('the notice arrives', () => Promise.resolve(webhook.told().length > 0));
  await succeed();
  await eventually('the end arrives', () => Promise.resolve(webhook.told().length > 1));
  await look();
  await look();
  expect(webhook.told()).toEqual(['problem failing', 'recovered failing']);
  expect(webhook.notices()[1]).toMatchObject({ key: 'shop/failing', endedAt: expect.any(String) as string, open: [] });

  await fail();
  await look();
  expect(webhook.told()).toEqual(['problem failing', 'recovered failing', 'problem failing']);
  expect(new Set(webhook.notices().map(({ id }) => id)).size).toBe(3);
});

it('a problem that lasts is told again each day', async () => {
  await fail();
  await look();
  await pass('23 h');
  await look();
  expect(webhook.told()).toEqual(['problem failing']);
  await pass('1 h');
  await look();
  await look();
  expect(webhook.told()).toEqual(['problem failing', 'reminder failing']);
  await pass('1 d');
  await look();
  expect(webhook.told()).toEqual(['problem failing', 'reminder failing', 'reminder failing']);
});

it('a notice survives a webhook that is down, and arrives once', async () => {
  webhook.answer = null;
  await fail();
  await eventually('it was tried twice', () => Promise.resolve(webhook.received.length > 1));
  expect(webhook.told()).toEqual([]);
  webhook.answer = { status: 200 };
  await delivered();
  await look();
  expect(webhook.told()).toEqual(['problem failing']);
});

it('a problem that was over before its target could be told is told once, with its end', async () => {
  webhook.answer = { status: 500 };
  await fail();
  await eventually('it was tried', () => Promise.resolve(webhook.received.length > 0));
  await succeed();
  webhook.answer = { status: 200 };
  await delivered();
  await look();
  expect(webhook.told()).toEqual(['recovered failing']);
});

it('a sync that is not run any more is told to be late, with no run and no schedule at all', async () => {
  shop.write('sync.yaml', `${SYNC_YAML}${ALERTS}limits: { success: 2h }\n`);
  await succeed();
  await look();
  expect(webhook.told()).toEqual([]);
  await shop.state.query(
    `UPDATE partner_sync.runs SET started_at = started_at - interval '3 h', ended_at = ended_at - interval '3 h'`,
  );
  await look();
  await look();
  expect(webhook.notices()).toMatchObject([
    { state: 'problem', problem: 'late', what: 'the last success was 3h 0m ago (limit 2h 0m)' },
  ]);
});

it('a sync that has never run is told to be late by its own limit, from the first look on', async () => {
  await look();
  shop.write('sync.yaml', `${SYNC_YAML}${ALERTS}limits: { success: 2h }\n`);
  await look();
  expect(webhook.told()).toEqual([]);
  await shop.state.query(`UPDATE partner_sync.awaited_syncs SET since = since - interval '3 h'`);
  await look();
  expect(webhook.notices()).toMatchObject([
    { problem: 'late', what: 'it has never run, and was first looked at 3h 0m ago (limit 2h 0m)' },
  ]);
  await succeed();
  await eventually('the end arrives', () => Promise.resolve(webhook.told().length > 1));
  expect(webhook.told()).toEqual(['problem late', 'recovered late']);
});

it('a run that works and settles nothing is told to be stalled', async () => {
  shop.write('sync.yaml', `${SYNC_YAML}${ALERTS}limits: { stalled: 30m }\n`);
  await succeed();
  await shop.state.query(`UPDATE partner_sync.runs SET ended_at = NULL, started_at = started_at - interval '2 h'`);
  await look();
  expect(webhook.told()).toEqual([]);
  await shop.state.query(
    `UPDATE partner_sync.partitions SET started_at = started_at - interval '2 h', updated_at = updated_at - interval '31 min'`,
  );
  await look();
  expect(webhook.told()).toEqual(['problem stalled']);
});

it('each target is told what it asked for, and one that is new is told what is wrong and not what was', async () => {
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
  await eventually('the second has been told', () => Promise.resolve(second.told().length > 0));
  await look();
  expect(second.told().filter((told) => !told.endsWith('late'))).toEqual(['problem dead-letters']);
  expect(webhook.told()).toEqual(
    expect.arrayContaining(['problem failing', 'recovered failing', 'problem dead-letters']),
  );
  expect(second.told()).not.toContain('recovered failing');
});

it('nothing of rows, ids or addresses is in a notice, in the ledger or in the history of Temporal', async () => {
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
    'shop could not tell alerts[0] (webhook): it responded with 404: there is no such address; was it revoked, or mistyped?',
  );
  webhook.answer = { status: 200 };
  await delivered();
  await look();
  expect(webhook.told()).toEqual(['problem dead-letters']);

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
  await eventually('the other one is told', () => Promise.resolve(webhook.told().length > 1));
  expect(webhook.told()).toEqual(['problem failing', 'recovered failing']);
  expect(second.received).toHaveLength(1);
});

it('a sync.yaml whose other parts are broken still tells that its runs fail', async () => {
  shop.write('sync.yaml', `${SYNC_YAML.replace('tenant:', 'tennant:')}${ALERTS}`);
  await failureOf(await shop.start('sync', { sync: SYNC }));
  await eventually('the notice arrives', () => Promise.resolve(webhook.told().length > 0));
  expect(webhook.told()).toEqual(['problem failing']);

  shop.write('sync.yaml', `${SYNC_YAML}alerts: [{ webhook: '\${env:NOT_SET}' }]\n`);
  expect(await look()).toMatchObject({ syncs: 0, unreadable: [SYNC] });
});

it('the ping address is called after each look, and not if the ledger cannot be asked', async () => {
  const ping = await startWebhook();
  shop.write('sync.yaml', `${SYNC_YAML}alerts: [{ ping: '${ping.url}' }]\n`);
  await look();
  await look();
  expect(ping.received.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(2).fill(`GET /hooks/${SECRET}`));

  ping.answer = { status: 503 };
  expect(await look()).toMatchObject({ pingsUnanswered: ['shop: alerts[0] (ping)'] });
  await shop.state.query('ALTER TABLE partner_sync.runs RENAME TO gone');
  const failed = await failureOf(
    await shop.client.workflow.start('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() }),
  );
  expect(failed.type).toBe('state_refused');
  expect(ping.received).toHaveLength(3);
});
