/** The trace of a run goes on when its workflow continues as a new execution. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { expect, inject, it, vi } from 'vitest';
import { openTracing } from '../../src/observability/tracing/open-tracing.js';
import { quietRuntime } from '../pipeline/shop.js';
import { startCollector } from './trace-collector.js';

it('is one trace over both executions', async () => {
  quietRuntime();
  const collector = await startCollector();
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const tracing = openTracing(variables, () => undefined)!;
  const [address, taskQueue] = [inject('temporalAddress'), randomUUID()];
  const [native, connection] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
  ]);
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: new URL('continued-workflow.ts', import.meta.url).pathname,
    workflowInterceptorModules: [new URL('../../workflows/trace-interceptors.ts', import.meta.url).pathname],
    logger: new DefaultLogger('ERROR', () => undefined),
  });
  const activities = { step: () => Promise.resolve() };
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle, activities, ...tracing.worker });
  const client = new Client({ connection, interceptors: tracing.client });

  await worker.runUntil(client.workflow.execute('continued', { taskQueue, workflowId: randomUUID(), args: [] }));
  await tracing.close();
  await Promise.all([native.close(), connection.close()]);
  vi.unstubAllEnvs();

  const spans = collector.spans();
  const childrenOf = (spanId: string | undefined): string[] =>
    spans
      .filter((span) => (span.parentSpanId || undefined) === spanId)
      .flatMap((span) => [span.name, ...childrenOf(span.spanId)]);
  expect(childrenOf(undefined).join(' > ')).toBe(
    [
      'StartWorkflow:continued',
      'RunWorkflow:continued',
      ...['StartActivity:step', 'RunActivity:step'],
      ...['ContinueAsNew:continued', 'RunWorkflow:continued'],
      ...['StartActivity:step', 'RunActivity:step'],
    ].join(' > '),
  );
  expect(spans.filter(({ status }) => status === 2)).toEqual([]);
});
