/** Meters that also make spans: of each chunk, each batch and each request to the platform. */
import type { Attributes, Span } from '@opentelemetry/api';
import { PartnerSyncError } from '../../domain/errors.js';
import type { Meters } from '../../domain/monitoring/meters.js';
import { ATTRIBUTES } from './span-attributes.js';
import type { Api } from './trace-packages.js';

/** The same meters; what they measure becomes a part of the trace of the activity that is running. */
export function tracedMeters(meters: Meters, { trace, SpanKind, SpanStatusCode }: Api): Meters {
  const tracer = trace.getTracer('partner-sync');
  const fail = (span: Span, error: string): void => {
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute(ATTRIBUTES.error, error);
  };
  const inSpan = <T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> =>
    tracer.startActiveSpan(name, { attributes }, async (span) => {
      try {
        return await work();
      } catch (error) {
        fail(span, error instanceof PartnerSyncError ? error.code : 'unexpected');
        throw error;
      } finally {
        span.end();
      }
    });
  return {
    ...meters,
    platform: {
      ...meters.platform,
      requestBegins(request) {
        const ended = meters.platform.requestBegins(request);
        const { operation, method, path } = request;
        const attributes = { [ATTRIBUTES.method]: method, [ATTRIBUTES.template]: path };
        const span = tracer.startSpan(operation, { kind: SpanKind.CLIENT, attributes });
        return (status) => {
          ended(status);
          if (status !== null) span.setAttribute(ATTRIBUTES.status, status);
          if (status === null || status >= 400) fail(span, status === null ? 'no_response' : String(status));
          span.end();
        };
      },
    },
    mapping(mappingId, sync, mapping) {
      const meter = meters.mapping(mappingId, sync, mapping);
      const names = { [ATTRIBUTES.sync]: sync, [ATTRIBUTES.mapping]: mapping };
      return {
        ...meter,
        chunkRead(seconds) {
          meter.chunkRead(seconds);
          tracer.startSpan('read chunk', { attributes: names, startTime: Date.now() - seconds * 1000 }).end();
        },
        delivering: (rows, deliver) =>
          inSpan('deliver chunk', { ...names, [ATTRIBUTES.rows]: rows }, () => meter.delivering(rows, deliver)),
        sending: (records, send) =>
          inSpan('send batch', { ...names, [ATTRIBUTES.records]: records }, () => meter.sending(records, send)),
      };
    },
  };
}
