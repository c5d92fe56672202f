/**
 * What the processes of a fleet tell each other through the ledger, so that limits hold for all of them together: who
 * sends for which sync, and until when the platform wants nothing.
 */

/** Limits of the requests of a sync, over all processes. */
export interface Rate {
  readonly atOnce: number;
  /** null: no limit. */
  readonly perSecond: number | null;
}

/** A process's part in the requests of a sync. */
export interface SyncShare {
  /** How many processes send for the sync, this one included. */
  readonly processes: number;
  /** The place of this process among them, from 0. */
  readonly place: number;
  /** For how many milliseconds this process has been one of them. */
  readonly joinedMs: number;
  /** What was set at run time instead of the limits in sync.yaml; an absent part is not replaced. */
  readonly set: Partial<Rate>;
}

/** What a process learns each time that it tells that it is there. */
export interface FleetState {
  /** Milliseconds for which the platform wants nothing to be sent; 0: it may be sent now. */
  readonly busyMs: number;
  /** By sync; those for which the process sends. */
  readonly shares: ReadonlyMap<string, SyncShare>;
}

/** The fleet for a process that only looks. */
export interface FleetView {
  /** Milliseconds for which the platform wants nothing to be sent with this account; 0: it may be sent now. */
  busyMs(account: string): Promise<number>;
}

/** The fleet for a process that sends. */
export interface FleetBoard extends FleetView {
  /** Tells that the process sends for these syncs, and for no others. */
  beat(process: string, account: string, syncs: readonly string[]): Promise<FleetState>;
  /** Tells that the process sends no more. */
  leave(process: string): Promise<void>;
  /** Holds the requests of all processes for so many milliseconds from now; a later end that was named before stays. */
  busyFor(account: string, ms: number): Promise<void>;
}

/** One process's part of a limit: the parts of all processes are even, and together the whole; at least 1. */
export const shareOf = (limit: number, { processes, place }: Pick<SyncShare, 'processes' | 'place'>): number =>
  Math.max(1, Math.floor(limit / processes) + (place < limit % processes ? 1 : 0));
