/** The same sync of several partners, each with a table of its own, with the limits and schedules that operators have by default. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { watchScheduleId } from '../../src/cli/schedules/watch-schedule.js';
import { runInProcess } from '../cli/in-process.js';
import { startPrometheus, type PrometheusServer } from '../observability/prometheus-server.js';
import { startMeasuredWorker } from '../observability/scrape.js';
import { startTcpProxy } from '../observability/tcp-proxy.js';
import { openShop, reportOf } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { createNamespace } from '../temporal-namespace.js';
import { tableOf, type World } from './faults-of-the-week.js';
import { startWebhook, type Webhook } from './targets.js';

export interface Week extends World {
  readonly webhook: Webhook;
  readonly prometheus: PrometheusServer;
}

/** All requests of a process wait for its token, so this sync has a worker of its own, with a task queue and a folder. */
const OWN_WORKER = 'expired';

/** Opens them, each with 300 customers that are delivered, and with workers that Prometheus scrapes. */
export async function openWeek(syncs: readonly string[]): Promise<Week> {
  const webhook = await startWebhook();
  const env = { ALERT_URL: webhook.url, TEMPORAL_NAMESPACE: await createNamespace() };
  const shop = await openShop({ tenants: syncs, env });
  onTestFinished(() => shop.close());
  const own = mkdtempSync(join(tmpdir(), 'bad-week-'));
  onTestFinished(() => rmSync(own, { recursive: true }));
  const tokenFile = join(own, 'platform-token');
  writeFileSync(tokenFile, shop.token);

  const source = new URL(shop.source.url);
  const wayToSource = () => startTcpProxy(`${source.hostname}:${source.port || '5432'}`);
  const ways = { gone: await wayToSource(), silent: await wayToSource() };
  const shared: Record<string, string> = { ...shop.env };
  for (const sync of syncs) shared[sourceOf(sync)] = source.href;
  for (const [sync, { address }] of Object.entries(ways))
    shared[sourceOf(sync)] = Object.assign(new URL(source), { host: address }).href;
  const apart = {
    ...shared,
    PARTNER_SYNC_MAPPINGS: own,
    PARTNER_SYNC_TASK_QUEUE: `${shop.taskQueue}-own`,
    PLATFORM_TOKEN: '',
    PLATFORM_TOKEN_FILE: tokenFile,
  };
  const envOf: Week['envOf'] = (sync) => (sync === OWN_WORKER ? apart : shared);
  const fileOf: Week['fileOf'] = (sync, file) => join(envOf(sync)['PARTNER_SYNC_MAPPINGS']!, sync, file);

  for (const sync of syncs) {
    await shop.source.query(
      `CREATE TABLE ${tableOf(sync)} (LIKE shop.customers INCLUDING ALL);
       INSERT INTO ${tableOf(sync)} (id, name, email, status)
       SELECT i, 'Customer ' || i, 'c' || i || '@example.org', 'A' FROM generate_series(1, 300) i`,
    );
    mkdirSync(fileOf(sync, ''));
    for (const [file, text] of Object.entries(syncFiles(sync))) writeFileSync(fileOf(sync, file), text);
  }
  const workers = [await startMeasuredWorker(shop, shared), await startMeasuredWorker(shop, apart)];
  // As often as docs/monitoring.md says.
  const prometheus = await startPrometheus(
    workers.map(({ url }) => url),
    { every: '15s' },
  );
  onTestFinished(() => prometheus.stop());

  const refusals = new Map<string, number>();
  shop.proxy.fail(({ upload, tenant = '' }) => {
    const status = upload ? refusals.get(tenant) : undefined;
    return status === undefined ? undefined : { forward: false, answer: { status, body: '{}' } };
  });
  const first = syncs.map(async (sync) => {
    const [taskQueue, workflowId] = [envOf(sync)['PARTNER_SYNC_TASK_QUEUE']!, `first-of-${sync}`];
    return reportOf(await shop.client.workflow.start('sync', { taskQueue, workflowId, args: [{ sync }] }));
  });
  for (const report of await Promise.all(first)) expect(report).toMatchObject({ outcome: 'complete' });
  return { shop, webhook, prometheus, ways, tokenFile, refusals, envOf, fileOf };
}

const sourceOf = (sync: string): string => `SOURCE_OF_${sync.toUpperCase()}`;

function syncFiles(sync: string): Record<string, string> {
  const { 'customers.mapping.yaml': mapping, 'customer.schema.json': definition } = filesOf({});
  return {
    'sync.yaml': `source: { connection: '\${env:${sourceOf(sync)}}' }
tenant: ${sync}
mode: mirror
guard: {}
alerts: [{ webhook: '\${env:ALERT_URL}' }]
`,
    'customers.mapping.yaml': mapping!
      .replace('shop.customers', tableOf(sync))
      .replace('fields:', 'deletes: { action: { set: { status: gone } } }\nfields:'),
    'customer.schema.json': definition!,
  };
}

/** Applies a schedule to each sync that starts its runs at the next full minute for which there is time. Returns which. */
export async function applyNightly({ shop, envOf, fileOf }: Week, syncs: readonly string[]): Promise<Date> {
  const night = new Date(Math.ceil((Date.now() + 30_000) / 60_000) * 60_000);
  const cron = `${night.getUTCMinutes()} ${night.getUTCHours()} * * *`;
  for (const sync of syncs) {
    const nightly = `schedules: [{ name: nightly, cron: '${cron}', timezone: UTC, jitter: 0s }]\n`;
    writeFileSync(fileOf(sync, 'sync.yaml'), nightly, { flag: 'a' });
    const { code, stderr } = await runInProcess(['schedules', 'apply', sync], envOf(sync));
    expect(code, stderr).toBe(0);
  }
  onTestFinished(async () => {
    for (const taskQueue of new Set(syncs.map((sync) => envOf(sync)['PARTNER_SYNC_TASK_QUEUE']!)))
      await shop.client.schedule.getHandle(watchScheduleId(taskQueue)).delete();
  });
  return night;
}
