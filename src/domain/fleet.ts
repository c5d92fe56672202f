/**
 * What the processes of a fleet tell each other through the ledger, so that limits hold for all of them together: who
 * sends for which sync, and until when the platform wants nothing.
 */

/** Limits of the requests of a sync, over all processes. */
export interface Rate {
  /** Infinity: no limit. */
  readonly atOnce: number;
  /** null: no limit. */
  readonly perSecond: number | null;
}

/** Stands where the name of a sync does, for all requests with an account of the platform. No sync has this name. */
export const WHOLE_ACCOUNT = '';

/** A process's part in the requests of a sync. */
export interface SyncShare {
  /** How many processes send for the sync, this one included. */
  readonly processes: number;
  /** The index of this process among them, from 0. */
  readonly index: number;
  /** For how many milliseconds this process has been one of them. */
  readonly joinedMs: number;
  /** Requests for the sync that others have under way, as they said last. */
  readonly underWayOfOthers: number;
  /** What was set at run time instead of the limits in sync.yaml; an absent part is not replaced. */
  readonly set: Partial<Rate>;
}

/** What a process learns each time that it tells that it is there. */
export interface FleetState {
  /** Milliseconds for which the platform wants nothing to be sent; 0: it may be sent now. */
  readonly retryAfterMs: number;
  /** By sync; those for which the process sends. */
  readonly shares: ReadonlyMap<string, SyncShare>;
}

/** The fleet for a process that only reads. */
export interface FleetView {
  /** Milliseconds for which the platform wants nothing to be sent with this account; 0: it may be sent now. */
  retryAfterMs(account: string): Promise<number>;
}

/** The fleet for a process that sends. */
export interface FleetRegistry extends FleetView {
  /** Tells that the process sends for these syncs and no others, and how many requests for each it has under way. */
  heartbeat(process: string, account: string, underWay: ReadonlyMap<string, number>): Promise<FleetState>;
  /** Tells that the process sends no more. */
  leave(process: string): Promise<void>;
  /** Holds the account's requests in all processes for so many milliseconds from now; a later end that was named before stays. */
  setRetryAfter(account: string, ms: number): Promise<void>;
}

/**
 * One process's part of a limit: the parts of all processes are even, and together the whole. A part is smaller while others
 * still have more requests under way than their own, since there were fewer of them when they began these. Of a limit below
 * the number of processes, each has 1.
 */
function shareOf(limit: number, share: Pick<SyncShare, 'processes' | 'index' | 'underWayOfOthers'>): number {
  const { processes, index, underWayOfOthers } = share;
  if (limit < processes) return 1;
  const even = Math.floor(limit / processes) + (index < limit % processes ? 1 : 0);
  return Math.max(0, Math.min(even, limit - underWayOfOthers));
}

/** What a process may do of what all may do together. */
export function rateOf(configured: Rate, share: SyncShare): Rate {
  const { atOnce, perSecond } = { ...configured, ...share.set };
  return { atOnce: shareOf(atOnce, share), perSecond: perSecond === null ? null : perSecond / share.processes };
}
