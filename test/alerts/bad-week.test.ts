/**
 * A bad week of a sync: what goes wrong is told by a notice and shown by a metric, nothing wrong is sent, and each day
 * ends as docs/something-is-wrong.md says.
 */
import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { scrape, startMeasuredWorker, valuesOf, type MeasuredWorker } from '../observability/scrape.js';
import { eventually, failureOf, fill, openShop, reportOf, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { build } from '../pipeline/worker-process.js';
import { startWebhook, type Webhook } from './targets.js';

beforeAll(build, 120_000);

/** A way to the source that can be closed. */
async function startGate(url: string) {
  const target = new URL(url);
  const open = new Set<Socket>();
  let closed = false;
  const server = createServer((client) => {
    if (closed) return void client.destroy();
    const source = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, source]) {
      open.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(socket);
          client.destroy();
          source.destroy();
        });
    }
    client.pipe(source).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const shut = (): void => {
    closed = true;
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => {
    shut();
    server.close();
  });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return { url: through.href, shut, reopen: () => void (closed = false) };
}

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
  readonly gate: Awaited<ReturnType<typeof startGate>>;
}

async function week(): Promise<Week> {
  const webhook = await startWebhook();
  const files = {
    'sync.yaml': SYNC_YAML,
    'customers.mapping.yaml': CUSTOMERS.replace('fields:', 'deletes: { action: { set: { status: gone } } }\nfields:'),
  };
  const shop = await openShop({ files, env: { ALERT_URL: webhook.url } });
  onTestFinished(() => shop.close());
  const gate = await startGate(shop.source.url);
  const worker = await startMeasuredWorker(shop, { SOURCE_URL: gate.url });
  await fill(shop, 10);
  expect((await shop.run()).outcome).toBe('complete');
  return { shop, webhook, worker, gate };
}

const onPlatform = ({ shop }: Week) =>
  shop.store.query('SELECT schema_id, tenant_id, external_id, data::text FROM sandbox.resources ORDER BY 1, 2, 3');

/** Looks as the watch schedule does each minute, until the webhook has been told. */
async function told({ shop, webhook }: Week, notice: string): Promise<void> {
  await eventually(`told: ${notice}`, async () => {
    await shop.client.workflow.execute('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() });
    return webhook.told().includes(notice);
  });
}

/** Waits until a metric has this value, by its labels. */
const shown = ({ worker }: Week, metric: string, labels: string, isSo: (value: number | undefined) => boolean) =>
  eventually(`${metric} is shown`, async () => isSo(valuesOf(await scrape(worker.url), metric)[labels]));

/** The day is over: source and platform agree, and nothing is wrong. */
async function allWell(days: Week): Promise<void> {
  const { shop, webhook } = days;
  expect(await reportOf(await shop.start('sync', { sync: SYNC }))).toMatchObject({ outcome: 'complete' });
  await told(days, webhook.told()[0]!.replace('problem', 'recovered'));
  expect(await shop.differences()).toBe(0);
  expect((await runInProcess(['status', SYNC], shop.env)).code).toBe(0);
}

const change = ({ shop }: Week, total: number) =>
  shop.source.query(`UPDATE shop.orders SET total = $1, updated_at = clock_timestamp() WHERE no = 'o3'`, [total]);

it('the source is gone at night: the run is told to be retrying, and continues when the source is back', async () => {
  const monday = await week();
  const before = await onPlatform(monday);
  monday.gate.shut();
  const run = await monday.shop.start('sync', { sync: SYNC });
  await told(monday, 'problem retrying');
  await shown(monday, 'retrying_since_timestamp_seconds', 'shop source_unreachable', (since) => since !== undefined);
  expect(monday.webhook.notices()[0]!.what).toContain('source_unreachable');
  expect(await onPlatform(monday)).toEqual(before);
  monday.gate.reopen();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  await allWell(monday);
});

it('the token has expired: the run fails, and the next one delivers what it left', async () => {
  const tuesday = await week();
  await change(tuesday, 111);
  const before = await onPlatform(tuesday);
  tuesday.shop.proxy.fail(() => ({ forward: false, answer: { status: 401, body: '{}' } }));
  expect(await failureOf(await tuesday.shop.start('sync', { sync: SYNC }))).toMatchObject({
    type: 'platform_unauthorized',
  });
  await told(tuesday, 'problem failing');
  await shown(tuesday, 'last_run', 'shop failed', (is) => is === 1);
  expect(await onPlatform(tuesday)).toEqual(before);
  tuesday.shop.proxy.fail(undefined);
  await allWell(tuesday);
  expect(await tuesday.shop.stored('order', 'o3')).toMatchObject({ total: 111 });
});

it('a column is dropped: its mapping stops, and continues when the column is back', async () => {
  const wednesday = await week();
  const before = await onPlatform(wednesday);
  await wednesday.shop.source.query('ALTER TABLE shop.customers RENAME COLUMN email TO mail');
  expect(await reportOf(await wednesday.shop.start('sync', { sync: SYNC }))).toMatchObject({
    outcome: 'incomplete',
    stopped: expect.arrayContaining([expect.objectContaining({ mapping: 'customers' })]) as object[],
  });
  await told(wednesday, 'problem incomplete');
  await shown(wednesday, 'last_run', 'shop incomplete', (is) => is === 1);
  expect(await onPlatform(wednesday)).toEqual(before);
  await wednesday.shop.source.query('ALTER TABLE shop.customers RENAME COLUMN mail TO email');
  await allWell(wednesday);
});

it('the platform throttles: the run is told to be retrying, and ends when requests are taken again', async () => {
  const thursday = await week();
  await change(thursday, 222);
  const before = await onPlatform(thursday);
  thursday.shop.proxy.fail(() => ({
    forward: false,
    answer: { status: 429, headers: { 'retry-after': '4' }, body: '{}' },
  }));
  const run = await thursday.shop.start('sync', { sync: SYNC });
  await told(thursday, 'problem retrying');
  expect(thursday.webhook.notices()[0]!.what).toContain('platform_busy');
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
  await told(friday, 'problem awaiting-approval');
  await shown(friday, 'removal_plans_awaiting_approval', 'shop', (plans) => plans === 1);
  expect(await onPlatform(friday)).toEqual(before);
  // It was a mistake: the run is cancelled, and the rows are brought back.
  await run.cancel();
  await expect(run.result()).rejects.toThrow();
  await source.query('INSERT INTO shop.customers SELECT * FROM shop.backup');
  await allWell(friday);
  expect(await onPlatform(friday)).toEqual(before);
});
