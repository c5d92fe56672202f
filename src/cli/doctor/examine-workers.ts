/** The workers of a task queue, each asked for itself: whether it answers, has the files, and reaches what it needs. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { ERROR_CATALOGUE, type ErrorCode } from '../../domain/errors.js';
import type { SyncSpec } from '../../domain/sync.js';
import { sliceQueueOf, type AskWorkersInput, type WorkerStates } from '../../domain/work.js';
import { fail, ok, warn, type Examined } from './examination.js';

/** Milliseconds: a poll is answered after a minute at the latest, and then made anew. Who has not asked for longer is gone. */
const POLLS_AGAIN = 90_000;
/** Milliseconds that all of them together are given; where none lives, nobody even takes the question up. */
const PATIENCE = 40_000;
/** Tasks of the question itself that a frozen worker has got are given to the next one after this. */
const TASK_TIMEOUT = '2s';

export async function examineWorkers(
  client: Client,
  taskQueue: string,
  sync: SyncSpec | null,
  asked: string | null,
): Promise<Examined[]> {
  const pollers = await pollersOf(client, taskQueue);
  if (pollers.size === 0) return [warn('workers', `none listens on task queue ${taskQueue}`, 'partner-sync worker')];
  const states = await ask(client, { taskQueue, sync: asked, identities: [...pollers.keys()] });
  const answered = states.filter((worker) => worker.state !== null);
  const silent = states.filter(({ state }) => state === null).map(({ identity }) => identity);
  const recent = silent.filter((identity) => Date.now() - pollers.get(identity)! < POLLS_AGAIN);
  const gone = silent.filter((identity) => !recent.includes(identity));
  const found = [
    ...recent.map((identity) =>
      fail('worker', `${identity} does not answer: it is frozen, or ended a moment ago`, LOOK_AGAIN),
    ),
    ...answered.flatMap(({ identity, state }) =>
      state!.troubles.map(({ part, code, message }) =>
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
    return [fail('workers', `none on task queue ${taskQueue} answers`, 'partner-sync worker'), ...found];
  return [ok('workers', `${count}, ${answered.length === 1 ? 'which answers' : 'all of which answer'}`), ...found];
}

const LOOK_AGAIN =
  'look again in two minutes; if it is still there, end it: a run is only held up, another worker takes over';
const GONE = 'nothing, where it was ended; Temporal forgets it within minutes';

const remedyOf = (code: string): string =>
  code === 'config_invalid'
    ? 'give this worker the files and variables that the others have, and start it again'
    : ERROR_CATALOGUE[code as ErrorCode].remedy;

/** By identity: when it last asked for work, of either kind, on either queue. */
async function pollersOf(client: Client, taskQueue: string): Promise<Map<string, number>> {
  const [WORKFLOWS, ACTIVITIES] = [1, 2];
  const found = new Map<string, number>();
  for (const [name, taskQueueType] of [
    [taskQueue, WORKFLOWS],
    [taskQueue, ACTIVITIES],
    [sliceQueueOf(taskQueue), ACTIVITIES],
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

async function ask(client: Client, input: AskWorkersInput): Promise<WorkerStates> {
  const handle = await client.workflow.start('askWorkers', {
    taskQueue: input.taskQueue,
    workflowId: `doctor-${randomUUID()}`,
    args: [input],
    workflowTaskTimeout: TASK_TIMEOUT,
    workflowExecutionTimeout: PATIENCE,
    staticSummary: 'partner-sync doctor asks the workers',
  });
  try {
    return (await handle.result()) as WorkerStates;
  } catch {
    return input.identities.map((identity) => ({ identity, state: null }));
  }
}

/** Workers with other files than the rest fail each other's runs. */
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
      'give the workers these files, between runs',
    ),
  ];
}

function grouped(answered: WorkerStates): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { identity, state } of answered)
    if (state?.version != null) found.set(state.version, [...(found.get(state.version) ?? []), identity]);
  return found;
}
