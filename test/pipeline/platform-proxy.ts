/** A proxy between partner-sync and the sandbox: counts requests, and fails as the test configures it. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PassedRequest {
  readonly method: string;
  readonly path: string;
  readonly tenant: string | undefined;
  /** Names of its headers. */
  readonly headers: readonly string[];
  readonly body: string;
  /** How many uploads came before this one; for other requests, how many in all. */
  readonly no: number;
  readonly upload: boolean;
  /** When it came (`performance.now()`). */
  readonly at: number;
  /** How many were under way when it came, this one included. */
  readonly atOnce: number;
}

export interface StubAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * `cut`: the connection is destroyed; `hang`: no answer ever comes; `pass`: the platform's own answer, so that only
 * `after` (milliseconds) is wrong with it. `forward`: whether the platform gets the request all the same.
 */
export type Fault = {
  readonly forward: boolean;
  readonly answer: StubAnswer | 'cut' | 'hang' | 'pass' | ((own: StubAnswer) => StubAnswer);
  readonly after?: number;
};

export interface PlatformProxy {
  readonly url: string;
  readonly requests: readonly PassedRequest[];
  /** How many uploads came in since the proxy was started, or since `forget`. */
  uploads(): number;
  forget(): void;
  /** Decides for each request what goes wrong with it; undefined lets it pass. */
  fail(plan: ((request: PassedRequest) => Fault | undefined) | undefined): void;
  close(): Promise<void>;
}

export async function startProxy(target: string): Promise<PlatformProxy> {
  const requests: PassedRequest[] = [];
  let plan: ((request: PassedRequest) => Fault | undefined) | undefined;
  let underWay = 0;
  const server = http.createServer((incoming, outgoing) => {
    const at = performance.now();
    const atOnce = ++underWay;
    // Also called for a request whose sender has died.
    outgoing.on('close', () => underWay--);
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      const path = incoming.url ?? '/';
      const upload = incoming.method === 'POST' && path.startsWith('/api/resources/');
      const request: PassedRequest = {
        method: incoming.method ?? 'GET',
        path,
        tenant: [incoming.headers['service-tenant-id']].flat()[0],
        headers: Object.keys(incoming.headers),
        body: Buffer.concat(chunks).toString('utf8'),
        upload,
        no: requests.filter((r) => r.upload === upload).length,
        at,
        atOnce,
      };
      requests.push(request);
      const fault = plan?.(request);
      if (fault === undefined || fault.forward)
        forward(target, incoming, request.body, (answer) =>
          fault ? fail(fault, outgoing, answer) : send(answer, outgoing),
        );
      else fail(fault, outgoing, { status: 502, body: 'nothing was forwarded' });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    uploads: () => requests.filter((r) => r.upload).length,
    forget: () => void requests.splice(0),
    fail: (next) => void (plan = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(
  target: string,
  incoming: http.IncomingMessage,
  body: string,
  answered: (answer: StubAnswer) => void,
): void {
  const { host: _host, connection: _connection, ...headers } = incoming.headers;
  // A target that refuses a body for its size may close the connection while that is still being sent.
  let isAnswered = false;
  const answerOnce = (answer: StubAnswer): void => {
    if (!isAnswered) answered(answer);
    isAnswered = true;
  };
  const request = http.request(`${target}${incoming.url ?? '/'}`, { method: incoming.method, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () =>
      answerOnce({
        status: response.statusCode ?? 502,
        headers: { 'content-type': response.headers['content-type'] ?? 'application/json' },
        body: Buffer.concat(chunks).toString('utf8'),
      }),
    );
  });
  request.on('error', () => answerOnce({ status: 502, body: 'the target of the proxy is down' }));
  request.end(body);
}

function fail({ answer, after = 0 }: Fault, outgoing: http.ServerResponse, own: StubAnswer): void {
  setTimeout(() => {
    if (answer === 'cut') outgoing.destroy();
    else if (answer === 'pass') send(own, outgoing);
    else if (typeof answer === 'function') send(answer(own), outgoing);
    else if (answer !== 'hang') send(answer, outgoing);
  }, after);
}

function send({ status, headers, body }: StubAnswer, outgoing: http.ServerResponse): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
  outgoing.end(body);
}

/** External ids of an upload's records, as the sent JSON says. */
export const idsIn = (request: PassedRequest, field: string): string[] =>
  (JSON.parse(request.body) as { resources: Record<string, string>[] }).resources.map((r) => r[field]!);

/** How many records an upload carries. */
export const recordsIn = (request: PassedRequest): number =>
  (JSON.parse(request.body) as { resources: unknown[] }).resources.length;
