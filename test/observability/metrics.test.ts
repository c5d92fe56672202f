/** What a worker tells of itself: metrics that agree with the ledger, and probes. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { LEDGER_METRICS, METRIC_PREFIX, WORKER_METRICS } from '../../src/domain/monitoring/metrics.js';
import { freePort } from '../../src/embedded/ports.js';
import { eventually, fill, openShop, reportOf, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess } from '../pipeline/worker-process.js';
import { end, look, scrape, startMeasuredWorker, valuesOf, type MeasuredWorker, type Sample } from './scrape.js';
import { startTcpProxy } from './tcp-proxy.js';

beforeAll(build);

/** Of a worker that tells of one tenant of the shop, and of one that nobody knows. */
const TENANTS = { PARTNER_SYNC_METRICS_TENANTS: 'north, nowhere' };

const BUSY = { forward: false, answer: { status: 429, body: '{}' } } as const;

describe('a worker that has done a run', () => {
  let shop: Shop;
  let worker: MeasuredWorker;
  let samples: Sample[];
  const values = (name: string): Record<string, number> => valuesOf(samples, name);

  beforeAll(async () => {
    shop = await openShop({
      wait: '3600s',
      // A POST may take half the delay: on a busy machine it must not be given up.
      upload: { waitForPending: '0s', batchSize: 5, inDoubtDelay: '20s' },
      failOn: 'never',
      limits: '{ success: 2h, lag: 6h }',
    });
    await fill(shop, 20);
    // A dead letter, and so are its order and the order's line. An order whose customer does not exist waits.
    await shop.source.query(`UPDATE shop.customers SET email = 'no address' WHERE id = 1`);
    await shop.source.query(`UPDATE shop.orders SET customer_id = 999 WHERE no = 'o2'`);
    worker = await startMeasuredWorker(shop, TENANTS, true);
    let uploads = 0;
    shop.proxy.fail((request) => (request.upload && ++uploads === 1 ? BUSY : undefined));
    const report = await reportOf(await shop.start('sync', { sync: 'shop' }));
    expect(report).toMatchObject({
      outcome: 'incomplete',
      total: { read: 60, accepted: 55, waiting: 2, deadLettered: 3 },
    });
    // What was read from the ledger before the run is kept for some seconds.
    samples = await eventually('the outcome of the run is shown', async () => {
      const found = await scrape(worker.url);
      return valuesOf(found, 'last_run')['shop incomplete'] === 1 && found;
    });
  });
  afterAll(async () => {
    await end(worker);
    await shop.close();
  });

  it('counts rows by outcome, as the report does', () => {
    expect(values('rows_read_total')).toEqual({ 'shop customers': 20, 'shop orders': 20, 'shop lines': 20 });
    expect(values('rows_total')).toEqual({
      'shop customers accepted': 19,
      'shop customers unchanged': 0,
      'shop customers waiting': 0,
      'shop customers dead_lettered': 1,
      'shop orders accepted': 18,
      'shop orders unchanged': 0,
      'shop orders waiting': 1,
      'shop orders dead_lettered': 1,
      'shop lines accepted': 18,
      'shop lines unchanged': 0,
      'shop lines waiting': 1,
      'shop lines dead_lettered': 1,
    });
  });

  it('counts batches, requests by status, and those that were repeated', async () => {
    const rows = await shop.state.query<{ name: string; batches: number }>(
      `SELECT m.name, count(*)::int AS batches FROM partner_sync.batches b JOIN partner_sync.mappings m ON m.id = b.mapping_id
       WHERE b.sent_at IS NOT NULL GROUP BY 1`,
    );
    const sent = values('batches_sent_total');
    expect(sent).toEqual(Object.fromEntries(rows.map(({ name, batches }) => [`shop ${name}`, batches])));
    const total = Object.values(sent).reduce((a, b) => a + b, 0);
    expect(values('platform_request_duration_seconds_count')).toMatchObject({
      'uploadResources 2xx': total,
      'uploadResources 4xx': 1,
    });
    expect(values('platform_retries_total')).toEqual({ uploadResources: 1 });
    expect(values('platform_requests')).toEqual({ '': 0 });
    // Halved once, by the busy response.
    expect(values('platform_requests_limit')).toEqual({ shop: 4 });
  });

  it('measures reading, and statements on the ledger', () => {
    expect(values('source_read_duration_seconds_count')).toMatchObject({ 'shop customers': 1 });
    expect(values('ledger_statement_duration_seconds_count')['']).toBeGreaterThan(50);
    expect(values('source_connections')).toEqual({ shop: 0 });
    expect(values('source_connections_limit')).toEqual({ shop: 4 });
    expect(values('ledger_connections')['']).toBeGreaterThanOrEqual(0);
    expect(values('ledger_connections_limit')).toEqual({ '': 8 });
  });

  it('shows what the ledger knows', async () => {
    const [known] = await shop.state.query<{ until: number; since: number }>(
      `SELECT (SELECT extract(epoch FROM read_until)::float8 FROM partner_sync.mappings WHERE name = 'customers') AS until,
              (SELECT extract(epoch FROM min(since))::float8 FROM partner_sync.waiting) AS since`,
    );
    expect(values('ledger_up')).toEqual({ '': 1 });
    expect(values('last_run')).toEqual({
      'shop complete': 0,
      'shop complete_with_dead_letters': 0,
      'shop incomplete': 1,
      'shop failed': 0,
    });
    expect(values('last_success_timestamp_seconds')).toEqual({});
    expect(values('freshness_limit_seconds')).toEqual({ shop: 7200 });
    expect(values('read_until_timestamp_seconds')['shop customers']).toBeCloseTo(known!.until, 3);
    expect(values('lag_limit_seconds')).toEqual({ shop: 21_600 });
    expect(values('oldest_waiting_timestamp_seconds')['shop']).toBeCloseTo(known!.since, 3);
    const waiting = Object.entries(values('waiting_records')).map(([labels, value]) => [labels.split(' ')[1], value]);
    expect(Object.fromEntries(waiting)).toEqual({ orders: 1, lines: 1 });
    const deadLetters = await shop.state.query<{ labels: string; count: number }>(
      `SELECT 'shop ' || m.name || ' ' || d.code AS labels, count(*)::int FROM partner_sync.dead_letters d
         JOIN partner_sync.mappings m ON m.id = d.mapping_id GROUP BY 1`,
    );
    expect(values('dead_letters')).toMatchObject({ 'shop customers record_invalid': 1 });
    expect(values('dead_letters')).toEqual(Object.fromEntries(deadLetters.map((d) => [d.labels, d.count])));
    expect(values('removal_plans_awaiting_approval')).toEqual({ shop: 0 });
    expect(values('open_batches')).toMatchObject({ 'shop intended': 0, 'shop sent': 0 });
  });

  it('tells what became of the rows of the tenants that are named', async () => {
    const counted = await shop.state.query<{ labels: string; accepted: number; deadLettered: number }>(
      `SELECT 'shop ' || m.name || ' north ' AS labels, sum(c.accepted)::int AS accepted, sum(c.dead_lettered)::int AS "deadLettered"
       FROM partner_sync.partition_counts c JOIN partner_sync.partitions p ON p.id = c.partition_id
         JOIN partner_sync.mappings m ON m.id = p.mapping_id JOIN partner_sync.tenants t ON t.id = c.tenant_id
       WHERE t.platform_id = 'north' GROUP BY 1`,
    );
    expect(counted).toHaveLength(3);
    for (const { labels, accepted, deadLettered } of counted)
      expect(values('tenant_rows_total')).toMatchObject({
        [`${labels}accepted`]: accepted,
        [`${labels}dead_lettered`]: deadLettered,
      });
    expect(values('tenant_rows_total')).toMatchObject({
      'shop orders north waiting': 1,
      'shop orders nowhere accepted': 0,
    });
  });

  it('tells what waits and what failed of the tenants that are named, and names no others', () => {
    expect(values('tenant_waiting_records')).toEqual({
      'shop customers north': 0,
      'shop orders north': 1,
      'shop lines north': 1,
    });
    expect(values('tenant_dead_letters')).toEqual({
      'shop customers north': 1,
      'shop orders north': 1,
      'shop lines north': 1,
    });
    const others = samples.filter(({ name }) => !name.startsWith(`${METRIC_PREFIX}tenant_`));
    expect(JSON.stringify(others)).not.toMatch(/north|tenant/);
    expect(JSON.stringify(samples)).not.toMatch(/south/);
  });

  it('serves only metrics of the table, with its labels', () => {
    const table: Readonly<Record<string, { readonly labels: readonly string[] }>> = {
      ...WORKER_METRICS,
      ...LEDGER_METRICS,
    };
    for (const { name, labels } of samples) {
      const bare = name.replace(METRIC_PREFIX, '').replace(/(?<=_seconds)_(bucket|sum|count)$/, '');
      expect(table, name).toHaveProperty(bare);
      expect(table[bare]!.labels, name).toEqual(expect.arrayContaining(Object.keys(labels).filter((l) => l !== 'le')));
    }
  });

  it("serves Temporal's own metrics on the other port, in seconds and with totals", async () => {
    const { text } = await look(worker.temporalUrl, '/metrics');
    expect(text).toContain('temporal_worker_task_slots_available');
    expect(text).toMatch(/^temporal_request_total\{/m);
    expect(text).toMatch(/^temporal_request_latency_seconds_bucket\{/m);
  });

  it('leaves the metrics of the ledger to other workers if told to, and shows them alike on each', async () => {
    const another = await startMeasuredWorker(shop, TENANTS);
    const without = await startMeasuredWorker(shop, { PARTNER_SYNC_METRICS_LEDGER: 'off' });
    const ofLedger = (found: readonly Sample[]): readonly Sample[] =>
      found.filter(({ name }) => name.replace(METRIC_PREFIX, '') in LEDGER_METRICS);
    expect(ofLedger(await scrape(another.url))).toEqual(ofLedger(samples));
    const left = await scrape(without.url);
    expect(ofLedger(left)).toEqual([]);
    expect(valuesOf(left, 'ledger_up')).toEqual({});
    expect(valuesOf(left, 'platform_requests')).toEqual({ '': 0 });
  });

  it('responds to other paths and methods with 404', async () => {
    expect((await look(worker.url, '/')).status).toBe(404);
    expect((await fetch(`${worker.url}/metrics`, { method: 'POST', body: 'x' })).status).toBe(404);
  });
});

it('is live and ready, and stays live without the ledger, whose silence /ready reports', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  const { url } = await startMeasuredWorker(shop);
  await eventually('the worker is ready', async () => (await look(url, '/ready')).status === 200);
  expect(await look(url, '/live')).toEqual({ status: 200, text: 'live\n' });

  const name = new URL(shop.state.url).pathname.slice(1);
  const allow = (yes: boolean) => shop.source.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${yes}`);
  await allow(false);
  onTestFinished(() => allow(true).then(() => undefined));
  await shop.source.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);

  // One lost answer says nothing.
  expect((await look(url, '/ready')).status).toBe(200);
  const late = await eventually('it is not ready', async () => {
    const found = await look(url, '/ready');
    return found.status === 503 && found;
  });
  expect(late.text).toMatch(
    /^The ledger has not answered for 1\d s; a worker is ready while that is at most 10 s\.\n$/,
  );
  expect((await look(url, '/live')).status).toBe(200);
  const found = await eventually('the metrics say that the ledger is down', async () => {
    const samples = await scrape(url);
    return valuesOf(samples, 'ledger_up')[''] === 0 && samples;
  });
  expect(valuesOf(found, 'removal_plans_awaiting_approval')).toEqual({});
  await allow(true);
  await eventually('the worker is ready again', async () => (await look(url, '/ready')).status === 200);
});

it('is not ready while Temporal does not answer, and is ready again afterwards', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  const proxy = await startTcpProxy(shop.env['TEMPORAL_ADDRESS']!);
  const { url } = await startMeasuredWorker(shop, { TEMPORAL_ADDRESS: proxy.address });
  await eventually('the worker is ready', async () => (await look(url, '/ready')).status === 200);

  proxy.cut();
  const late = await eventually('it is not ready', async () => {
    const found = await look(url, '/ready');
    return found.status === 503 && found;
  });
  expect(late.text).toMatch(/^Temporal has not answered for 1\d s; a worker is ready while that is at most 10 s\.\n$/);
  expect((await look(url, '/live')).status).toBe(200);
  await proxy.restore();
  await eventually('the worker is ready again', async () => (await look(url, '/ready')).status === 200);
});

it('has counters at zero before its first run', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  const samples = await scrape((await startMeasuredWorker(shop)).url);
  expect(valuesOf(samples, 'rows_read_total')).toEqual({ 'shop customers': 0, 'shop orders': 0, 'shop lines': 0 });
  expect(Object.keys(valuesOf(samples, 'rows_total'))).toHaveLength(12);
});

it('serves nothing without a port', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  const worker = await startWorkerProcess(shop);
  onTestFinished(() => end(worker));
  expect(worker.output()).not.toContain('9464');
  await expect(fetch('http://127.0.0.1:9464/metrics')).rejects.toThrow();
});

it('does not start if it cannot listen on a port, and names the variable', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  const { url, temporalUrl } = await startMeasuredWorker(shop);
  const ports = [url, temporalUrl].map((each) => new URL(each).port);
  await expect(startWorkerProcess(shop, { PARTNER_SYNC_METRICS_PORT: ports[0]! })).rejects.toThrow(
    /the worker ended \(2\).*PARTNER_SYNC_METRICS_PORT.*EADDRINUSE/s,
  );
  await expect(startWorkerProcess(shop, { PARTNER_SYNC_TEMPORAL_METRICS_PORT: ports[1]! })).rejects.toThrow(
    /the worker ended \(2\).*PARTNER_SYNC_TEMPORAL_METRICS_PORT/s,
  );
  await expect(startWorkerProcess(shop, { PARTNER_SYNC_METRICS_PORT: 'x' })).rejects.toThrow(
    /the worker ended \(2\).*PARTNER_SYNC_METRICS_PORT must be the number of a port/s,
  );
  expect(await freePort(Number(ports[0]))).not.toBe(Number(ports[0]));
});
