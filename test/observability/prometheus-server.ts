/** A Prometheus of its own for one test file, which scrapes addresses of 127.0.0.1. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithOwner } from '../../src/embedded/end-with-owner.js';
import { freePort } from '../../src/embedded/ports.js';
import { eventually } from '../pipeline/shop.js';

export const RULES = fileURLToPath(new URL('../../deploy/prometheus/alerts.yml', import.meta.url));

const MISSING =
  'These tests need Prometheus (the programs prometheus and promtool). "npm test" gets them where it can.';

export interface PrometheusServer {
  /** The series that a query finds now. */
  query(expression: string): Promise<readonly { readonly metric: Readonly<Record<string, string>>; value: number }[]>;
  /** What its API answers for a path such as `rules`. */
  ask<T>(path: string): Promise<T>;
  stop(): Promise<void>;
}

/** Runs promtool. */
export function promtool(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', [...args], { encoding: 'utf8' });
  if (error !== undefined) throw new Error(MISSING, { cause: error });
  return { status, output: stdout + stderr };
}

/** Starts it with the shipped rules, or those of another file; it scrapes and evaluates each second, or as often as told. */
export async function startPrometheus(
  targets: readonly string[],
  { rules = RULES, every = '1s' } = {},
): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-prometheus-'));
  const port = await freePort();
  const config = {
    global: { scrape_interval: every, evaluation_interval: every },
    scrape_configs: [
      { job_name: 'partner-sync', static_configs: [{ targets: targets.map((url) => new URL(url).host) }] },
    ],
    rule_files: [rules],
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const server = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  endWithOwner(server);
  let output = '';
  server.stderr.setEncoding('utf8').on('data', (chunk: string) => (output = (output + chunk).slice(-4_000)));
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  let failed: Error | undefined;
  server.once('error', (cause) => (failed = new Error(MISSING, { cause })));
  const url = `http://127.0.0.1:${port}`;
  await eventually('Prometheus is ready', async () => {
    if (failed !== undefined) throw failed;
    if (server.exitCode !== null) throw new Error(`Prometheus ended: ${output}`);
    return fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  };
  return {
    ask,
    async query(expression) {
      const { result } = await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
        `query?query=${encodeURIComponent(expression)}`,
      );
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async stop() {
      server.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
