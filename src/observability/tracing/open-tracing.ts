/** Traces of runs, through OpenTelemetry. They are off unless its variables switch them on. */
import type { ClientInterceptors } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { errorCode } from '../../domain/values/foreign-text.js';
import type { Meters } from '../../domain/monitoring/meters.js';
import { milliseconds } from '../../domain/timeouts.js';
import { within } from '../within.js';
import { describeActivities } from './activity-spans.js';
import { ExportedSpans } from './exported-spans.js';
import { sampledTraces } from './sampled-traces.js';
import { loadTracePackages, type TracePackages } from './trace-packages.js';
import { traceProtocol } from './trace-settings.js';
import { tracedMeters } from './traced-meters.js';

/** The traces of a process. */
export interface Tracing {
  /** For the client that starts a run: the run's trace begins there. */
  readonly client: ClientInterceptors;
  /** For each Temporal worker. The bundle of its workflows must be the one with interceptors. */
  readonly worker: Required<Pick<WorkerOptions, 'interceptors' | 'sinks'>>;
  /** The same meters, which also make spans. */
  over(meters: Meters): Meters;
  /** Sends what is left, for a few seconds at most; never rejects. */
  close(): Promise<void>;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Null if traces are off. One at a time in a process, since OpenTelemetry is set up for the process as a whole.
 *
 * Throws `config_invalid` for variables that cannot be used, and `package_missing` if OpenTelemetry is not installed. A
 * collector that cannot be reached is no error: spans are dropped, and `warn` is told once.
 */
export function openTracing(env: Env, warn: (message: string) => void): Tracing | null {
  const protocol = traceProtocol(env);
  if (protocol === null) return null;
  takeOver(env);
  const packages = loadTracePackages(protocol);
  const { api, client, worker } = packages;
  warnOnce(packages, warn);
  const { provider, spans } = register(packages, env);
  return {
    client: { workflow: [new client.OpenTelemetryWorkflowClientInterceptor()] },
    worker: {
      interceptors: {
        activity: [
          (context) => ({
            inbound: new worker.OpenTelemetryActivityInboundInterceptor(context),
            outbound: new worker.OpenTelemetryActivityOutboundInterceptor(context),
          }),
          describeActivities(api),
        ],
      },
      sinks: { exporter: worker.makeWorkflowExporter(spans, provider.resource) },
    },
    over: (meters) => tracedMeters(meters, api),
    async close() {
      await within(milliseconds('traceExport'), provider.shutdown()).catch(() => undefined);
      for (const part of [api.trace, api.context, api.propagation]) part.disable();
    },
  };
}

/** OpenTelemetry reads its variables from the process, and ours may come from a file. */
function takeOver(env: Env): void {
  for (const [name, value] of Object.entries(env))
    if (name.startsWith('OTEL_') && value !== undefined) process.env[name] = value;
}

/** Makes the tracer of the process, which reads the other variables itself. */
function register(packages: TracePackages, env: Env) {
  const { core, exporter, resources, sdk } = packages;
  const isTimeoutSet = env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'] || env['OTEL_EXPORTER_OTLP_TIMEOUT'];
  const sending = new exporter.OTLPTraceExporter(
    // A request to a collector that hangs would keep a command from ending for as long.
    isTimeoutSet ? {} : { timeoutMillis: milliseconds('traceExport') },
  );
  const spans = new ExportedSpans(new sdk.BatchSpanProcessor(sending), sampledTraces(packages));
  const provider = new sdk.NodeTracerProvider({
    resource: new resources.Resource({ 'service.name': 'partner-sync' }).merge(
      resources.detectResourcesSync({ detectors: [resources.envDetectorSync] }),
    ),
    spanProcessors: [spans],
  });
  // Always this one: workflows have no variables, and read no other form.
  provider.register({ propagator: new core.W3CTraceContextPropagator() });
  return { provider, spans };
}

/** Says once that the collector does not take spans; its text is not shown, since its address may have a password. */
function warnOnce({ core }: TracePackages, warn: (message: string) => void): void {
  let isTold = false;
  core.setGlobalErrorHandler((error) => {
    if (isTold) return;
    isTold = true;
    const why = errorCode(error) || (error instanceof Error ? error.name : 'unknown error');
    warn(`traces cannot be sent to the collector (${why}); they are dropped until it takes them`);
  });
}
