/** The workflow's own decisions: stages, time slices, polls, and how a run ends. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { NO_COUNTS, type RunReport } from '../../src/domain/run/run.js';
import { CANCELLED, type RunFailure } from '../../src/domain/run/work.js';
import { milliseconds, seconds } from '../../src/domain/timeouts.js';
import { lostWhenCancelled, openedRun, signal, STILL_PENDING, waits, NOTHING_WAITS, runWith } from './run-workflow.js';

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

it('loads what comes next in a mapping once all that comes before is loaded', async () => {
  const { notes, end } = await runWith({ mappings: ['customers'] }, () => ({
    openRun: () => Promise.resolve({ ...openedRun('incremental'), stages: [['customers']], polled: ['customers'] }),
    planMapping: () =>
      Promise.resolve({
        partitions: ['customers-a', 'customers-b'].map((id) => ({ id, label: null })),
        concurrency: 2,
        next: [{ id: 'changed', label: 'changed rows' }],
        hold: null,
      }),
  }));
  expect(end).toBe('complete');
  const begins = notes.indexOf('load changed');
  expect(begins).toBeGreaterThan(notes.lastIndexOf('loaded customers-a'));
  expect(begins).toBeGreaterThan(notes.lastIndexOf('loaded customers-b'));
  expect(notes.filter((note) => note === 'loaded changed')).toHaveLength(2);
});

it('misses a worker that dies in any step as soon as its heartbeats stay away, and not when the time of the step is over', async () => {
  const timeouts = new Map<string, number | undefined>();
  const note = (): void => {
    const { activityType, heartbeatTimeoutMs } = Context.current().info;
    timeouts.set(activityType, heartbeatTimeoutMs);
  };
  await runWith({}, () => ({
    openRun: () => Promise.resolve((note(), openedRun('mirror'))),
    detectSchemaDrift: () => Promise.resolve((note(), { skipped: [], notes: [] })),
    planMapping: () => Promise.resolve((note(), { partitions: [], concurrency: 1, hold: null })),
    removeVanished: () => Promise.resolve((note(), { done: true, hold: null, progress: [] })),
    closeRun: () =>
      Promise.resolve((note(), { outcome: 'complete', mappings: [], total: NO_COUNTS } as unknown as RunReport)),
  }));
  const limit = milliseconds('heartbeatTimeout');
  expect(Object.fromEntries(timeouts)).toEqual({
    openRun: limit,
    detectSchemaDrift: limit,
    planMapping: limit,
    removeVanished: limit,
    closeRun: limit,
  });
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

it('ends cancelled, not failed, if an activity is lost with its worker before it hears of the cancellation', async () => {
  const [loading, isLoading] = signal();
  const failures: RunFailure[] = [];
  const { end } = await runWith(
    {},
    () => ({
      loadPartition: () => {
        isLoading();
        return lostWhenCancelled();
      },
      failRun: ({ failure }) => Promise.resolve(void failures.push(failure)),
    }),
    async (handle) => {
      await loading;
      await handle.cancel();
    },
  );
  expect(end).toMatchObject({ type: 'CancelledFailure' });
  expect(failures).toEqual([CANCELLED]);
});

it('reports what a mapping has failed for, though another one is lost with its worker when it is to stop', async () => {
  const [loading, isLoading] = signal();
  const { end } = await runWith({}, () => ({
    async loadPartition({ partitionId }) {
      if (partitionId === 'customers-a') {
        isLoading();
        return lostWhenCancelled();
      }
      await loading;
      throw ApplicationFailure.nonRetryable('the platform refused the token', 'platform_unauthorized');
    },
  }));
  expect(end).toEqual({ type: 'platform_unauthorized', message: 'the platform refused the token' });
});
