/** A collector of traces: takes what OpenTelemetry exports over HTTP, and keeps it. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A span as OTLP's JSON has it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty or missing for a root. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** Values by name, as text. */
  readonly attributes: Readonly<Record<string, string>>;
  /** 2 is an error. */
  readonly status: number;
  readonly service: string | undefined;
}

export interface TraceCollector {
  readonly url: string;
  /** The bodies of all requests. */
  readonly bodies: readonly Buffer[];
  /** Their content types, and the header `x-canary` of each. */
  readonly heads: readonly { readonly type: string | undefined; readonly canary: string | undefined }[];
  /** What came as JSON. */
  spans(): CollectedSpan[];
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes' | 'status' | 'service'> & {
        readonly attributes: readonly Attribute[];
        readonly status: { readonly code: number };
      })[];
    }[];
  }[];
}

/** `hangs`: it takes requests and never responds. */
export async function startCollector({ hangs = false } = {}): Promise<TraceCollector> {
  const bodies: Buffer[] = [];
  const heads: TraceCollector['heads'][number][] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks));
      heads.push({ type: request.headers['content-type'], canary: [request.headers['x-canary']].flat()[0] });
      if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    heads,
    spans: () => bodies.flatMap((body) => spansIn(JSON.parse(body.toString('utf8')) as Exported)),
  };
}

const spansIn = ({ resourceSpans }: Exported): CollectedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: textsOf(span.attributes),
        status: span.status.code,
        service: textsOf(resource.attributes)['service.name'],
      })),
    ),
  );

const textsOf = (attributes: readonly Attribute[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
