/** A child process of the stack: its log, its pid file, the report when it dies by itself, and starting it again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../domain/errors.js';
import { endProcess, isAlive, spawnDetached, tailOf, type DetachedProcess } from './detached-process.js';
import { leftBehind } from './left-behind.js';

export interface StartedProcess {
  readonly pid: number;
  readonly startedAt: Date;
}

export interface ManagedProcessInput {
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The stack's folder: `logs/<name>.log` and `<name>.pid` are in it. */
  readonly folder: string;
  readonly log: (line: string) => void;
  /** Asked again and again until it answers true. */
  readonly isReady: (started: StartedProcess) => Promise<boolean>;
  readonly readyWithinMs: number;
  /** How long SIGTERM is given: a worker drains. */
  readonly drainMs: number;
  /** Called when it ends and nobody asked it to. */
  readonly onDeath: (message: string) => void;
}

export interface ManagedProcess {
  readonly pid: number;
  restart(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export async function startManagedProcess(input: ManagedProcessInput): Promise<ManagedProcess> {
  const { name, folder, log } = input;
  const logFile = join(folder, 'logs', `${name}.log`);
  const pidFile = join(folder, `${name}.pid`);
  const steps = [{ signal: 'SIGTERM', waitMs: input.drainMs }] as const;
  let current: DetachedProcess;
  let asked = false;

  const start = async (): Promise<void> => {
    const [command, ...args] = input.command;
    const startedAt = new Date();
    current = await spawnDetached({ command, args, logFile, env: input.env, cwd: input.cwd, steps });
    const started = current;
    asked = false;
    writeFileSync(pidFile, `${started.pid}\n`, { mode: 0o600 });
    await untilReady(input, started, startedAt, logFile);
    void started.ended.then((ending) => {
      if (!asked && started === current) input.onDeath(`The ${name} ended by itself (${ending}).\n${tailOf(logFile)}`);
    });
  };
  const stop = async (): Promise<void> => {
    asked = true;
    if (isAlive(current.pid)) await endProcess(current.pid, steps);
  };

  const orphan = leftBehind(pidFile, input.command.slice(0, 3).join(' '));
  if (orphan !== undefined) {
    log(`Stopping the ${name} that an earlier run left behind (pid ${orphan})`);
    await endProcess(orphan, [{ signal: 'SIGTERM', waitMs: 5_000 }]);
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
      asked = true;
      await endProcess(current.pid, []);
    },
  };
}

async function untilReady(
  { name, isReady, readyWithinMs }: ManagedProcessInput,
  started: DetachedProcess,
  startedAt: Date,
  logFile: string,
): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (!(await isReady({ pid: started.pid, startedAt }).catch(() => false))) {
    const ending = started.ending();
    if (ending !== undefined || Date.now() > deadline) {
      const why = ending === undefined ? `is not ready after ${readyWithinMs / 1000} s` : `ended with ${ending}`;
      throw new PartnerSyncError('config_invalid', `The ${name} ${why}. The end of ${logFile}:\n${tailOf(logFile)}`);
    }
    await sleep(100);
  }
}
