/** The workflow's own decisions when a run is paused, or continues as a new execution. */
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { NO_COUNTS, type RunInput, type RunReport } from '../../src/domain/run/run.js';
import { eventually } from '../pipeline/shop.js';
import { STAGES, openedRun, STILL_PENDING, waits, NOTHING_WAITS, runWith, signal } from './run-workflow.js';

const mappingOf = (note: string): string => /(\w+)-[ab]/.exec(note)?.[1] ?? '';

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
});

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
});

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
});

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
