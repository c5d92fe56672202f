/** What a worker serves for monitoring: its metrics, and the probes /live and /ready. Nothing in it is secret. */
import { createServer, type ServerResponse } from 'node:http';
import { PartnerSyncError } from '../domain/errors.js';
import type { Metrics } from '../observability/prometheus.js';
import type { Readiness } from './readiness.js';

/** Where it listens. */
export interface MonitoringAddress {
  readonly host: string;
  readonly port: number;
}

/** A running server. */
export interface MonitoringServer {
  close(): Promise<void>;
}

/** A page as it is sent. */
interface PageResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A sentence for people and the logs of probes. */
const plain = (status: number, sentence: string): PageResponse => ({
  status,
  type: 'text/plain; charset=utf-8',
  body: `${sentence}\n`,
});

/** Throws `config_invalid` if it cannot listen there. */
export async function serveMonitoring(
  { host, port }: MonitoringAddress,
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  readiness: Readiness,
): Promise<MonitoringServer> {
  const pages: Readonly<Record<string, () => Promise<PageResponse>>> = {
    // What the ledger cannot tell is left out, so this one does not fail.
    '/metrics': async () => ({ status: 200, type: metrics.contentType, body: await metrics.text() }),
    // A response is the proof: a process whose event loop is stuck sends none.
    '/live': () => Promise.resolve(plain(200, 'live')),
    '/ready': async () => {
      const why = await readiness();
      return why === null ? plain(200, 'ready') : plain(503, why);
    },
  };
  const server = createServer((request, response) => {
    // Only the path counts: some scrapers add a query. Parsed as a URL, `//` would end the worker.
    const page = pages[request.url!.split('?')[0]!];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const found = page === undefined || !isRead ? Promise.resolve(NOT_HERE) : page();
    found.then(
      (sent) => send(response, sent),
      () => send(response, plain(500, 'The check failed; see the log of the worker.')),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const where = `PARTNER_SYNC_METRICS_HOST and PARTNER_SYNC_METRICS_PORT: ${host}, port ${port}`;
      reject(new PartnerSyncError('config_invalid', `${where} cannot be used (${cause.code ?? 'unknown'})`));
    });
    server.listen({ host, port }, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Scrapers keep their connections open.
        server.closeAllConnections();
      }),
  };
}

/** For any other path or method. */
const NOT_HERE = plain(404, 'Not found. This server answers GET requests for /metrics, /live and /ready.');

function send(response: ServerResponse, { status, type, body }: PageResponse): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}
