/** Runs Temporal's dev server on this machine: one process that includes the Web UI. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { PartnerSyncError } from '../domain/errors.js';
import { SEARCH_ATTRIBUTES } from '../domain/run/search-attributes.js';
import { endProcess, spawnDetached, tailOf, type DetachedProcess } from './detached-process.js';
import { isAlive } from './is-alive.js';
import type { EndingStep } from './end-with-owner.js';
import { leftoverServer } from './leftover-server.js';
import { freePort, rememberedPorts } from './ports.js';
import { milliseconds, seconds, times } from '../domain/timeouts.js';

/** How to start the server. */
export interface StartTemporalInput {
  /** The Temporal CLI, from `findTemporal`. */
  readonly path: string;
  /** Contains the history, the log and the remembered ports. */
  readonly folder: string;
  readonly log: (line: string) => void;
  readonly port?: number;
  readonly uiPort?: number;
  /** Where the history is stored; default `file`. In `memory` it is lost with the process, but costs a quarter less. */
  readonly history?: 'file' | 'memory';
  /** Settings in addition to the built-in ones. */
  readonly dynamicConfig?: Readonly<Record<string, number>>;
  /** Variables to add to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A running Temporal server. */
export interface EmbeddedTemporal {
  readonly pid: number;
  /** `host:port`, as TEMPORAL_ADDRESS expects it. */
  readonly address: string;
  readonly uiUrl: string;
  stop(): Promise<void>;
}

const SHUT_DOWN: readonly EndingStep[] = [
  { signal: 'SIGINT', waitMs: milliseconds('temporalShutdown') },
  { signal: 'SIGTERM', waitMs: milliseconds('temporalTermination') },
];

const DYNAMIC_CONFIG: Readonly<Record<string, number>> = {
  // With several task queue partitions, as for many workers, a first task may wait a second or two for a poll on its
  // partition.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // By default the server looks for new tasks 20 times a second, for all runs together: each step of a run waits for it.
  'history.transferProcessorMaxPollRPS': 1000,
};

/**
 * Starts the server and resolves when its namespace responds. A server that an earlier run left behind is stopped first.
 * Throws `config_invalid` with the end of the log.
 */
export async function startTemporal({ path, folder, ...input }: StartTemporalInput): Promise<EmbeddedTemporal> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = join(folder, 'temporal.db');
  const logFile = join(folder, 'temporal.log');
  const pidFile = join(folder, 'temporal.pid');
  const living = leftoverServer(pidFile, database);
  if (living !== undefined) {
    // Two servers on one SQLite file would corrupt each other's histories.
    input.log(`Stopping the Temporal server that an earlier run left behind (pid ${living})`);
    await shutDown(living);
  }
  let attempt = 1;
  while (true) {
    const ports = await chosenPorts(folder, input);
    const address = `127.0.0.1:${ports.frontend}`;
    const server = await spawnDetached({
      command: path,
      args: [
        'server',
        'start-dev',
        '--ip',
        '127.0.0.1',
        '--port',
        String(ports.frontend),
        '--ui-port',
        String(ports.ui),
        ...(input.history === 'memory' ? [] : ['--db-filename', database]),
        '--namespace',
        'default',
        '--log-level',
        'error',
        ...Object.entries({ ...DYNAMIC_CONFIG, ...input.dynamicConfig }).flatMap(([name, value]) => [
          '--dynamic-config-value',
          `${name}=${value}`,
        ]),
        ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
      ],
      logFile,
      cwd: folder,
      env: { ...process.env, ...input.env },
      steps: SHUT_DOWN,
    });
    writeFileSync(pidFile, `${server.pid}\n`);
    const stop = (): Promise<void> => shutDown(server.pid);
    const failure = await untilReady(server, address);
    if (failure === undefined) return { pid: server.pid, address, uiUrl: `http://127.0.0.1:${ports.ui}`, stop };
    if (isAlive(server.pid)) await stop();
    // Another process may have taken a port meanwhile, hence several attempts.
    if (attempt === times('serverStarts')) {
      throw new PartnerSyncError('config_invalid', `Temporal (${path}) did not start: ${failure}\n${tailOf(logFile)}`);
    }
    input.log(`Temporal did not start (${failure}); trying once more`);
    attempt += 1;
  }
}

/** The requested ports, or the remembered ones. */
async function chosenPorts(
  folder: string,
  { port, uiPort }: Pick<StartTemporalInput, 'port' | 'uiPort'>,
): Promise<{ frontend: number; ui: number }> {
  if (port !== undefined) return { frontend: port, ui: uiPort ?? (await freePort(undefined, [port])) };
  const remembered = await rememberedPorts(join(folder, 'ports.json'), ['frontend', 'ui']);
  return { frontend: remembered.frontend, ui: uiPort ?? remembered.ui };
}

/**
 * Resolves to undefined when the namespace responds (a listening port is not enough), otherwise to the reason why it
 * does not.
 */
async function untilReady(server: DetachedProcess, address: string): Promise<string | undefined> {
  const deadline = Date.now() + milliseconds('serverReady');
  while (true) {
    if (server.ending() !== undefined) return `it ended with ${server.ending()}`;
    const connection = Connection.lazy({ address });
    try {
      await connection.withDeadline(Date.now() + milliseconds('serverProbe'), async () => {
        await connection.workflowService.describeNamespace({ namespace: 'default' });
      });
      return undefined;
    } catch (error) {
      if (Date.now() > deadline) return `no answer in ${seconds('serverReady')} s: ${(error as Error).message}`;
    } finally {
      await connection.close();
    }
    await sleep(milliseconds('temporalLook'));
  }
}

const shutDown = (pid: number): Promise<void> => endProcess(pid, SHUT_DOWN);
