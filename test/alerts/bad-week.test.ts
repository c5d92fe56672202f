/**
 * A bad week of a sync: what goes wrong is sent as a notification and shown by a metric, nothing wrong is sent, and each day
 * ends as docs/something-is-wrong.md says. On Monday the source is gone, which within-two-minutes.test.ts is about.
 */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { scrape, startMeasuredWorker, valuesOf, type MeasuredWorker } from '../observability/scrape.js';
import { eventually, failureOf, fill, openShop, reportOf, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { build } from '../pipeline/worker-process.js';
import { startWebhook, type Webhook } from './targets.js';

beforeAll(build, 120_000);

const SYNC_YAML = `${filesOf({ upload: { waitForPending: '1s' } })['sync.yaml']!}
mode: mirror
guard: { changed: 100 %, deadLettered: 50 %, gone: 10 %, records: 3 }
limits: { retrying: 1s }
alerts: [{ webhook: '\${env:ALERT_URL}' }]
`;
const CUSTOMERS = filesOf({})['customers.mapping.yaml']!;

interface Week {
  readonly shop: Shop;
  readonly webhook: Webhook;
  readonly worker: MeasuredWorker;
}

async function week(): Promise<Week> {
  const webhook = await startWebhook();
  const files = {
    'sync.yaml': SYNC_YAML,
    'customers.mapping.yaml': CUSTOMERS.replace('fields:', 'deletes: { action: { set: { status: gone } } }\nfields:'),
  };
  const shop = await openShop({ files, env: { ALERT_URL: webhook.url } });
  onTestFinished(() => shop.close());
  const worker = await startMeasuredWorker(shop);
  await fill(shop, 10);
  expect((await shop.run()).outcome).toBe('complete');
  return { shop, webhook, worker };
}

const onPlatform = ({ shop }: Week) =>
  shop.store.query('SELECT schema_id, tenant_id, external_id, data::text FROM sandbox.resources ORDER BY 1, 2, 3');

/** Evaluates alerts as the watch schedule does each minute, until the webhook has got the notification. */
async function notified({ shop, webhook }: Week, notification: string): Promise<void> {
  await eventually(`notified: ${notification}`, async () => {
    await shop.client.workflow.execute('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() });
    return webhook.delivered().includes(notification);
  });
}

/** Waits until a metric has this value, by its labels. */
const shown = ({ worker }: Week, metric: string, labels: string, isSo: (value: number | undefined) => boolean) =>
  eventually(`${metric} is shown`, async () => isSo(valuesOf(await scrape(worker.url), metric)[labels]));

/** The day is over: source and platform agree, and nothing is wrong. */
async function allWell(days: Week): Promise<void> {
  const { shop, webhook } = days;
  expect(await reportOf(await shop.start('sync', { sync: SYNC }))).toMatchObject({ outcome: 'complete' });
  await notified(days, webhook.delivered()[0]!.replace('problem', 'recovered'));
  expect(await shop.differences()).toBe(0);
  expect((await runInProcess(['status', SYNC], shop.env)).code).toBe(0);
}

const change = ({ shop }: Week, total: number) =>
  shop.source.query(`UPDATE shop.orders SET total = $1, updated_at = clock_timestamp() WHERE no = 'o3'`, [total]);

it('the token has expired and cannot be renewed: the run fails, and the next one delivers what it left', async () => {
  const tuesday = await week();
  await change(tuesday, 111);
  const before = await onPlatform(tuesday);
  tuesday.shop.proxy.fail(() => ({ forward: false, answer: { status: 401, body: '{}' } }));
  expect(await failureOf(await tuesday.shop.start('sync', { sync: SYNC }))).toMatchObject({
    type: 'platform_unauthorized',
  });
  await notified(tuesday, 'problem failing');
  await shown(tuesday, 'last_run', 'shop failed', (is) => is === 1);
  expect(await onPlatform(tuesday)).toEqual(before);
  tuesday.shop.proxy.fail(undefined);
  await allWell(tuesday);
  expect(await tuesday.shop.stored('order', 'o3')).toMatchObject({ total: 111 });
});

it('a column is dropped: its mapping is skipped, and continues when the column is back', async () => {
  const wednesday = await week();
  const before = await onPlatform(wednesday);
  await wednesday.shop.source.query('ALTER TABLE shop.customers RENAME COLUMN email TO mail');
  expect(await reportOf(await wednesday.shop.start('sync', { sync: SYNC }))).toMatchObject({
    outcome: 'incomplete',
    skipped: expect.arrayContaining([expect.objectContaining({ mapping: 'customers' })]) as object[],
  });
  await notified(wednesday, 'problem incomplete');
  await shown(wednesday, 'last_run', 'shop incomplete', (is) => is === 1);
  expect(await onPlatform(wednesday)).toEqual(before);
  await wednesday.shop.source.query('ALTER TABLE shop.customers RENAME COLUMN mail TO email');
  await allWell(wednesday);
});

it('the platform throttles: the run is reported as retrying, and ends when requests are taken again', async () => {
  const thursday = await week();
  await change(thursday, 222);
  const before = await onPlatform(thursday);
  thursday.shop.proxy.fail(() => ({
    forward: false,
    answer: { status: 429, headers: { 'retry-after': '4' }, body: '{}' },
  }));
  const run = await thursday.shop.start('sync', { sync: SYNC });
  await notified(thursday, 'problem retrying');
  expect(thursday.webhook.notifications()[0]!.what).toContain('platform_busy');
  await shown(
    thursday,
    'platform_request_duration_seconds_count',
    'uploadResources 4xx',
    (n) => n !== undefined && n > 0,
  );
  expect(await onPlatform(thursday)).toEqual(before);
  thursday.shop.proxy.fail(undefined);
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  await allWell(thursday);
  expect(await thursday.shop.stored('order', 'o3')).toMatchObject({ total: 222 });
});

it('somebody deletes 40 % of a table: no record is removed before somebody approves', async () => {
  const friday = await week();
  const { source } = friday.shop;
  const before = await onPlatform(friday);
  await source.query('CREATE TABLE shop.backup AS SELECT * FROM shop.customers WHERE id > 6');
  await source.query('DELETE FROM shop.customers WHERE id > 6');
  const run = await friday.shop.start('sync', { sync: SYNC });
  await notified(friday, 'problem awaiting-approval');
  await shown(friday, 'removal_plans_awaiting_approval', 'shop', (plans) => plans === 1);
  expect(await onPlatform(friday)).toEqual(before);
  // It was a mistake: the run is cancelled, and the rows are brought back.
  await run.cancel();
  await expect(run.result()).rejects.toThrow();
  await source.query('INSERT INTO shop.customers SELECT * FROM shop.backup');
  await allWell(friday);
  expect(await onPlatform(friday)).toEqual(before);
});
