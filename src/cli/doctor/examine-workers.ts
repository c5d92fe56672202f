/**
 * Doctor's checks of the workers of a task queue. Each is asked on a queue of its own whether it responds, has the
 * files, versions and variables of this machine, and reaches what it needs: a run could be taken up by any of them.
 */
import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Env } from '../../config/environment.js';
import { hashedVariables } from '../../config/hashed-variables.js';
import { packageVersion } from '../../config/package-version.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../domain/errors.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { loadQueueOf } from '../../domain/run/work.js';
import { askWorkers } from './ask-workers.js';
import { fail, ok, warn, type Examined } from './examination.js';
import { silentWorkers } from './silent-workers.js';
import { workerDifferences } from './worker-differences.js';

/** What the workers are asked, and with what their answers are compared. */
export interface AskingWorkers {
  /**
   * The sync that they are asked about; null for none. It is given even if its files have errors here (`sync` is null
   * then), since the workers have files of their own.
   */
  readonly asked: string | null;
  readonly sync: SyncSpec | null;
  /** The variables that its files name here. */
  readonly variables: readonly string[];
  readonly env: Env;
  /** Receives a line for the person who waits. */
  readonly note: (line: string) => void;
}

/**
 * One line for the workers as a whole, and one for each that has a problem. Temporal lists those that polled within the
 * last minutes, so one that was just stopped is listed too; {@link silentWorkers} tells it apart from a frozen one.
 */
export async function examineWorkers(
  client: Client,
  taskQueue: string,
  { asked, sync, variables, env, note }: AskingWorkers,
): Promise<Examined[]> {
  const pollers = await pollersOf(client, taskQueue);
  if (pollers.size === 0) return [warn('workers', `none polls task queue ${taskQueue}`, 'partner-sync worker')];
  const salt = randomBytes(16).toString('hex');
  const [{ states, takenBy }, hashes] = await Promise.all([
    askWorkers(client, { taskQueue, sync: asked, salt, identities: [...pollers.keys()] }, note),
    hashedVariables(env, variables, salt),
  ]);
  const answered = states.filter((worker) => worker.state !== null);
  const silent = states.filter(({ state }) => state === null).map(({ identity }) => identity);
  const found = [
    ...silentWorkers(silent, pollers, takenBy),
    ...answered.flatMap(({ identity, state }) =>
      state!.failures.map(({ part, code, message }) =>
        fail('worker', `${identity}: ${message.startsWith(`${part}: `) ? '' : `${part}: `}${message}`, remedyOf(code)),
      ),
    ),
    ...workerDifferences(answered, {
      files: sync?.version ?? null,
      program: packageVersion(),
      variables: hashes,
    }),
  ];
  const count = `${answered.length} on task queue ${taskQueue}`;
  if (answered.length === 0)
    return [fail('workers', `none on task queue ${taskQueue} responds`, 'partner-sync worker'), ...found];
  return [ok('workers', `${count}, ${answered.length === 1 ? 'which responds' : 'all of which respond'}`), ...found];
}

/**
 * The catalogue's remedy, except that wrong files and variables of one worker are best compared with those of the
 * others.
 */
const remedyOf = (code: string): string =>
  code === 'config_invalid'
    ? 'give this worker the files and variables that the others have, and start it again'
    : ERROR_CATALOGUE[code as ErrorCode].remedy;

/**
 * When each worker last polled, in milliseconds since 1970, by its identity, over all kinds of tasks and both task
 * queues.
 */
async function pollersOf(client: Client, taskQueue: string): Promise<Map<string, number>> {
  const [WORKFLOWS, ACTIVITIES] = [1, 2];
  const found = new Map<string, number>();
  for (const [name, taskQueueType] of [
    [taskQueue, WORKFLOWS],
    [taskQueue, ACTIVITIES],
    [loadQueueOf(taskQueue), ACTIVITIES],
  ] as const) {
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name },
      taskQueueType,
    });
    for (const { identity, lastAccessTime } of pollers ?? [])
      if (identity)
        found.set(identity, Math.max(found.get(identity) ?? 0, Number(lastAccessTime?.seconds ?? 0) * 1000));
  }
  return found;
}
