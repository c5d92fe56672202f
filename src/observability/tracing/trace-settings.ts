/** Whether traces are on, and how they are sent: what OpenTelemetry's own variables say. */
import { PartnerSyncError } from '../../domain/errors.js';

/** Packages that export traces, by the protocols that OTEL_EXPORTER_OTLP_PROTOCOL may name. */
export const EXPORTERS = {
  'http/protobuf': '@opentelemetry/exporter-trace-otlp-proto',
  'http/json': '@opentelemetry/exporter-trace-otlp-http',
} as const;

/** How traces are sent to a collector. */
export type TraceProtocol = keyof typeof EXPORTERS;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The protocol with which traces are sent; null if they are off, as they are without any variable. Throws
 * `config_invalid` for an exporter or a protocol that partner-sync does not have.
 */
export function traceProtocol(env: Env): TraceProtocol | null {
  // An empty variable counts as not set, as the specification says.
  const value = (name: string): string | undefined => env[name]?.trim() || undefined;
  if (value('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;
  const exporter = value('OTEL_TRACES_EXPORTER');
  const endpoint = value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? value('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (exporter === 'none' || (exporter ?? endpoint) === undefined) return null;
  if (exporter !== undefined && exporter !== 'otlp')
    throw new PartnerSyncError('config_invalid', 'OTEL_TRACES_EXPORTER must be "otlp" or "none"');
  const protocol =
    value('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? value('OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/protobuf';
  if (isKnown(protocol)) return protocol;
  const known = Object.keys(EXPORTERS).map((name) => `"${name}"`);
  throw new PartnerSyncError('config_invalid', `OTEL_EXPORTER_OTLP_PROTOCOL must be ${known.join(' or ')}`);
}

const isKnown = (protocol: string): protocol is TraceProtocol => Object.hasOwn(EXPORTERS, protocol);
