/** The shares of the processes of a fleet, for any limit and whatever is still under way: together they are never more. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateOf, type SyncShare } from '../../src/domain/monitoring/fleet.js';

const share = (underWay: readonly number[], index: number): SyncShare => ({
  underWay,
  index,
  joinedMs: 0,
  set: {},
});
const sharesOf = (atOnce: number, underWay: readonly number[]): number[] =>
  underWay.map((_, index) => rateOf({ atOnce, perSecond: null }, share(underWay, index), false).atOnce);
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

it('are even, and together the whole', () => {
  expect(sharesOf(8, [0, 0, 0])).toEqual([3, 3, 2]);
  expect(sharesOf(8, [0])).toEqual([8]);
  expect(sharesOf(Infinity, [3, 4])).toEqual([Infinity, Infinity]);
});

it('leave room, all of them together, for what others have begun while they were fewer', () => {
  expect(sharesOf(8, [6, 0, 0])).toEqual([3, 1, 1]);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }).chain((processes) =>
        fc.integer({ min: processes, max: 64 }).chain((limit) =>
          fc.record({
            limit: fc.constant(limit),
            // Up to the whole limit is under way, shared out in any way.
            at: fc.array(fc.integer({ min: 0, max: processes - 1 }), { maxLength: limit }),
            processes: fc.constant(processes),
          }),
        ),
      ),
      ({ limit, at, processes }) => {
        const underWay = Array.from({ length: processes }, (_, index) => at.filter((each) => each === index).length);
        // Each may come to have its share under way, and what it has already does not end by itself.
        const most = sharesOf(limit, underWay).map((each, index) => Math.max(each, underWay[index]!));
        expect(sum(most)).toBe(limit);
      },
    ),
  );
});

it('are turns if there are fewer requests at once than processes; only as many of these send', () => {
  const limits = { atOnce: 2, perSecond: 10 };
  expect(rateOf(limits, share([1, 1, 0], 2), false)).toEqual({ atOnce: 0, perSecond: 5 });
  expect(rateOf(limits, share([1, 0, 0], 2), true)).toEqual({ atOnce: 1, perSecond: 5 });
  expect(rateOf({ atOnce: 3, perSecond: 10 }, share([0, 0], 0), false)).toEqual({ atOnce: 2, perSecond: 5 });
});
