/**
 * Doctor's checks of the workers of a task queue. Each is asked on a queue of its own whether it responds, has the
 * files, and reaches what it needs: a run could be taken up by any of them.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { ERROR_CATALOGUE, type ErrorCode } from '../../domain/errors.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { loadQueueOf, type AskWorkersInput, type WorkerStates } from '../../domain/run/work.js';
import { fail, ok, warn, type Examined } from './examination.js';
import { milliseconds } from '../../domain/timeouts.js';

/**
 * One line for the workers as a whole, and one for each that has a problem. Temporal lists those that polled within the
 * last minutes, so one that was just stopped is listed too; it is told apart from a frozen one by when it last polled.
 */
export async function examineWorkers(
  client: Client,
  taskQueue: string,
  sync: SyncSpec | null,
  asked: string | null,
): Promise<Examined[]> {
  const pollers = await pollersOf(client, taskQueue);
  if (pollers.size === 0) return [warn('workers', `none polls task queue ${taskQueue}`, 'partner-sync worker')];
  const states = await ask(client, { taskQueue, sync: asked, identities: [...pollers.keys()] });
  const answered = states.filter((worker) => worker.state !== null);
  const silent = states.filter(({ state }) => state === null).map(({ identity }) => identity);
  const recent = silent.filter((identity) => Date.now() - pollers.get(identity)! < milliseconds('doctorWorkerGone'));
  const gone = silent.filter((identity) => !recent.includes(identity));
  const found = [
    ...recent.map((identity) =>
      fail('worker', `${identity} does not respond: it is frozen, or ended a moment ago`, LOOK_AGAIN),
    ),
    ...answered.flatMap(({ identity, state }) =>
      state!.failures.map(({ part, code, message }) =>
        fail('worker', `${identity}: ${part}: ${message}`, remedyOf(code)),
      ),
    ),
    ...versions(answered, sync),
    ...gone.map((identity) =>
      warn(
        'worker',
        `${identity} has not asked for work since ${new Date(pollers.get(identity)!).toISOString()}`,
        GONE,
      ),
    ),
  ];
  const count = `${answered.length} on task queue ${taskQueue}`;
  if (answered.length === 0)
    return [fail('workers', `none on task queue ${taskQueue} responds`, 'partner-sync worker'), ...found];
  return [ok('workers', `${count}, ${answered.length === 1 ? 'which responds' : 'all of which respond'}`), ...found];
}

const LOOK_AGAIN =
  'run doctor again in two minutes; if the worker is still listed, end it: runs are only delayed, as another worker takes over';
const GONE = 'nothing, if it was stopped; Temporal forgets it within minutes';

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

/**
 * Starts the workflow `askWorkers` and awaits the states. If nothing takes it up in time, none of the workers responds,
 * which is a result and not an error.
 */
async function ask(client: Client, input: AskWorkersInput): Promise<WorkerStates> {
  const handle = await client.workflow.start('askWorkers', {
    taskQueue: input.taskQueue,
    workflowId: `doctor-${randomUUID()}`,
    args: [input],
    workflowTaskTimeout: milliseconds('doctorTask'),
    workflowExecutionTimeout: milliseconds('doctorAll'),
    staticSummary: 'partner-sync doctor asks the workers',
  });
  try {
    return (await handle.result()) as WorkerStates;
  } catch {
    return input.identities.map((identity) => ({ identity, state: null }));
  }
}

/** With different files it is left to chance by which of them the next run goes. */
function versions(answered: WorkerStates, sync: SyncSpec | null): Examined[] {
  const byVersion = grouped(answered);
  const told = [...byVersion].map(([version, identities]) => `${version} on ${identities.join(', ')}`).join('; ');
  if (byVersion.size > 1)
    return [
      fail('worker', `the workers have different versions of the files: ${told}`, 'give all workers the same files'),
    ];
  if (sync === null || byVersion.size === 0 || byVersion.has(sync.version)) return [];
  return [
    warn(
      'worker',
      `the workers have another version of the files: ${told}; here it is ${sync.version}`,
      'give the workers these files',
    ),
  ];
}

/** Identities by the version of the files that they have; those that could not load them are left out. */
function grouped(answered: WorkerStates): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { identity, state } of answered)
    if (state?.version != null) found.set(state.version, [...(found.get(state.version) ?? []), identity]);
  return found;
}
