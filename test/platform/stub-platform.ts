/** A platform that answers as the test configures it, byte by byte if necessary. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { PlatformClient } from '../../src/platform/client.js';
import { DEFAULT_PLATFORM_SETTINGS, type PlatformSettings } from '../../src/platform/client-settings.js';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** Milliseconds since the stub was started. */
  readonly at: number;
}

export type Answer = (response: http.ServerResponse, request: SeenRequest) => void;

export interface StubPlatform {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  readonly client: PlatformClient;
}

/** Answers the first request with the first answer, and so on; the last answer stands for all that follow. */
export async function stubPlatform(
  answers: readonly Answer[],
  settings: Partial<PlatformSettings> = {},
): Promise<StubPlatform> {
  const seen: SeenRequest[] = [];
  const started = performance.now();
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const entry = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now() - started,
      };
      seen.push(entry);
      answers[Math.min(seen.length, answers.length) - 1]!(response, entry);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new PlatformClient({
    ...DEFAULT_PLATFORM_SETTINGS,
    baseUrl: url,
    token: () => Promise.resolve('the-token'),
    requestTimeout: 1_000,
    retryBudget: 5_000,
    ...settings,
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await client.close();
  });
  return { url, seen, client };
}

export const answer =
  (status: number, body: unknown, headers: http.OutgoingHttpHeaders = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

export const BATCH = {
  batchId: 'b1',
  progress: { totalRecords: 1, processedRecords: 1, successfulRecords: 1, pendingRecords: 0, failedRecords: 0 },
  completedAt: '2026-01-01T00:00:00Z',
};
export const success = (data: unknown): Answer => answer(200, { success: true, data });

/** The status of whichever batch is asked for: all of it is accepted. */
export const DONE: Answer = (response, request) => {
  const { pathname } = new URL(request.url, 'http://127.0.0.1');
  success({ ...BATCH, batchId: decodeURIComponent(pathname.split('/').at(-1)!) })(response, request);
};

/** The error that the work ends with. */
export async function errorOf(work: Promise<unknown>): Promise<PartnerSyncError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof PartnerSyncError) return error;
    throw error;
  }
  throw new Error('there was no error');
}
