/** The workflow's own decisions, with activities that only record their calls. */
import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { expect, inject, it } from 'vitest';
import type { Activities } from '../../activities/index.js';
import { NO_COUNTS, type RunInput, type RunReport } from '../../src/domain/run.js';
import { seconds } from '../../src/domain/timeouts.js';
import type { OpenedRun, PollPendingResult } from '../../src/domain/work.js';
import { createWorkers } from '../../src/worker/workers.js';
import { eventually, failureOf, quietRuntime } from '../pipeline/shop.js';
import { workflowBundle } from '../workflow-bundle.js';

const STAGES = [['customers', 'products'], ['orders'], ['lines']];

const openedRun = (mode: string): OpenedRun => ({
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
const STILL_PENDING = { waiting: 1, pending: 1, dueSoon: 0, pendingFor: 3600, parents: [] };

const waits = (...backlogs: PollPendingResult['backlogs']): PollPendingResult => ({ interrupted: false, backlogs });
const NOTHING_WAITS = waits();

/** Runs the workflow `sync` against activities that note their calls; `more` replaces some. `meanwhile`: what is done to it. */
async function runWith(
  input: Partial<RunInput>,
  more: (notes: string[]) => Partial<Activities> = () => ({}),
  meanwhile: (handle: WorkflowHandle) => Promise<void> = () => Promise.resolve(),
) {
  quietRuntime();
  const notes: string[] = [];
  const activities: Activities = {
    openRun: () => Promise.resolve(openedRun('full')),
    detectSchemaDrift: () => Promise.resolve({ skipped: [], notes: [] }),
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
    examineWorker: () => Promise.resolve({ version: null, failures: [] }),
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
    Connection.connect({ address }),
  ]);
  const taskQueue = randomUUID();
  const workers = await createWorkers(
    taskQueue,
    activities,
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
function signal(): [Promise<void>, () => void] {
  let resolve = (): void => undefined;
  return [new Promise<void>((resolved) => (resolve = resolved)), () => resolve()];
}

const mappingOf = (note: string): string => /(\w+)-[ab]/.exec(note)?.[1] ?? '';

it('begins a stage only after its parents are loaded and their pending records were polled', async () => {
  const { notes } = await runWith({});
  for (const [parent, child] of [
    ['customers', 'orders'],
    ['products', 'orders'],
    ['orders', 'lines'],
  ] as const) {
    const begins = notes.findIndex((n) => n.startsWith('load ') && mappingOf(n) === child);
    expect(notes.findLastIndex((n) => n.startsWith('loaded ') && mappingOf(n) === parent)).toBeLessThan(begins);
    expect(notes.indexOf(`poll ${parent}`)).toBeLessThan(begins);
  }
  // Two partitions, two time slices each.
  expect(notes.filter((n) => n === 'load orders-a')).toHaveLength(2);
});

it('runs two time slices at once in a process', async () => {
  let running = 0;
  let most = 0;
  const { notes, end } = await runWith({}, (taken) => ({
    async loadPartition({ partitionId }) {
      taken.push(partitionId);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 100));
      running--;
      return { done: true, hold: null, progress: [] };
    },
  }));
  expect(end).toBe('complete');
  expect(notes.filter((note) => /-[ab]$/.test(note))).toHaveLength(8);
  expect(most).toBe(2);
});

it('eventually gives time slices that wait behind stuck ones to any worker, one of a mapping after the other', async () => {
  // The first two fill the process, and do not end before the stage's two others have begun.
  const stuck = new Set<string>();
  const begunPartitions = new Set<string>();
  let allBegun = (): void => undefined;
  const begun = new Promise<void>((resolve) => (allBegun = resolve));
  const { notes, end } = await runWith({}, (taken) => ({
    async loadPartition({ partitionId }) {
      taken.push(partitionId);
      begunPartitions.add(partitionId);
      if (stuck.size < 2) stuck.add(partitionId);
      if (begunPartitions.size === 4) allBegun();
      if (stuck.has(partitionId)) await begun;
      return { done: true, hold: null, progress: [] };
    },
  }));
  expect(end).toBe('complete');
  const others = ['customers-a', 'customers-b', 'products-a', 'products-b'].filter((id) => !stuck.has(id));
  expect(notes.filter((note) => others.includes(note)).sort()).toEqual(others);
}, 120_000);

it('continues a long run at the stage where it was', async () => {
  const { notes, end } = await runWith({ continues: { runId: '7', stagesDone: 1, skipped: [], notes: [] } });
  expect(end).toBe('complete');
  expect(notes.filter((n) => n.startsWith('load ')).map(mappingOf)).not.toContain('customers');
  expect(notes).toContain('load orders-a');
});

it('does not begin to wait anew for pending records once it has continued', async () => {
  const pollUntil = Date.now() - 1000;
  const { notes, end } = await runWith(
    { continues: { runId: '7', stagesDone: 3, pollUntil, skipped: [], notes: [] } },
    (taken) => ({
      openRun: () => Promise.resolve({ ...openedRun('full'), waitForPending: 3600 }),
      pollPending: () => {
        taken.push('poll');
        return Promise.resolve(waits({ ...STILL_PENDING, mapping: 'orders' }));
      },
    }),
  );
  expect(end).toBe('complete');
  expect(notes.filter((note) => note === 'poll')).toHaveLength(1);
});

it('takes eleven events for a poll in which nothing has happened, and so 121 for a wait of ten minutes', async () => {
  const waiting = (waitForPending: number) =>
    runWith({ continues: { runId: '7', stagesDone: 3, skipped: [], notes: [] } }, (taken) => ({
      openRun: () => Promise.resolve({ ...openedRun('full'), waitForPending }),
      pollPending: () => {
        taken.push('poll');
        return Promise.resolve(waits({ ...STILL_PENDING, mapping: 'orders' }));
      },
    }));
  const [none, some] = await Promise.all([waiting(0), waiting(5)]);
  const polls = some.notes.length - none.notes.length;
  expect(polls).toBe(3);
  expect(some.events - none.events).toBe(11 * polls);

  let [left, pause, pollsOfTenMinutes] = [600, seconds('pollFirstPause'), 0];
  for (; left > 0; pollsOfTenMinutes++) {
    left -= pause;
    pause = Math.min(seconds('pollLongestPause'), 2 * pause);
  }
  expect(11 * pollsOfTenMinutes).toBe(121);
});

it('goes on at once with due records that a poll had no time for, even if its wait is over', async () => {
  const { notes, end } = await runWith({}, (taken) => ({
    pollPending: ({ mappings }) => {
      taken.push(`poll ${mappings.join()}`);
      const interrupted = taken.filter((note) => note === 'poll orders').length === 1 && mappings.join() === 'orders';
      return Promise.resolve({ ...NOTHING_WAITS, interrupted });
    },
  }));
  expect(end).toBe('complete');
  expect(notes.filter((note) => note === 'poll orders')).toHaveLength(2);
});

it('continues a wait that makes its history long, until the same time', async () => {
  // Temporal suggests a new execution for four megabytes too, which take fewer polls than thousands of events.
  const padding = 'x'.repeat(1_500_000);
  const continued: RunInput['continues'][] = [];
  const { end } = await runWith({}, () => ({
    openRun: ({ input }) => {
      continued.push(input.continues);
      return Promise.resolve({ ...openedRun('full'), waitForPending: 3600 });
    },
    pollPending: ({ mappings }) =>
      Promise.resolve(
        mappings.length < STAGES.flat().length || continued.length > 1
          ? NOTHING_WAITS
          : { ...waits({ ...STILL_PENDING, mapping: 'orders' }), padding },
      ),
  }));
  expect(end).toBe('complete');
  expect(continued).toHaveLength(2);
  expect(continued[1]).toMatchObject({ runId: '7', stagesDone: STAGES.length });
  const wait = continued[1]!.pollUntil! - Date.now();
  expect(wait).toBeGreaterThan(3_400_000);
  expect(wait).toBeLessThan(3_600_000);
}, 60_000);

it('sweeps dead letters in time slices, between which it can be paused and continue as a new execution', async () => {
  const padding = 'x'.repeat(1_500_000);
  const continued: RunInput['continues'][] = [];
  const [sweeping, hasBegun] = signal();
  const [paused, hasPaused] = signal();
  const rests = [
    { mappings: STAGES.flat(), after: '500' },
    { mappings: ['lines'], after: '7' },
    { mappings: [], after: '0' },
  ];
  const { notes, end } = await runWith(
    {},
    (taken) => ({
      openRun: ({ input }) => {
        continued.push(input.continues);
        return Promise.resolve(openedRun('mirror'));
      },
      // Long by then, but not before.
      pollPending: () => Promise.resolve(continued.length === 1 ? { ...NOTHING_WAITS, padding } : NOTHING_WAITS),
      async sweepDeadLetters({ mappings, after }) {
        taken.push(`sweep ${mappings.join()} after ${after}`);
        hasBegun();
        await paused;
        return rests.shift()!;
      },
    }),
    async (handle) => {
      await sweeping;
      await handle.executeUpdate('pause');
      hasPaused();
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(rests).toHaveLength(2);
      await handle.executeUpdate('resume');
    },
  );
  expect(end).toBe('complete');
  expect(continued.slice(1)).toMatchObject([{ stagesDone: 3, sweep: { mappings: STAGES.flat(), after: '500' } }]);
  const all = STAGES.flat().join();
  expect(notes.filter((note) => /^(sweep|remove lines)/.test(note))).toEqual([
    `sweep ${all} after 0`,
    `sweep ${all} after 500`,
    'sweep lines after 7',
    'remove lines',
  ]);
}, 60_000);

/** Resolves when the workflow waits for one activity alone. */
const untilOneIsLeft = (handle: WorkflowHandle): Promise<unknown> =>
  eventually('one activity is left', async () => {
    const { raw } = await handle.describe();
    return raw.pendingActivities?.length === 1 && raw.pendingWorkflowTask == null;
  });

it('keeps a pause that comes while one mapping of a long run still works, and the others are done', async () => {
  const padding = 'x'.repeat(1_500_000);
  let executions = 0;
  const [working, hasBegun] = signal();
  const [released, release] = signal();
  const { end } = await runWith(
    {},
    () => ({
      openRun: () => Promise.resolve((executions++, openedRun('full'))),
      planMapping: ({ mapping }) => {
        const planned = { partitions: [{ id: `${mapping}-a`, label: null }], concurrency: 1, hold: null };
        return Promise.resolve(executions === 1 ? { ...planned, padding } : planned);
      },
      async loadPartition({ partitionId }) {
        const result = { done: true, hold: null, progress: [] };
        if (executions > 1) return result;
        if (partitionId === 'products-a') {
          hasBegun();
          await released;
          return result;
        }
        await working;
        return { ...result, padding };
      },
    }),
    async (handle) => {
      await working;
      await untilOneIsLeft(handle);
      await handle.executeUpdate('pause');
      release();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(executions).toBe(1);
      await handle.executeUpdate('resume');
    },
  );
  expect(end).toBe('complete');
  expect(executions).toBe(2);
}, 60_000);

it('begins nothing of a mapping while it is paused, not even to plan it or to close the run', async () => {
  const steps: string[] = [];
  const [opened, hasOpened] = signal();
  const [open, letOpen] = signal();
  const pauseAt = async (handle: WorkflowHandle, what: string): Promise<void> => {
    await handle.executeUpdate('pause');
    steps.push(`paused ${what}`);
  };
  const goOn = async (handle: WorkflowHandle): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    steps.push('resumed');
    await handle.executeUpdate('resume');
  };
  const [polled, hasPolled] = signal();
  const [poll, letPoll] = signal();
  const { end } = await runWith(
    {},
    () => ({
      async openRun() {
        hasOpened();
        await open;
        return openedRun('incremental');
      },
      detectSchemaDrift: () => Promise.resolve((steps.push('columns'), { skipped: [], notes: [] })),
      planMapping: ({ mapping }) =>
        Promise.resolve((steps.push(`plan ${mapping}`), { partitions: [], concurrency: 1, hold: null })),
      async pollPending({ mappings }) {
        if (mappings.length === STAGES.flat().length) {
          hasPolled();
          await poll;
        }
        return NOTHING_WAITS;
      },
      closeRun: () => {
        steps.push('close');
        return Promise.resolve({ outcome: 'complete', mappings: [], total: NO_COUNTS } as unknown as RunReport);
      },
    }),
    async (handle) => {
      await opened;
      await pauseAt(handle, 'early');
      letOpen();
      await goOn(handle);
      await polled;
      await pauseAt(handle, 'late');
      letPoll();
      await goOn(handle);
    },
  );
  expect(end).toBe('complete');
  // The mappings of a stage are planned side by side.
  const kinds = steps.map((step) => step.replace(/^plan (customers|products)$/, 'plan the first stage'));
  const plans = ['plan the first stage', 'plan the first stage', 'plan orders', 'plan lines'];
  expect(kinds).toEqual(['paused early', 'resumed', 'columns', ...plans, 'paused late', 'resumed', 'close']);
}, 60_000);

it('removes records of vanished rows only in mode mirror, children first, once every row was read', async () => {
  const { notes } = await runWith({}, () => ({
    openRun: () => Promise.resolve(openedRun('mirror')),
  }));
  const removals = notes.filter((n) => n.startsWith('remove '));
  expect(removals.slice(0, 2)).toEqual(['remove lines', 'remove orders']);
  expect(new Set(removals.slice(2))).toEqual(new Set(['remove customers', 'remove products']));
  expect(notes.indexOf('remove lines')).toBeGreaterThan(notes.findLastIndex((n) => n.startsWith('loaded ')));

  const full = await runWith({});
  expect(full.notes.filter((n) => n.startsWith('remove '))).toEqual([]);
});

it('waits for the approval of removals once, however often it continues', async () => {
  const padding = 'x'.repeat(1_500_000);
  const continued: RunInput['continues'][] = [];
  const hold = { cause: 'gone', records: 9, of: 10, limit: { key: 'deletes.hold', percent: 1 } } as const;
  const { notes, end } = await runWith({}, (taken) => ({
    openRun: ({ input }) => {
      continued.push(input.continues);
      // A second wait would outlast the test.
      return Promise.resolve({ ...openedRun('mirror'), guardWait: continued.length === 1 ? 1 : 3600 });
    },
    removeVanished: ({ mapping }) => {
      taken.push(`remove ${mapping}`);
      const result = { done: true, hold: mapping === 'lines' ? { ...hold, mapping } : null, progress: [] };
      return Promise.resolve(continued.length === 1 ? { ...result, padding } : result);
    },
    pollPending: ({ mappings }) =>
      Promise.resolve(
        continued.length === 1 && taken.includes(`remove ${mappings[0]!}`)
          ? { ...waits({ ...STILL_PENDING, mapping: mappings[0]! }), padding }
          : NOTHING_WAITS,
      ),
  }));
  expect(end).toBe('complete');
  expect(continued.slice(1)).toMatchObject([{ notApproved: ['lines'] }]);
  expect(notes.filter((note) => note === 'remove lines')).toHaveLength(2);
}, 60_000);

it('prunes the ledger once it has ended, and does not fail if that fails', async () => {
  const order: string[] = [];
  const { end } = await runWith({}, () => ({
    closeRun: () => {
      order.push('closed');
      return Promise.resolve({ outcome: 'complete', mappings: [], total: NO_COUNTS } as unknown as RunReport);
    },
    pruneLedger: () => {
      order.push('pruned');
      return Promise.reject(new Error('the ledger is gone'));
    },
  }));
  expect(end).toBe('complete');
  expect(order).toEqual(['closed', 'pruned']);
});

it('releases the lease if a mapping fails, and reports that failure instead of the cancellation of the others', async () => {
  const { notes, end } = await runWith({}, () => ({
    loadPartition: ({ partitionId }) =>
      partitionId === 'customers-a'
        ? Promise.reject(ApplicationFailure.nonRetryable('the platform refused the token', 'platform_unauthorized'))
        : new Promise((resolve) => setTimeout(() => resolve({ done: true, hold: null, progress: [] }), 300)),
  }));
  expect(end).toEqual({ type: 'platform_unauthorized', message: 'the platform refused the token' });
  expect(notes).toEqual(['failed']);
});

it.each(['fails', 'is cancelled'])('does not end before the audit has who paused it, if a run %s', async (how) => {
  const [loading, hasBegun] = signal();
  const [tried, hasTried] = signal();
  const { notes, end } = await runWith(
    {},
    (taken) => ({
      async loadPartition() {
        hasBegun();
        await tried;
        if (how === 'fails') throw ApplicationFailure.nonRetryable('the platform refused', 'platform_refused');
        return { done: true, hold: null, progress: [] };
      },
      recordAction({ action }) {
        const isFirst = !taken.includes('not audited');
        taken.push(isFirst ? 'not audited' : `audited ${action}`);
        hasTried();
        return isFirst ? Promise.reject(new Error('the ledger is gone for a moment')) : Promise.resolve();
      },
    }),
    async (handle) => {
      await loading;
      await handle.executeUpdate('pause');
      await tried;
      if (how === 'is cancelled') await handle.cancel();
    },
  );
  expect(end).toMatchObject({ type: how === 'fails' ? 'platform_refused' : 'CancelledFailure' });
  expect(notes).toEqual(['not audited', 'failed', 'audited run_paused']);
});
