/** The workflow's own decisions in mode live: when a run ends and the next begins, and what is done beside the feeds. */
import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import type { RunInput } from '../../src/domain/run/run.js';
import type { FollowChangesInput, FollowedChanges, OpenedRun } from '../../src/domain/run/work.js';
import { eventually } from '../pipeline/shop.js';
import { lostWhenCancelled, openedRun, runWith } from './run-workflow.js';

const NOTHING: FollowedChanges = { progress: [], holds: [], searches: [], beginAgain: null };
const FEEDS = [{ name: 'slot', mappings: ['customers', 'products', 'orders', 'lines'] }];
const liveRun = (more: Partial<OpenedRun> = {}): OpenedRun => ({
  ...openedRun('live'),
  feeds: FEEDS,
  liveUntil: Date.now() + 3_600_000,
  ...more,
});
const soon = () => new Promise((resolve) => setTimeout(resolve, 50));
const LIVE: Partial<RunInput> = { mode: 'live' };
/** Cancels the run once `isTime`. */
const cancelledWhen = (isTime: () => boolean) => async (handle: WorkflowHandle) => {
  await eventually('the time to cancel', () => Promise.resolve(isTime()));
  await handle.cancel();
};

it('follows the feeds again and again, delivers what is left when it is cancelled, and ends with its report', async () => {
  const followed: FollowChangesInput[] = [];
  const { end, notes } = await runWith(
    LIVE,
    (taken) => ({
      openRun: () => Promise.resolve(liveRun()),
      followChanges: async (input) => {
        followed.push(input);
        await soon();
        return NOTHING;
      },
      closeRun: ({ isStopped }) => {
        taken.push(`closed, stopped: ${isStopped}`);
        return Promise.resolve({ outcome: 'complete', mappings: [] } as never);
      },
    }),
    cancelledWhen(() => followed.length >= 3),
  );
  expect(end).toBe('complete');
  expect(notes).toContain('closed, stopped: true');
  expect(followed[0]).toMatchObject({ feeds: ['slot'], isLast: false, searching: [] });
  expect(followed.at(-1)).toMatchObject({ feeds: [], isLast: true });
});

it('loads mappings that are new to the feed beside it, parents first, then searches them, and tells which these are', async () => {
  const followed: FollowChangesInput[] = [];
  const { notes } = await runWith(
    LIVE,
    (taken) => ({
      openRun: () => Promise.resolve(liveRun()),
      collectChanges: () => Promise.resolve({ notes: [], unloaded: ['customers', 'lines'] }),
      followChanges: async (input) => {
        followed.push(input);
        await soon();
        return NOTHING;
      },
      removeVanished: ({ mapping, among }) => {
        taken.push(`search ${mapping} among ${among}`);
        return Promise.resolve({ done: true, hold: null, progress: [] });
      },
    }),
    cancelledWhen(() => followed.some(({ searching, isLast }) => searching.length === 0 && !isLast)),
  );
  const steps = notes.filter((note) => /^(loaded|search)/.test(note));
  expect(steps.filter((step) => step.startsWith('search'))).toEqual([
    'search lines among changed_rows',
    'search customers among changed_rows',
  ]);
  expect(steps.findIndex((step) => step.includes('customers'))).toBeLessThan(
    steps.findIndex((step) => step.includes('lines')),
  );
  expect(notes.join()).not.toMatch(/load (products|orders)/);
  expect(followed[0]).toMatchObject({ loading: ['customers', 'lines'], searching: ['customers', 'lines'] });
});

it.each([
  ['its day is over', { liveUntil: 0 }, NOTHING],
  ['every row has to be read again', {}, { ...NOTHING, beginAgain: 'changes_lost' as const }],
])('closes and begins its next run as a new execution when %s', async (_, more, result) => {
  const opened: RunInput[] = [];
  const closed: (boolean | undefined)[] = [];
  const { end } = await runWith(
    { ...LIVE, acceptChanges: true },
    () => ({
      openRun: ({ input }) => {
        opened.push(input);
        return Promise.resolve(liveRun(opened.length === 1 ? more : {}));
      },
      followChanges: async () => {
        await soon();
        return opened.length === 1 ? result : NOTHING;
      },
      closeRun: ({ isStopped }) => {
        closed.push(isStopped);
        return Promise.resolve({ outcome: 'complete', mappings: [] } as never);
      },
    }),
    cancelledWhen(() => opened.length === 2),
  );
  expect(end).toBe('complete');
  expect(opened).toMatchObject([{ mode: 'live' }, { mode: 'live', runsBefore: 1 }]);
  expect(opened[1]).not.toHaveProperty('continues');
  expect(opened[1]).not.toHaveProperty('acceptChanges');
  expect(closed).toEqual([false, true]);
});

it('goes on while something is on hold, and tells the next activity what', async () => {
  const followed: FollowChangesInput[] = [];
  const hold = {
    mapping: 'orders',
    cause: 'gone',
    records: 9,
    of: 10,
    limit: { key: 'deletes.hold', percent: 1 },
  } as const;
  const approvals: string[] = [];
  await runWith(
    LIVE,
    () => ({
      openRun: () => Promise.resolve(liveRun()),
      followChanges: async (input) => {
        followed.push(input);
        await soon();
        return followed.length === 1 ? { ...NOTHING, holds: [hold] } : NOTHING;
      },
      approveHold: ({ mapping }) => Promise.resolve(void approvals.push(mapping)),
    }),
    async (handle) => {
      await eventually('that it goes on', () => Promise.resolve(followed.length >= 3));
      expect(followed[2]!.onHold).toEqual([{ mapping: 'orders', cause: 'gone' }]);
      // Somebody who was shown an earlier hold of the mapping has not seen what this one is for.
      const shown = [{ mapping: 'orders', until: '2001-01-01T00:00:00.000Z' }];
      const refused: unknown = await handle
        .executeUpdate('approve', { args: [{ shown }] })
        .catch((error: Error) => error.cause);
      expect(String(refused)).toMatch(/what was shown of orders is over; by now it is on hold: /);
      await handle.executeUpdate('approve', { args: [{}] });
      await eventually('that it is on hold no longer', () => Promise.resolve(followed.at(-1)!.onHold.length === 0));
      await handle.cancel();
    },
  );
  expect(approvals).toEqual(['orders']);
});

it.each([
  ['is', 0],
  ['was when the load was put on hold', 3],
])(
  'follows the feeds of the other mappings while a load waits for approval, however long its history %s',
  async (_, heldAfter) => {
    // Temporal suggests a new execution for four megabytes.
    const padding = 'x'.repeat(1_500_000);
    const opened: RunInput[] = [];
    const followed: FollowChangesInput[] = [];
    const hold = {
      mapping: 'customers',
      cause: 'changed',
      records: 9,
      of: 10,
      limit: { key: 'guard.changed', percent: 1 },
    } as const;
    await runWith(
      LIVE,
      () => ({
        openRun: ({ input }) => {
          opened.push(input);
          return Promise.resolve(liveRun({ guardWait: 3600 }));
        },
        collectChanges: () => Promise.resolve({ notes: [], unloaded: ['customers'] }),
        loadPartition: async () => {
          // By then, the execution only waits for the load to come to an end of its own.
          while (followed.length < heldAfter) await soon();
          if (heldAfter > 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
          return { done: false, hold, progress: [] };
        },
        followChanges: async (input) => {
          followed.push(input);
          await soon();
          return followed.length < 5 ? { ...NOTHING, padding } : NOTHING;
        },
      }),
      cancelledWhen(() => followed.length >= 8),
    );
    expect(opened).toHaveLength(1);
    expect(followed[7]!.loading).toEqual(['customers']);
  },
);

it('continues a load in a new execution at once when its history has become long, although its feeds are quiet for minutes', async () => {
  const padding = 'x'.repeat(1_500_000);
  const opened: RunInput[] = [];
  await runWith(
    LIVE,
    () => ({
      openRun: ({ input }) => {
        opened.push(input);
        return Promise.resolve(liveRun());
      },
      collectChanges: () => Promise.resolve({ notes: [], unloaded: ['customers'] }),
      loadPartition: async () => {
        await soon();
        return { done: false, hold: null, progress: [], padding };
      },
      followChanges: async ({ isLast }) => {
        const { cancellationSignal, heartbeat } = Context.current();
        while (!isLast) {
          heartbeat();
          await soon();
          cancellationSignal.throwIfAborted();
        }
        return NOTHING;
      },
    }),
    cancelledWhen(() => opened.length >= 2),
  );
  expect(opened[1]).toMatchObject({ continues: { stagesDone: 0 } });
});

it('tells the next activity that a mapping is searched, and loaded no more, while its removals wait for approval', async () => {
  const followed: FollowChangesInput[] = [];
  const hold = {
    mapping: 'customers',
    cause: 'gone',
    records: 9,
    of: 10,
    limit: { key: 'deletes.hold', percent: 1 },
  } as const;
  await runWith(
    LIVE,
    () => ({
      openRun: () => Promise.resolve(liveRun()),
      collectChanges: () => Promise.resolve({ notes: [], unloaded: ['customers'] }),
      removeVanished: () => Promise.resolve({ done: true, hold, progress: [] }),
      followChanges: async (input) => {
        followed.push(input);
        await soon();
        return NOTHING;
      },
    }),
    cancelledWhen(() => followed.some(({ onHold }) => onHold.length > 0)),
  );
  const onHold = followed.find((input) => input.onHold.length > 0);
  expect(onHold).toMatchObject({ loading: [], searching: ['customers'] });
});

it('goes on if it is resumed before the activity that it had interrupted has ended', async () => {
  const followed: FollowChangesInput[] = [];
  const { notes } = await runWith(
    LIVE,
    (taken) => ({
      openRun: () => Promise.resolve(liveRun()),
      followChanges: async (input) => {
        followed.push(input);
        if (followed.length > 1) await soon();
        // It finishes what it has begun, which takes a while.
        else await Context.current().cancelled.catch(() => new Promise((resolve) => setTimeout(resolve, 1000)));
        Context.current().cancellationSignal.throwIfAborted();
        return NOTHING;
      },
      closeRun: ({ isStopped }) => {
        taken.push(`closed, stopped: ${isStopped}`);
        return Promise.resolve({ outcome: 'complete', mappings: [] } as never);
      },
    }),
    async (handle) => {
      await eventually('that it follows', () => Promise.resolve(followed.length === 1));
      await handle.executeUpdate('pause', { args: [{}] });
      await handle.executeUpdate('resume', { args: [] });
      await eventually('that it goes on', () => Promise.resolve(followed.length >= 3));
      expect(followed[2]).toMatchObject({ isLast: false });
      await handle.cancel();
    },
  );
  expect(notes.filter((note) => note.startsWith('closed'))).toEqual(['closed, stopped: true']);
});

it('begins its next run only once it is resumed, if it was paused when it was to end', async () => {
  const opened: RunInput[] = [];
  await runWith(
    LIVE,
    () => ({
      openRun: ({ input }) => {
        opened.push(input);
        return Promise.resolve(liveRun());
      },
      followChanges: async () => {
        await soon();
        return opened.length === 1 ? { ...NOTHING, beginAgain: 'files_changed' as const } : NOTHING;
      },
      closeRun: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return { outcome: 'complete', mappings: [] } as never;
      },
    }),
    async (handle) => {
      await eventually('that it works', () => Promise.resolve(opened.length === 1));
      await new Promise((resolve) => setTimeout(resolve, 700));
      await handle.executeUpdate('pause', { args: [{}] });
      await new Promise((resolve) => setTimeout(resolve, 3000));
      expect(opened).toHaveLength(1);
      await handle.executeUpdate('resume', { args: [] });
      await eventually('that the next run begins', () => Promise.resolve(opened.length === 2));
      await handle.cancel();
    },
  );
  expect(opened[1]).toMatchObject({ runsBefore: 1 });
});

it('records as a run of its own that the next run could not begin', async () => {
  const recorded: RunInput[] = [];
  const opened: RunInput[] = [];
  const { end } = await runWith(LIVE, () => ({
    openRun: ({ input }) => {
      opened.push(input);
      return opened.length === 1
        ? Promise.resolve(liveRun({ liveUntil: 0 }))
        : Promise.reject(ApplicationFailure.nonRetryable('mapping gone', 'config_invalid'));
    },
    recordFailure: ({ input }) => Promise.resolve(void recorded.push(input)),
  }));
  expect(end).toMatchObject({ type: 'config_invalid' });
  expect(recorded).toMatchObject([{ sync: 'shop', mode: 'live', runsBefore: 1 }]);
});

it('ends with its report if an activity is lost with its worker before it hears that the run was told to stop', async () => {
  let isCollecting = false;
  const { end, notes } = await runWith(
    LIVE,
    () => ({
      openRun: () => Promise.resolve(liveRun()),
      collectChanges: () => {
        isCollecting = true;
        return lostWhenCancelled();
      },
    }),
    cancelledWhen(() => isCollecting),
  );
  expect(end).toBe('complete');
  expect(notes).not.toContain('failed');
});

it('fails as other runs do if a feed cannot be read, and then begins no other run', async () => {
  const opened: RunInput[] = [];
  const { end, notes } = await runWith(LIVE, () => ({
    openRun: ({ input }) => {
      opened.push(input);
      return Promise.resolve(liveRun());
    },
    collectChanges: () => Promise.reject(ApplicationFailure.nonRetryable('no slot', 'changes_lost')),
  }));
  expect(end).toMatchObject({ type: 'changes_lost' });
  expect(notes).toContain('failed');
  expect(opened).toHaveLength(1);
});
