/** The workflow's own decisions, with activities that only take notes. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { expect, inject, it } from 'vitest';
import type { Activities } from '../../activities/index.js';
import type { RunInput, RunReport } from '../../src/domain/run.js';
import { EMPTY_BOOKS } from '../../src/domain/run.js';
import { createWorkers } from '../../src/worker/workers.js';
import { failureOf, quietRuntime, workflowBundle } from '../pipeline/shop.js';

const STAGES = [['customers', 'products'], ['orders'], ['lines']];

/** Runs the workflow `sync` against activities that note their calls; `more` replaces some. */
async function runWith(input: Partial<RunInput>, more: (notes: string[]) => Partial<Activities> = () => ({})) {
  quietRuntime();
  const notes: string[] = [];
  const activities: Activities = {
    openRun: () => Promise.resolve({ runId: '7', sync: 'shop', mode: 'full', followFor: 0, stages: STAGES }),
    compareSource: () => Promise.resolve({ stopped: [], notes: [] }),
    planMapping: ({ mapping }) => Promise.resolve({ rangeIds: [`${mapping}-a`, `${mapping}-b`], lanes: 2 }),
    deliverParents: ({ mapping }) => Promise.resolve(void notes.push(`parents of ${mapping}`)),
    async loadSlice({ rangeId }) {
      notes.push(`load ${rangeId}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      notes.push(`loaded ${rangeId}`);
      return { done: notes.filter((n) => n === `loaded ${rangeId}`).length === 2, progress: [] };
    },
    replayLetters: ({ rangeId }) =>
      Promise.resolve(void notes.push(`replay ${rangeId}`)).then(() => ({ done: true, progress: [] })),
    sweepLetters: ({ mappings }) => Promise.resolve(void notes.push(`sweep ${mappings.join()}`)),
    removeVanished: ({ mapping }) =>
      Promise.resolve(void notes.push(`remove ${mapping}`)).then(() => ({ done: true, progress: [] })),
    followWaiting: ({ mappings }) =>
      Promise.resolve(void notes.push(...mappings.map((mapping) => `follow ${mapping}`))).then(() => []),
    closeRun: () => Promise.resolve({ outcome: 'complete', mappings: [], total: EMPTY_BOOKS } as unknown as RunReport),
    examineWorker: () => Promise.resolve({ version: null, troubles: [] }),
    noteFailure: ({ failure }) => Promise.resolve(void notes.push(`noted ${failure.code}`)),
    abandonRun: () => Promise.resolve(void notes.push('abandoned')),
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
    const end = await handle.result().then(
      () => 'complete',
      async () => failureOf(handle),
    );
    return { notes, end };
  } finally {
    workers.shutdown();
    await running;
    await connection.close();
    await native.close();
  }
}

const mappingOf = (note: string): string => /(\w+)-[ab]/.exec(note)?.[1] ?? '';

it('begins a stage only after its parents are loaded and looked after', async () => {
  const { notes } = await runWith({});
  for (const [parent, child] of [
    ['customers', 'orders'],
    ['products', 'orders'],
    ['orders', 'lines'],
  ] as const) {
    const begins = notes.findIndex((n) => n.startsWith('load ') && mappingOf(n) === child);
    expect(notes.findLastIndex((n) => n.startsWith('loaded ') && mappingOf(n) === parent)).toBeLessThan(begins);
    expect(notes.indexOf(`follow ${parent}`)).toBeLessThan(begins);
  }
  // Two ranges, two slices each.
  expect(notes.filter((n) => n === 'load orders-a')).toHaveLength(2);
});

it('works on two slices at once in a process', async () => {
  let running = 0;
  let most = 0;
  const { notes, end } = await runWith({}, (taken) => ({
    async loadSlice({ rangeId }) {
      taken.push(rangeId);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 100));
      running--;
      return { done: true, progress: [] };
    },
  }));
  expect(end).toBe('complete');
  expect(notes.filter((note) => /-[ab]$/.test(note))).toHaveLength(8);
  expect(most).toBe(2);
});

it('gives slices that wait for stuck ones to any worker, in the end', async () => {
  // The first two fill the process, and do not end before the stage's two others have.
  let othersDone = (): void => undefined;
  const done = new Promise<void>((resolve) => (othersDone = resolve));
  const { notes, end } = await runWith({}, (taken) => ({
    async loadSlice({ rangeId }) {
      taken.push(rangeId);
      if (taken.length <= 2) await done;
      if (taken.length === 4) othersDone();
      return { done: true, progress: [] };
    },
  }));
  expect(end).toBe('complete');
  expect(new Set(notes.slice(0, 4))).toEqual(new Set(['customers-a', 'customers-b', 'products-a', 'products-b']));
}, 60_000);

it('continues a long run with the stage it was in', async () => {
  const { notes, end } = await runWith({ continues: { runId: '7', stagesDone: 1 } });
  expect(end).toBe('complete');
  expect(notes.filter((n) => n.startsWith('load ')).map(mappingOf)).not.toContain('customers');
  expect(notes).toContain('load orders-a');
});

it('looks for vanished rows in mode mirror only, children first, once every row was read', async () => {
  const { notes } = await runWith({}, () => ({
    openRun: () => Promise.resolve({ runId: '7', sync: 'shop', mode: 'mirror', followFor: 0, stages: STAGES }),
  }));
  const removals = notes.filter((n) => n.startsWith('remove '));
  expect(removals.slice(0, 2)).toEqual(['remove lines', 'remove orders']);
  expect(new Set(removals.slice(2))).toEqual(new Set(['remove customers', 'remove products']));
  expect(notes.indexOf('remove lines')).toBeGreaterThan(notes.findLastIndex((n) => n.startsWith('loaded ')));

  const full = await runWith({});
  expect(full.notes.filter((n) => n.startsWith('remove '))).toEqual([]);
});

it('gives the lease back when a mapping fails, and reports that failure rather than the cancelling of the others', async () => {
  const { notes, end } = await runWith({}, () => ({
    loadSlice: ({ rangeId }) =>
      rangeId === 'customers-a'
        ? Promise.reject(ApplicationFailure.nonRetryable('the platform refused the token', 'platform_unauthorized'))
        : new Promise((resolve) => setTimeout(() => resolve({ done: true, progress: [] }), 300)),
  }));
  expect(end).toEqual({ type: 'platform_unauthorized', message: 'the platform refused the token' });
  expect(notes).toEqual(['abandoned']);
});
