/** OpenTelemetry's variables switch traces on and off as its specification says. */
import { expect, it } from 'vitest';
import { traceProtocol } from '../../src/observability/tracing/trace-settings.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

it.each([
  ['without any of them', {}],
  ['if the endpoint is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  ['with others only', { OTEL_SERVICE_NAME: 'sync', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  ['if the exporter is "none"', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
  ['if the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE', OTEL_TRACES_EXPORTER: 'zipkin' }],
])('are off %s', (_when, variables) => {
  expect(traceProtocol(variables)).toBeNull();
});

it.each([
  ['an endpoint', ENDPOINT, 'http/protobuf'],
  ['an endpoint of traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }, 'http/protobuf'],
  ['the exporter', { OTEL_TRACES_EXPORTER: 'otlp' }, 'http/protobuf'],
  ['a protocol', { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'http/json'],
  [
    'a protocol of traces',
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
    'http/json',
  ],
])('are on with %s', (_what, variables, protocol) => {
  expect(traceProtocol(variables)).toBe(protocol);
});

it.each([
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER must be "otlp" or "none"'],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL must be "http/protobuf" or "http/json"',
  ],
])('refuses %j, which it could not obey', (variables, message) => {
  expect(() => traceProtocol(variables)).toThrow(expect.objectContaining({ code: 'config_invalid', message }));
});
