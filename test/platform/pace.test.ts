/** Requests a second, by a clock that the test moves. */
import { expect, it } from 'vitest';
import { CLOCK, type Clock } from '../../src/platform/pace.js';
import { createRequestLimit } from '../../src/platform/request-limit.js';
import { DONE, stubPlatform } from './stub-platform.js';

const BY = { queue: 'north' };

/** A clock on which nothing takes time but pauses. */
function clockOfPauses(): Clock & { readonly pauses: number[]; pass(ms: number): void } {
  let now = 0;
  const pauses: number[] = [];
  return {
    pauses,
    pass: (ms) => void (now += ms),
    now: () => now,
    pause(ms) {
      pauses.push(ms);
      now += ms;
      return Promise.resolve();
    },
  };
}

const AT_ONCE = () => Promise.resolve();

/** When each of `count` requests was sent, in milliseconds. */
async function sent(rate: { atOnce: number; perSecond: number | null }, count: number): Promise<number[]> {
  const clock = clockOfPauses();
  const limit = createRequestLimit(rate.atOnce, clock);
  limit.set(rate);
  const times: number[] = [];
  for (let i = 0; i < count; i++)
    await limit.run(BY, async (pace) => {
      await pace.next(AT_ONCE);
      times.push(clock.now());
    });
  return times;
}

it('spreads requests evenly, never two at the same moment', async () => {
  expect(await sent({ atOnce: 8, perSecond: 4 }, 5)).toEqual([0, 250, 500, 750, 1000]);
  expect(await sent({ atOnce: 8, perSecond: 0.5 }, 3)).toEqual([0, 2000, 4000]);
});

it('does not slow requests down without a limit', async () => {
  expect(await sent({ atOnce: 8, perSecond: null }, 4)).toEqual([0, 0, 0, 0]);
});

it('counts each attempt of a request that is retried', async () => {
  const clock = clockOfPauses();
  const limit = createRequestLimit(1, clock);
  limit.set({ atOnce: 1, perSecond: 10 });

  await limit.run(BY, async (pace) => {
    for (let i = 0; i < 3; i++) await pace.next(AT_ONCE);
  });

  expect(clock.pauses).toEqual([100, 100]);
});

it('sends none right behind one that had to wait for a connection', async () => {
  const clock = clockOfPauses();
  const limit = createRequestLimit(8, clock);
  limit.set({ atOnce: 8, perSecond: 10 });
  const times: number[] = [];
  const connected = (ms: number) => () => {
    clock.pass(ms);
    times.push(clock.now());
    return Promise.resolve();
  };

  await Promise.all([0, 450, 0].map((ms) => limit.run(BY, (pace) => pace.next(connected(ms)))));

  expect(times).toEqual([0, 550, 650]);
});

/** A limit so low that the second request waits for an hour; the first one is sent. */
async function hourly() {
  const limit = createRequestLimit(8);
  limit.set({ atOnce: 8, perSecond: 1 / 3600 });
  await limit.run(BY, (pace) => pace.next(AT_ONCE));
  return limit;
}

it.each([100, null])('sends requests that wait already at a rate that is raised: %s a second', async (perSecond) => {
  const limit = await hourly();
  const waiting = [1, 2, 3].map(() => limit.run(BY, (pace) => pace.next(AT_ONCE)));
  // Longer than it takes to begin to wait.
  await CLOCK.pause(10);

  limit.set({ atOnce: 8, perSecond });

  await Promise.all(waiting);
});

it('keeps nobody waiting who is cancelled', async () => {
  const limit = await hourly();
  const cancelled = new AbortController();
  const { signal } = cancelled;
  const waiting = [1, 2].map(() => limit.run({ ...BY, signal }, (pace) => pace.next(AT_ONCE, signal)));
  await CLOCK.pause(10);

  cancelled.abort(new Error('cancelled'));

  for (const each of waiting) await expect(each).rejects.toThrow('cancelled');
});

it('keeps no connection from others while requests wait for their pace', async () => {
  const { client, seen } = await stubPlatform([DONE], { connections: 1 });
  const slow = await hourly();
  const cancelled = new AbortController();
  const { signal } = cancelled;
  const find = (batch: string) => slow.run(BY, (pace) => client.findBatch(batch, { tenant: 'north', signal, pace }));
  const waiting = Promise.allSettled([find('slow-1'), find('slow-2')]);
  await CLOCK.pause(10);

  await client.findBatch('other', { tenant: 'north' });

  expect(seen.map(({ url }) => url)).toEqual([expect.stringContaining('/other')]);
  cancelled.abort();
  await waiting;
});

it('follows a limit that is set while requests are sent', () => {
  const limit = createRequestLimit(8);
  limit.set({ atOnce: 3, perSecond: null });
  expect(limit.atOnce).toBe(3);
  limit.set({ atOnce: 6, perSecond: null });
  expect(limit.atOnce).toBe(6);
});
