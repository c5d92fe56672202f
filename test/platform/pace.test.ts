/** Requests a second, by a clock that the test moves. */
import { expect, it } from 'vitest';
import type { Clock } from '../../src/platform/pace.js';
import { createRequestLimit } from '../../src/platform/request-limit.js';

/** A clock on which nothing takes time but pauses. */
function clockOfPauses(): Clock & { readonly pauses: number[] } {
  let now = 0;
  const pauses: number[] = [];
  return {
    pauses,
    now: () => now,
    pause(ms) {
      pauses.push(ms);
      now += ms;
      return Promise.resolve();
    },
  };
}

/** When each of `count` requests was sent, in milliseconds. */
async function sent(rate: { atOnce: number; perSecond: number | null }, count: number): Promise<number[]> {
  const clock = clockOfPauses();
  const limit = createRequestLimit(rate.atOnce, clock);
  limit.set(rate);
  const times: number[] = [];
  for (let i = 0; i < count; i++)
    await limit.run(async (turn) => {
      await turn();
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

  await limit.run(async (turn) => {
    for (let i = 0; i < 3; i++) await turn();
  });

  expect(clock.pauses).toEqual([100, 100]);
});

it('follows a limit that is set while requests are sent', () => {
  const limit = createRequestLimit(8);
  limit.set({ atOnce: 3, perSecond: null });
  expect(limit.atOnce).toBe(3);
  limit.set({ atOnce: 6, perSecond: null });
  expect(limit.atOnce).toBe(6);
});
