/** The limits of all requests of a process with its account of the platform, whichever sync they are for. */
import { rateOf, WHOLE_ACCOUNT, type Rate } from '../domain/monitoring/fleet.js';
import { createFairSemaphore, type FairSemaphore } from './fair-semaphore.js';
import type { FleetMember } from './fleet-member.js';
import { CLOCK, createPace, type Clock } from './pace.js';

/** Admits requests: `acquire` resolves when the next one of its queue may be sent. */
export type AccountLimit = Pick<FairSemaphore, 'acquire'>;

/** No limits but the connections of the process. */
export const NO_ACCOUNT_LIMITS: Rate = { atOnce: Infinity, perSecond: null };

/**
 * @param connections of the process, which are never exceeded
 * @param fleet the processes that share the limits; null: they are this process's alone
 */
export function openAccountLimit(
  limits: Rate,
  connections: number,
  fleet: FleetMember | null,
  clock: Clock = CLOCK,
): AccountLimit {
  const requests = createFairSemaphore(connections);
  const pace = createPace(clock);
  const apply = ({ atOnce, perSecond }: Rate): void => {
    requests.atOnce = Math.min(connections, atOnce);
    pace.set(perSecond);
  };
  apply(limits);
  const isLimited = limits.atOnce !== Infinity || limits.perSecond !== null;
  const member = isLimited ? fleet : null;
  member?.watch(WHOLE_ACCOUNT, {
    whole: () => limits,
    apply: (share, hasTurn) => apply(rateOf(limits, share, hasTurn)),
    underWay: () => requests.acquired,
  });
  return {
    async acquire(queue, signal) {
      const leave = await member?.enter(WHOLE_ACCOUNT, signal);
      let disconnect: (() => void) | undefined;
      const release = (): void => {
        disconnect?.();
        leave?.();
      };
      try {
        disconnect = await requests.acquire(queue, signal);
        // Everybody goes by this pace, so that waiting for it with a connection keeps none from others.
        await pace.next(() => Promise.resolve(), signal);
        return release;
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}
