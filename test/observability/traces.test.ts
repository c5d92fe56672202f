/** A run is one trace, from what started it to each request; off, and harmless, unless OpenTelemetry's variables say so. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { installable } from '../../src/observability/tracing/trace-packages.js';
import { partnerSync } from '../cli/command-line.js';
import { installedProject } from '../cli/installed-project.js';
import { fill, openShop, reportOf, type Shop } from '../pipeline/shop.js';
import { build, CLI, startWorkerProcess } from '../pipeline/worker-process.js';
import { workflowBundle } from '../workflow-bundle.js';
import { startCollector, type CollectedSpan, type TraceCollector } from './trace-collector.js';

beforeAll(build);

/** Variables that send traces to the collector as JSON. */
const jsonTo = ({ url }: TraceCollector): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
});

async function filledShop(rows: number): Promise<Shop> {
  const shop = await openShop({ wait: '5m', upload: { waitForPending: '1s' } });
  onTestFinished(() => shop.close());
  await fill(shop, rows);
  return shop;
}

/** Starts a worker with these variables, lets `work` be done, and drains the worker, which then exports what is left. */
async function worked<T>(
  shop: Shop,
  variables: Record<string, string>,
  work: () => Promise<T>,
  cli = CLI,
): Promise<[T, string]> {
  const worker = await startWorkerProcess(shop, variables, cli);
  onTestFinished(() => void worker.child.kill('SIGKILL'));
  shop.proxy.forget();
  const result = await work();
  worker.child.kill('SIGTERM');
  expect(await worker.ended, worker.output()).toBe(0);
  return [result, worker.output()];
}

/** The names of a span and of all above it, from the root on. */
function wayTo(span: CollectedSpan, spans: readonly CollectedSpan[]): string[] {
  const above = span.parentSpanId ? spans.find(({ spanId }) => spanId === span.parentSpanId) : undefined;
  if (span.parentSpanId) expect(above, `the parent of ${span.name}`).toBeDefined();
  return [...(above === undefined ? [] : wayTo(above, spans)), span.name];
}

const requestsIn = (spans: readonly CollectedSpan[]): CollectedSpan[] =>
  spans.filter(({ attributes }) => 'http.request.method' in attributes);

it('is one trace from the command to each request to the platform, and says nothing about rows, ids or tokens', async () => {
  const collector = await startCollector();
  const shop = await filledShop(300);
  // Whatever is told of failures, too: rejected rows, a lost response, children without parents, a failed workflow.
  await shop.source.query(
    `UPDATE shop.customers SET id = 9000000 + id, name = 'Canary-Name', email = 'canary@example.org' WHERE id < 100`,
  );
  await shop.source.query(`UPDATE shop.customers SET email = 'canary-broken' WHERE id > 9000090`);
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id BETWEEN 200 AND 250`);
  await shop.source.query(`UPDATE shop.orders SET no = 'canary-order-' || no WHERE customer_id < 50`);
  shop.proxy.fail(({ upload, no }) => (upload && no === 1 ? { forward: true, answer: 'cut' } : undefined));
  const variables = {
    ...jsonTo(collector),
    OTEL_EXPORTER_OTLP_HEADERS: 'x-canary=for-the-collector',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop-sync',
  };

  const [run] = await worked(shop, variables, () =>
    partnerSync(['run', 'shop', '--json'], { ...shop.env, ...variables }),
  );

  expect(run.json()).toMatchObject({ outcome: 'incomplete' });
  const spans = collector.spans();
  const root = spans.find(({ name, parentSpanId }) => name === 'StartWorkflow:sync' && !parentSpanId)!;
  const ofRun = spans.filter(({ traceId }) => traceId === root.traceId);
  const requests = requestsIn(spans);
  expect(requests).toHaveLength(shop.proxy.requests.length);
  expect(new Set(requests.map(({ traceId }) => traceId))).toEqual(new Set([root.traceId]));
  for (const span of ofRun)
    expect(wayTo(span, ofRun).slice(0, 2)).toEqual(
      ['StartWorkflow:sync', 'RunWorkflow:sync'].slice(0, span === root ? 1 : 2),
    );
  expect(spans.filter(({ traceId }) => traceId !== root.traceId).map(({ name }) => name)).toEqual([]);

  const upload = requests.find(({ name, status }) => name === 'uploadResources' && status === 0)!;
  expect(wayTo(upload, spans)).toEqual([
    'StartWorkflow:sync',
    'RunWorkflow:sync',
    'StartActivity:loadPartition',
    'RunActivity:loadPartition',
    'deliver chunk',
    'send batch',
    'uploadResources',
  ]);
  expect(upload.attributes).toEqual({
    'http.request.method': 'POST',
    'url.template': '/api/resources/{schemaDefinitionNameOrId}/batch',
    'http.response.status_code': '202',
  });
  expect(requests.filter(({ status }) => status === 2).map(({ attributes }) => attributes['error.type'])).toContain(
    'no_response',
  );
  const load = spans.find(({ name }) => name === 'RunActivity:loadPartition')!;
  expect(load.attributes).toMatchObject({ 'partner_sync.sync': 'shop', 'partner_sync.mapping': 'customers' });
  expect(spans.find(({ name }) => name === 'RunWorkflow:sync')).toMatchObject({
    status: 2,
    service: 'shop-sync',
    attributes: { 'partner_sync.sync': 'shop' },
  });

  const exported = Buffer.concat(collector.bodies).toString('utf8');
  const told = [
    /canary/i,
    // Times and the ids of spans contain any digits.
    /(?<![0-9a-f])90000\d\d(?![0-9a-f])/,
    /example\.org/,
    /north|south/,
    /o\d\d/,
    /postgres(ql)?:/,
    // Who started the run, and the texts and stacks of failures.
    /partnerSyncStartedBy/,
    /exception|stack|dist\//,
    new RegExp(shop.token),
  ];
  expect(told.filter((secret) => secret.test(exported))).toEqual([]);
  expect(new Set(collector.heads.map(({ canary }) => canary))).toEqual(new Set(['for-the-collector']));
  expect(shop.proxy.requests.flatMap(({ headers }) => headers)).not.toContain('traceparent');
});

it('begins with the workflow if a schedule or the Web UI starts it, and leaves its history as it was', async () => {
  const collector = await startCollector();
  const shop = await filledShop(20);
  const histories: string[] = [];

  for (const variables of [jsonTo(collector), {}])
    await worked(shop, variables, async () => {
      const handle = await shop.start('sync', { sync: 'shop', mode: 'full' });
      expect(await reportOf(handle)).toMatchObject({ outcome: 'complete' });
      histories.push(historyToJSON(await handle.fetchHistory()));
    });

  const spans = collector.spans();
  expect(spans.filter(({ parentSpanId }) => !parentSpanId).map(({ name }) => name)).toEqual(['RunWorkflow:sync']);
  for (const span of requestsIn(spans)) expect(wayTo(span, spans)[0]).toBe('RunWorkflow:sync');
  expect(requestsIn(spans)).not.toEqual([]);
  for (const history of histories)
    for (const traced of [true, false])
      await expect(
        Worker.runReplayHistory({ workflowBundle: await workflowBundle(traced) }, JSON.parse(history)),
      ).resolves.toBeUndefined();
});

it('exports none of the traces that OTEL_TRACES_SAMPLER leaves out, wherever they begin', async () => {
  const collector = await startCollector();
  const shop = await filledShop(5);
  const variables = {
    ...jsonTo(collector),
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  };

  await worked(shop, variables, async () => {
    expect(await partnerSync(['run', 'shop'], { ...shop.env, ...variables })).toMatchObject({ code: 0 });
    expect(await reportOf(await shop.start('sync', { sync: 'shop' }))).toMatchObject({ outcome: 'complete' });
  });

  expect(collector.bodies).toEqual([]);
});

it.each(['refuses connections', 'never responds'])(
  'harms no run if the collector %s, and says so once',
  async (how) => {
    const collector = await startCollector({ hangs: true });
    const shop = await filledShop(20);
    // Port 1 is nobody's.
    const url = how === 'never responds' ? collector.url : 'http://127.0.0.1:1';
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '100' };

    const [run, output] = await worked(shop, variables, () =>
      partnerSync(['run', 'shop'], { ...shop.env, ...variables }),
    );

    expect(run).toMatchObject({ code: 0 });
    expect(output.split('traces cannot be sent to the collector')).toHaveLength(2);
    expect(run.stderr.split('traces cannot be sent to the collector')).toHaveLength(2);
    const types = how === 'never responds' ? ['application/x-protobuf'] : [];
    expect([...new Set(collector.heads.map(({ type }) => type))]).toEqual(types);
  },
);

it('needs none of the packages while it is off, and names those that are missing when it is switched on', async () => {
  const project = installedProject();
  onTestFinished(() => project.remove());
  const shop = await filledShop(5);

  await worked(
    shop,
    {},
    async () => {
      expect(await partnerSync(['run', 'shop'], shop.env, project.cli)).toMatchObject({ code: 0 });
    },
    project.cli,
  );

  const switchedOn = { ...shop.env, OTEL_TRACES_EXPORTER: 'otlp' };
  for (const command of [['worker'], ['run', 'shop']]) {
    const { code, stderr } = await partnerSync(command, switchedOn, project.cli);
    expect(stderr).toContain(
      `error package_missing: OTEL_* variables switch traces on, but OpenTelemetry is not installed; in the project that runs partner-sync: npm install ${installable('http/protobuf').join(' ')}\n`,
    );
    expect(code).toBe(2);
  }
});
