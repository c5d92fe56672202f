/** Runs the workflow `sync` with activities that only record their calls, for tests of its own decisions. */
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { inject } from 'vitest';
import type { Activities } from '../../activities/index.js';
import { NO_COUNTS, type RunInput, type RunReport } from '../../src/domain/run/run.js';
import type { OpenedRun, PollPendingResult } from '../../src/domain/run/work.js';
import { createWorkers } from '../../src/worker/workers.js';
import { failureOf, quietRuntime } from '../pipeline/shop.js';
import { workflowBundle } from '../workflow-bundle.js';

export const STAGES = [['customers', 'products'], ['orders'], ['lines']];

export const openedRun = (mode: string): OpenedRun => ({
  runId: '7',
  sync: 'shop',
  mode,
  waitForPending: 0,
  failOn: 'never',
  manyTenants: false,
  guardWait: null,
  searchAttributes: [],
  stages: STAGES,
  firstPass: STAGES.map(() => []),
  polled: STAGES.flat(),
});

/** What a poll finds of a mapping with one pending record. */
export const STILL_PENDING = { waiting: 1, pending: 1, dueSoon: 0, pendingFor: 3600, parents: [] };

export const waits = (...backlogs: PollPendingResult['backlogs']): PollPendingResult => ({
  interrupted: false,
  backlogs,
});
export const NOTHING_WAITS = waits();

/** Runs the workflow `sync` against activities that note their calls; `more` replaces some. `meanwhile`: what is done to it. */
export async function runWith(
  input: Partial<RunInput>,
  more: (notes: string[]) => Partial<Activities> = () => ({}),
  meanwhile: (handle: WorkflowHandle) => Promise<void> = () => Promise.resolve(),
) {
  quietRuntime();
  const notes: string[] = [];
  const activities: Activities = {
    openRun: () => Promise.resolve(openedRun('full')),
    detectSchemaDrift: () => Promise.resolve({ skipped: [], notes: [] }),
    collectChanges: () => Promise.resolve({ notes: [] }),
    followChanges: () => Promise.resolve({ progress: [], holds: [], searches: [], beginAgain: null }),
    planMapping: ({ mapping }) =>
      Promise.resolve({
        partitions: [`${mapping}-a`, `${mapping}-b`].map((id) => ({ id, label: null })),
        concurrency: 2,
        hold: null,
      }),
    deliverSmallTenants: () => Promise.resolve({ sent: 0, countingMs: 0, next: 0 }),
    recoverSmallTenants: () => Promise.resolve(),
    deliverParents: ({ mapping }) => Promise.resolve(void notes.push(`parents of ${mapping}`)),
    async loadPartition({ partitionId }) {
      notes.push(`load ${partitionId}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      notes.push(`loaded ${partitionId}`);
      return { done: notes.filter((n) => n === `loaded ${partitionId}`).length === 2, hold: null, progress: [] };
    },
    replayDeadLetters: ({ partitionId }) =>
      Promise.resolve(void notes.push(`replay ${partitionId}`)).then(() => ({ done: true, hold: null, progress: [] })),
    sweepDeadLetters: ({ mappings }) =>
      Promise.resolve(void notes.push(`sweep ${mappings.join()}`)).then(() => ({ mappings: [], after: '0' })),
    removeVanished: ({ mapping }) =>
      Promise.resolve(void notes.push(`remove ${mapping}`)).then(() => ({ done: true, hold: null, progress: [] })),
    pollPending: ({ mappings }) =>
      Promise.resolve(void notes.push(...mappings.map((mapping) => `poll ${mapping}`))).then(() => NOTHING_WAITS),
    approveHold: () => Promise.resolve(),
    setRate: () => Promise.resolve(),
    closeRun: () => Promise.resolve({ outcome: 'complete', mappings: [], total: NO_COUNTS } as unknown as RunReport),
    examineWorker: () => Promise.resolve({ version: null, program: '0.1.0', variables: {}, failures: [] }),
    recordFailure: ({ failure }) => Promise.resolve(void notes.push(`noted ${failure.code}`)),
    pruneLedger: () => Promise.resolve(void notes.push('prune')),
    recordAction: () => Promise.resolve(),
    failRun: () => Promise.resolve(void notes.push('failed')),
    watchSyncs: () => Promise.resolve({ syncs: 0, wrong: 0, unreadable: [], pingsUnanswered: [] }),
    deliverNotifications: () => Promise.resolve({ delivered: 0 }),
    ...more(notes),
  };
  const address = inject('temporalAddress');
  const [native, connection] = await Promise.all([
    NativeConnection.connect({ address }),
    // Histories that are to be long come in one response.
    Connection.connect({ address, channelArgs: { 'grpc.max_receive_message_length': -1 } }),
  ]);
  const taskQueue = randomUUID();
  const workers = await createWorkers(
    taskQueue,
    () => activities,
    { connection: native },
    { workflowBundle: await workflowBundle() },
  );
  const running = workers.run();
  try {
    const handle = await new Client({ connection }).workflow.start('sync', {
      taskQueue,
      workflowId: randomUUID(),
      args: [{ sync: 'shop', ...input }],
    });
    await meanwhile(handle);
    const end = await handle.result().then(
      () => 'complete',
      async () => failureOf(handle),
    );
    const { events } = await handle.fetchHistory();
    return { notes, end, events: events!.length };
  } finally {
    workers.shutdown();
    await running;
    await connection.close();
    await native.close();
  }
}

/** A promise, and the function that resolves it. */
export function signal(): [Promise<void>, () => void] {
  let resolve = (): void => undefined;
  return [new Promise<void>((resolved) => (resolve = resolved)), () => resolve()];
}

/** As an activity fails whose worker dies just when it is to be cancelled: Temporal does not try it again. */
export async function lostWhenCancelled(): Promise<never> {
  const { cancellationSignal, heartbeat } = Context.current();
  while (!cancellationSignal.aborted) {
    heartbeat();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('lost with its worker');
}
