/** The limits of the syncs of a process: one for each, however many versions of its files are open. */
import { rateOf, wholeOf, type Rate, type SyncShare } from '../domain/monitoring/fleet.js';
import type { FleetMember } from './fleet-member.js';
import { CLOCK, type Clock } from './pace.js';
import { createRequestLimit, type RequestLimit } from './request-limit.js';

export interface SyncLimits {
  /** The limit of the sync, which from now on is what `configured` says, or this process's share of it. */
  of(sync: string, configured: Rate): RequestLimit;
}

/** Limits of one process of a fleet; without one (null), each limit is this process's alone. */
export function openSyncLimits(fleet: FleetMember | null, clock: Clock = CLOCK): SyncLimits {
  const limits = new Map<string, { configure(rate: Rate): void; readonly limit: RequestLimit }>();
  const open = (sync: string, first: Rate) => {
    let configured = first;
    let heard: { readonly share: SyncShare; readonly hasTurn: boolean } | null = null;
    const own = createRequestLimit(first.atOnce, clock);
    const apply = (): void => own.set(heard === null ? configured : rateOf(configured, heard.share, heard.hasTurn));
    apply();
    fleet?.watch(sync, {
      whole: (share) => wholeOf(configured, share),
      apply(share, hasTurn) {
        heard = { share, hasTurn };
        apply();
      },
      underWay: () => own.underWay,
    });
    const limit: RequestLimit = {
      get atOnce() {
        return own.atOnce;
      },
      get underWay() {
        return own.underWay;
      },
      async run(by, request) {
        if (fleet === null) return own.run(by, request);
        const leave = await fleet.enter(sync, by.signal);
        try {
          return await own.run(by, request);
        } finally {
          leave();
        }
      },
    };
    const configure = (rate: Rate): void => {
      if (rate.atOnce === configured.atOnce && rate.perSecond === configured.perSecond) return;
      configured = rate;
      apply();
    };
    return { limit, configure };
  };
  return {
    of(sync, configured) {
      const known = limits.get(sync) ?? open(sync, configured);
      limits.set(sync, known);
      known.configure(configured);
      return known.limit;
    },
  };
}
