/**
 * What is retried in place is told within two minutes, by notification and metric: with default limits, and the watch schedule
 * as `schedules apply` creates it. This is promised, so here a test may depend on the clock.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { watchScheduleId } from '../../src/cli/schedules/watch-schedule.js';
import { runInProcess } from '../cli/in-process.js';
import { look, startMeasuredWorker, type MeasuredWorker } from '../observability/scrape.js';
import { startTcpProxy } from '../observability/tcp-proxy.js';
import { eventually, fill, openShop, reportOf, type Shop } from '../pipeline/shop.js';
import { createNamespace } from '../temporal-namespace.js';
import { filesOf } from '../pipeline/shop-files.js';
import { build } from '../pipeline/worker-process.js';
import { startWebhook, type Webhook } from './targets.js';

beforeAll(build, 120_000);

/** Seconds. */
const PROMISED = 120;

/** Something that goes wrong with a sync, until it ends. The sync delivers to the tenant of its name. */
interface Fault {
  readonly sync: string;
  readonly code: string;
  readonly end: () => void;
}

interface Watched {
  readonly shop: Shop;
  readonly webhook: Webhook;
  readonly worker: MeasuredWorker;
}

/** A worker with these syncs of three customers, which have nothing but defaults, and their watch schedule. */
async function watched(syncs: readonly string[], more: (shop: Shop) => Promise<object>): Promise<Watched> {
  const webhook = await startWebhook();
  const shop = await openShop({
    tenants: syncs,
    env: { ALERT_URL: webhook.url, TEMPORAL_NAMESPACE: await createNamespace() },
  });
  onTestFinished(() => shop.close());
  await fill(shop, 3);
  const { 'customers.mapping.yaml': mapping, 'customer.schema.json': definition } = filesOf({});
  for (const sync of syncs) {
    const write = (file: string, text: string): void => writeFileSync(join(shop.folder, sync, file), text);
    mkdirSync(join(shop.folder, sync));
    write('customers.mapping.yaml', mapping!);
    write('customer.schema.json', definition!);
    write(
      'sync.yaml',
      `source: { connection: '\${env:SOURCE_OF_${sync.toUpperCase()}}' }\ntenant: ${sync}\nalerts: [{ webhook: '\${env:ALERT_URL}' }]\n`,
    );
  }
  const sources = Object.fromEntries(syncs.map((sync) => [`SOURCE_OF_${sync.toUpperCase()}`, shop.source.url]));
  const env = { ...sources, ...(await more(shop)) };
  const worker = await startMeasuredWorker(shop, env);
  const { code, stderr } = await runInProcess(['schedules', 'apply', syncs[0]!], { ...shop.env, ...env });
  expect(code, stderr).toBe(0);
  onTestFinished(() => shop.client.schedule.getHandle(watchScheduleId(shop.taskQueue)).delete());
  return { shop, webhook, worker };
}

/** Runs the sync, whose fault ends when people have been told. Returns after how many seconds that was. */
async function toldOf({ shop, webhook, worker }: Watched, { sync, code, end }: Fault): Promise<number> {
  const began = performance.now();
  const run = await shop.start('sync', { sync });
  const sent = (state: string) => () =>
    Promise.resolve(webhook.notifications().find((each) => each.sync === sync && each.state === state));
  const { problem, what } = await eventually(`a notification of ${sync}`, sent('problem'), PROMISED);
  const seconds = (performance.now() - began) / 1000;
  expect({ problem, what }).toEqual({ problem: 'retrying', what: expect.stringContaining(code) as string });
  const metric = `partner_sync_retrying_since_timestamp_seconds{sync="${sync}",code="${code}"} `;
  const isShown = async (): Promise<boolean> => (await look(worker.url, '/metrics')).text.includes(metric);
  await eventually(`the metric of ${sync}`, isShown, PROMISED - seconds);
  expect(await shop.store.query('SELECT FROM sandbox.resources WHERE tenant_id = $1', [sync])).toEqual([]);
  end();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete', total: { accepted: 3 } });
  await eventually(`the end of the problem of ${sync}`, sent('recovered'));
  return seconds;
}

it('tells of a token that expired, a platform that throttles or fails, and a source that drops packets', async () => {
  // All requests of a process wait for its token, so this one has a worker of its own.
  const renewing = await watched(['token'], ({ folder, token }) => {
    const PLATFORM_TOKEN_FILE = join(folder, 'platform-token');
    writeFileSync(PLATFORM_TOKEN_FILE, token);
    return Promise.resolve({ PLATFORM_TOKEN: '', PLATFORM_TOKEN_FILE });
  });
  let way: Awaited<ReturnType<typeof startTcpProxy>>;
  const others = await watched(['busy', 'broken', 'silent'], async ({ source }) => {
    const url = new URL(source.url);
    way = await startTcpProxy(`${url.hostname}:${url.port || '5432'}`);
    url.host = way.address;
    return { SOURCE_OF_SILENT: url.href };
  });
  renewing.shop.proxy.fail(() => ({ forward: false, answer: { status: 401, body: '{}' } }));
  const failing = new Map([
    ['busy', 429],
    ['broken', 500],
  ]);
  others.shop.proxy.fail(({ upload, tenant = '' }) => {
    const status = upload ? failing.get(tenant) : undefined;
    return status === undefined ? undefined : { forward: false, answer: { status, body: '{}' } };
  });
  way!.silence();

  const seconds = await Promise.all([
    toldOf(renewing, { sync: 'token', code: 'platform_unauthorized', end: () => renewing.shop.proxy.fail(undefined) }),
    toldOf(others, { sync: 'busy', code: 'platform_busy', end: () => failing.delete('busy') }),
    toldOf(others, { sync: 'broken', code: 'platform_failed', end: () => failing.delete('broken') }),
    toldOf(others, { sync: 'silent', code: 'source_unreachable', end: () => way.restore() }),
  ]);

  for (const each of seconds) expect(each).toBeLessThan(PROMISED);
}, 300_000);
