/** Reads what a worker serves for monitoring. */
import { onTestFinished } from 'vitest';
import { freePort } from '../../src/embedded/ports.js';
import type { Shop } from '../pipeline/shop.js';
import { startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A worker process with its addresses. */
export interface MeasuredWorker extends WorkerProcess {
  /** `http://127.0.0.1:<port>`; for Temporal's metrics, another one. */
  readonly url: string;
  readonly temporalUrl: string;
}

/** Starts a worker that serves metrics; it ends with the test, or at once in a hook of the file if `untilTold`. */
export async function startMeasuredWorker(
  shop: Shop,
  more: Record<string, string> = {},
  untilTold = false,
): Promise<MeasuredWorker> {
  const port = await freePort();
  const temporalPort = await freePort(undefined, [port]);
  const worker = await startWorkerProcess(shop, {
    PARTNER_SYNC_METRICS_PORT: String(port),
    PARTNER_SYNC_TEMPORAL_METRICS_PORT: String(temporalPort),
    ...more,
  });
  if (!untilTold) onTestFinished(() => end(worker));
  const at = (given: number): string => `http://127.0.0.1:${given}`;
  return { ...worker, url: at(port), temporalUrl: at(temporalPort) };
}

/** Drains a worker. */
export async function end({ child, ended }: WorkerProcess): Promise<void> {
  child.kill('SIGTERM');
  await ended;
}

/** Status and text of a page. */
export async function look(url: string, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path);
  return { status: response.status, text: await response.text() };
}

/** The samples that /metrics has now. */
export async function scrape(url: string): Promise<Sample[]> {
  const { text } = await look(url, '/metrics');
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels = '', value]) => ({
    name: name!,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, word]) => [key!, word!])),
    value: Number(value),
  }));
}

/** The values of a metric of ours (its name without prefix) by its labels, `shop customers accepted`. */
export const valuesOf = (samples: readonly Sample[], name: string): Record<string, number> =>
  Object.fromEntries(
    samples
      .filter((sample) => sample.name === `partner_sync_${name}`)
      .map(({ labels, value }) => [Object.values(labels).join(' '), value]),
  );
