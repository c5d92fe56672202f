/** A codec server as docs/deploy.md describes it: the browser asks it to decode what Temporal stores, and to encode inputs. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Payload, PayloadCodec } from '@temporalio/common';

/** As the Web UI sends it and expects it back: bytes are base64. */
interface JsonPayload {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data: string;
}

const fromJson = ({ metadata, data }: JsonPayload): Payload => ({
  metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
  data: Buffer.from(data, 'base64'),
});
const base64 = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('base64');
const toJson = ({ metadata, data }: Payload): JsonPayload => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
  data: base64(data),
});

/** By path. */
const METHODS: Readonly<Record<string, 'decode' | 'encode'>> = { '/decode': 'decode', '/encode': 'encode' };

export interface CodecServer {
  readonly url: string;
  close(): void;
}

/** Serves `/decode` and `/encode` with this codec to pages of `origin`, which is the Web UI's. */
export async function serveCodec(codec: PayloadCodec, origin: string): Promise<CodecServer> {
  const server = createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Allow-Headers', 'Content-Type, X-Namespace, Authorization');
    const method = METHODS[request.url ?? ''];
    // Before each request, the browser asks whether it may send it.
    if (request.method !== 'POST' || method === undefined) return void response.writeHead(204).end();
    void text(request).then(async (body) => {
      const { payloads } = JSON.parse(body) as { payloads: JsonPayload[] };
      const answer = await codec[method](payloads.map(fromJson));
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ payloads: answer.map(toJson) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
