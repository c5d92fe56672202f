/** OpenTelemetry's packages, which partner-sync does not bring along: they are loaded only where traces are on. */
import { createRequire } from 'node:module';
import type * as OpenTelemetryApi from '@opentelemetry/api';
import type * as Core from '@opentelemetry/core';
import type * as Exporter from '@opentelemetry/exporter-trace-otlp-proto';
import type * as Resources from '@opentelemetry/resources';
import type * as Sdk from '@opentelemetry/sdk-trace-node';
import type * as ClientTracing from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import type * as WorkerTracing from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { EXPORTERS, type TraceProtocol } from './trace-settings.js';

/** Optional peer dependencies of package.json, with the versions that it asks for. */
export const TRACE_PACKAGES = {
  '@temporalio/interceptors-opentelemetry': '1.24.0',
  '@opentelemetry/api': '1.9',
  '@opentelemetry/core': '1.30',
  '@opentelemetry/resources': '1.30',
  '@opentelemetry/sdk-trace-node': '1.30',
  '@opentelemetry/exporter-trace-otlp-proto': '0.57',
  '@opentelemetry/exporter-trace-otlp-http': '0.57',
} as const;

type PackageName = keyof typeof TRACE_PACKAGES;

/** OpenTelemetry's interfaces, which all of its packages share in a process. */
export type Api = typeof OpenTelemetryApi;

/** The packages that traces need. */
export interface TracePackages {
  readonly api: Api;
  readonly core: typeof Core;
  readonly resources: typeof Resources;
  readonly sdk: typeof Sdk;
  /** Both exporters have the same class. */
  readonly exporter: typeof Exporter;
  readonly client: typeof ClientTracing;
  readonly worker: typeof WorkerTracing;
}

const load = createRequire(import.meta.url);

/** Loads them. Throws `package_missing`, with the command that installs all, if one of them is missing. */
export function loadTracePackages(protocol: TraceProtocol): TracePackages {
  try {
    return {
      api: load('@opentelemetry/api') as TracePackages['api'],
      core: load('@opentelemetry/core') as TracePackages['core'],
      resources: load('@opentelemetry/resources') as TracePackages['resources'],
      sdk: load('@opentelemetry/sdk-trace-node') as TracePackages['sdk'],
      exporter: load(EXPORTERS[protocol]) as TracePackages['exporter'],
      client: load('@temporalio/interceptors-opentelemetry/lib/client') as TracePackages['client'],
      worker: load('@temporalio/interceptors-opentelemetry/lib/worker') as TracePackages['worker'],
    };
  } catch (cause) {
    const command = `npm install ${installable(protocol).join(' ')}`;
    throw new PartnerSyncError(
      'package_missing',
      `OTEL_* variables switch traces on, but OpenTelemetry is not installed; in the project that runs partner-sync: ${command}`,
      {},
      { cause },
    );
  }
}

/** What npm is to install: the packages of the table with their versions, of the exporters only the one that is used. */
export function installable(protocol: TraceProtocol): string[] {
  const unused = Object.entries(EXPORTERS).flatMap(([other, name]) => (other === protocol ? [] : [name]));
  return (Object.keys(TRACE_PACKAGES) as PackageName[])
    .filter((name) => !(unused as string[]).includes(name))
    .map((name) => `${name}@${TRACE_PACKAGES[name]}`);
}
