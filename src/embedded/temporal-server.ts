/** Temporal's dev server on this machine: one process, its history in a file, the Web UI beside it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { PartnerSyncError } from '../domain/errors.js';
import { endProcess, isAlive, spawnDetached, tailOf, type DetachedProcess } from './detached-process.js';
import type { EndingStep } from './end-with-owner.js';
import { leftBehind } from './left-behind.js';
import { freePort, rememberedPorts } from './ports.js';

export interface StartTemporalInput {
  /** The Temporal CLI, as `findTemporal` found it. */
  readonly path: string;
  /** Holds the history, the log and the remembered ports. */
  readonly folder: string;
  readonly log: (line: string) => void;
  readonly port?: number;
  readonly uiPort?: number;
  /** Search attributes to register, name to type: `{ PartnerSyncOutcome: 'Keyword' }`. */
  readonly searchAttributes?: Readonly<Record<string, string>>;
}

export interface EmbeddedTemporal {
  readonly pid: number;
  /** host:port, as TEMPORAL_ADDRESS wants it. */
  readonly address: string;
  readonly uiUrl: string;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

const SHUT_DOWN: readonly EndingStep[] = [
  { signal: 'SIGINT', waitMs: 10_000 },
  { signal: 'SIGTERM', waitMs: 3_000 },
];

/** With several parts, as for many workers, a first task may wait a second or two for a poll that looks at its part. */
const ONE_PARTITION = ['matching.numTaskqueueReadPartitions', 'matching.numTaskqueueWritePartitions'];

export async function startTemporal({ path, folder, ...input }: StartTemporalInput): Promise<EmbeddedTemporal> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = join(folder, 'temporal.db');
  const logFile = join(folder, 'temporal.log');
  const pidFile = join(folder, 'temporal.pid');
  const living = leftBehind(pidFile, database);
  if (living !== undefined) {
    // Two servers on one SQLite file would corrupt each other's histories.
    input.log(`Stopping the Temporal server that an earlier run left behind (pid ${living})`);
    await shutDown(living);
  }
  for (let attempt = 1; ; attempt += 1) {
    const ports = await chosenPorts(folder, input);
    const address = `127.0.0.1:${ports.frontend}`;
    const server = await spawnDetached({
      command: path,
      args: [
        ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(ports.frontend)],
        ...['--ui-port', String(ports.ui), '--db-filename', database],
        ...['--namespace', 'default', '--log-level', 'error'],
        ...ONE_PARTITION.flatMap((setting) => ['--dynamic-config-value', `${setting}=1`]),
        ...Object.entries(input.searchAttributes ?? {}).flatMap(([name, type]) => [
          '--search-attribute',
          `${name}=${type}`,
        ]),
      ],
      logFile,
      cwd: folder,
      steps: SHUT_DOWN,
    });
    writeFileSync(pidFile, `${server.pid}\n`);
    const stop = (): Promise<void> => shutDown(server.pid);
    const failure = await untilReady(server, address);
    if (failure === undefined) return { pid: server.pid, address, uiUrl: `http://127.0.0.1:${ports.ui}`, stop };
    if (isAlive(server.pid)) await stop();
    // A port may have been taken in the meantime: hence a few attempts.
    if (attempt === 3) {
      throw new PartnerSyncError('config_invalid', `Temporal (${path}) did not start: ${failure}\n${tailOf(logFile)}`);
    }
    input.log(`Temporal did not start (${failure}); trying once more`);
  }
}

async function chosenPorts(
  folder: string,
  { port, uiPort }: Pick<StartTemporalInput, 'port' | 'uiPort'>,
): Promise<{ frontend: number; ui: number }> {
  if (port !== undefined) return { frontend: port, ui: uiPort ?? (await freePort(undefined, [port])) };
  const remembered = await rememberedPorts(join(folder, 'ports.json'), ['frontend', 'ui']);
  return { frontend: remembered.frontend, ui: uiPort ?? remembered.ui };
}

/** Ready is what answers for the namespace, not what listens. Answers why not, in words. */
async function untilReady(server: DetachedProcess, address: string): Promise<string | undefined> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    if (server.ending() !== undefined) return `it ended with ${server.ending()}`;
    const connection = Connection.lazy({ address });
    try {
      await connection.withDeadline(Date.now() + 2_000, async () => {
        await connection.workflowService.describeNamespace({ namespace: 'default' });
      });
      return undefined;
    } catch (error) {
      if (Date.now() > deadline) return `no answer in ${READY_WITHIN_MS / 1000} s: ${(error as Error).message}`;
    } finally {
      await connection.close();
    }
    await sleep(150);
  }
}

const shutDown = (pid: number): Promise<void> => endProcess(pid, SHUT_DOWN);
