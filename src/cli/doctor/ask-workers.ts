/** Asks the workers of a task queue about their state, each on a queue of its own. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { AskWorkersInput, WorkerStates } from '../../domain/run/work.js';
import { milliseconds, seconds } from '../../domain/timeouts.js';
import { quantity } from '../../domain/values/quantity.js';

/** What came of the question. */
export interface AskedWorkers {
  readonly states: WorkerStates;
  /** The identities of workers that took a task of it, whether or not they have answered. */
  readonly takenBy: ReadonlySet<string>;
}

/**
 * Starts the workflow `askWorkers` and awaits the states. If nothing takes it up in time, none of the workers responds,
 * which is a result and not an error. `note` receives a line for the person who waits.
 */
export async function askWorkers(
  client: Client,
  input: AskWorkersInput,
  note: (line: string) => void,
): Promise<AskedWorkers> {
  const handle = await client.workflow.start('askWorkers', {
    taskQueue: input.taskQueue,
    workflowId: `doctor-${randomUUID()}`,
    args: [input],
    workflowTaskTimeout: milliseconds('doctorTask'),
    workflowExecutionTimeout: milliseconds('doctorAll'),
    staticSummary: 'partner-sync doctor asks the workers',
  });
  const ended = new AbortController();
  void tellWaiting(handle, input.identities.length, note, ended.signal);
  const states = await handle.result().then(
    (result) => result as WorkerStates,
    () => input.identities.map((identity) => ({ identity, state: null })),
  );
  ended.abort();
  return { states, takenBy: await takenBy(handle) };
}

/** Empty if the server cannot be asked any more. */
async function takenBy(handle: WorkflowHandle): Promise<ReadonlySet<string>> {
  const { events } = await handle.fetchHistory().catch(() => ({ events: [] }));
  const started = (events ?? []).map(
    (event) => event.activityTaskStartedEventAttributes ?? event.workflowTaskStartedEventAttributes,
  );
  return new Set(started.flatMap((task) => task?.identity ?? []));
}

/**
 * Says how many workers have answered, first after about a second, until `ended`. The server counts them: a query would have to
 * be answered by one of the workers.
 */
async function tellWaiting(
  handle: WorkflowHandle,
  workers: number,
  note: (line: string) => void,
  ended: AbortSignal,
): Promise<void> {
  const limit = `waiting for at most ${seconds('doctorAll')} s`;
  try {
    for (let pause = milliseconds('doctorFirstNote'); ; pause = milliseconds('doctorNotes')) {
      await sleep(pause, undefined, { signal: ended });
      const { events } = await handle.fetchHistory();
      const answered = events?.filter((event) => event.activityTaskCompletedEventAttributes).length ?? 0;
      if (ended.aborted) return;
      const those = `${answered} of ${quantity(workers, 'worker')}`;
      note(
        answered === 0 ? `no worker has answered yet; ${limit} ...` : `${those} answered; ${limit} for the rest ...`,
      );
    }
  } catch {
    // They have answered, or the server cannot be asked, which the result will show.
  }
}
