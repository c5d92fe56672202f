/** A child process of the stack, with its log, its pid file, a notification when it dies unexpectedly, and restart. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../domain/errors.js';
import { endProcess, spawnDetached, tailOf, type DetachedProcess } from './detached-process.js';
import { isAlive } from './is-alive.js';
import { leftoverServer } from './leftover-server.js';
import { milliseconds, seconds } from '../domain/timeouts.js';

/** Identifies one start of the process, for the readiness check. */
export interface StartedProcess {
  readonly pid: number;
  readonly startedAt: Date;
}

/** How to run a child process. */
export interface ManagedProcessInput {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The stack's folder, which contains `logs/<name>.log` and `<name>.pid`. */
  readonly folder: string;
  readonly log: (line: string) => void;
  /** Polled until it resolves to true; a rejection counts as not ready. */
  readonly isReady: (started: StartedProcess) => Promise<boolean>;
  /** Milliseconds that the process has to end after SIGTERM; a worker drains in this time. */
  readonly drainMs: number;
  /** Called with a message when the process ends without `stop` or `kill`. */
  readonly onDeath: (message: string) => void;
}

/** A running child process. */
export interface ManagedProcess {
  readonly pid: number;
  /** Stops the process gracefully and starts it again; resolves when it is ready. */
  restart(): Promise<void>;
  /** Ends it with SIGTERM, and with SIGKILL after `drainMs`. */
  stop(): Promise<void>;
  /** Ends it immediately with SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Stops an instance that an earlier run left behind, starts the process and resolves when it is ready. Throws
 * `config_invalid` with the end of its log if it ends or is not ready in time.
 */
export async function startManagedProcess(input: ManagedProcessInput): Promise<ManagedProcess> {
  const { name, folder, log } = input;
  const logFile = join(folder, 'logs', `${name}.log`);
  const pidFile = join(folder, `${name}.pid`);
  const steps = [{ signal: 'SIGTERM', waitMs: input.drainMs }] as const;
  let current: DetachedProcess;
  let stopRequested = false;

  const start = async (): Promise<void> => {
    const [command, ...args] = input.command;
    const startedAt = new Date();
    current = await spawnDetached({ command, args, logFile, env: input.env, cwd: input.cwd, steps });
    const started = current;
    stopRequested = false;
    writeFileSync(pidFile, `${started.pid}\n`, { mode: 0o600 });
    await untilReady(input, started, startedAt, logFile);
    void started.ended.then((ending) => {
      if (!stopRequested && started === current)
        input.onDeath(`The ${name} ended by itself (${ending}).\n${tailOf(logFile)}`);
    });
  };
  const stop = async (): Promise<void> => {
    stopRequested = true;
    if (isAlive(current.pid)) await endProcess(current.pid, steps);
  };

  const leftover = leftoverServer(pidFile, input.command.slice(0, 3).join(' '));
  if (leftover !== undefined) {
    log(`Stopping the ${name} that an earlier run left behind (pid ${leftover})`);
    await endProcess(leftover, [{ signal: 'SIGTERM', waitMs: milliseconds('leftoverTermination') }]);
  }
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get pid() {
      return current.pid;
    },
    restart: async () => {
      await stop();
      await start();
    },
    stop,
    kill: async () => {
      stopRequested = true;
      await endProcess(current.pid, []);
    },
  };
}

/** Resolves when the process is ready; throws when it ends first or takes too long. */
async function untilReady(
  { name, isReady }: ManagedProcessInput,
  started: DetachedProcess,
  startedAt: Date,
  logFile: string,
): Promise<void> {
  const deadline = Date.now() + milliseconds('serverReady');
  while (!(await isReady({ pid: started.pid, startedAt }).catch(() => false))) {
    const ending = started.ending();
    if (ending !== undefined || Date.now() > deadline) {
      const why = ending === undefined ? `is not ready after ${seconds('serverReady')} s` : `ended with ${ending}`;
      throw new PartnerSyncError('config_invalid', `The ${name} ${why}. The end of ${logFile}:\n${tailOf(logFile)}`);
    }
    await sleep(milliseconds('processLook'));
  }
}
