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
  /** Requests for the sync that each process which sends for it has under way, as it said last. */
  readonly underWay: readonly number[];
  /** The index of this process among them. */
  readonly index: number;
  /** For how many milliseconds this process has been one of them. */
  readonly joinedMs: number;
  /** What was set at run time instead of the limits in sync.yaml; an absent part is not replaced. */
  readonly set: Partial<Rate>;
}

/** What a process says of itself when it asks for a turn. */
export interface TurnRequest {
  /** Requests at once of all processes together. */
  readonly limit: number;
  /** How many it has under way. */
  readonly underWay: number;
  /** Whether it has requests to send. */
  readonly wants: boolean;
  /** Whether it may begin requests now: it does not lose a turn before it has stopped to. */
  readonly sends: boolean;
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
  /**
   * Whether it is the process's turn to send, of a limit below the number of senders; one request at a time is under way in
   * a turn. A turn ends after five seconds if others wait; whoever has waited longest comes next.
   */
  takeTurn(process: string, account: string, sync: string, request: TurnRequest): Promise<boolean>;
  /** Tells that the process sends no more. */
  leave(process: string): Promise<void>;
  /** Holds the account's requests in all processes for so many milliseconds from now; a later end that was named before stays. */
  setRetryAfter(account: string, ms: number): Promise<void>;
}

/** The limits of all processes together. */
export const wholeOf = (configured: Rate, { set }: SyncShare): Rate => ({ ...configured, ...set });

/** Whether a share of the limit is less than one request, so that processes take turns. */
export const takesTurns = ({ atOnce }: Rate, { underWay }: SyncShare): boolean => atOnce < underWay.length;

/** What a process may do of what all may do together; `hasTurn` if they take turns. */
export function rateOf(configured: Rate, share: SyncShare, hasTurn: boolean): Rate {
  const whole = wholeOf(configured, share);
  const inTurns = takesTurns(whole, share);
  return {
    atOnce: inTurns ? Number(hasTurn) : shareOf(whole.atOnce, share),
    // Of processes that take turns, only so many send.
    perSecond: whole.perSecond === null ? null : whole.perSecond / (inTurns ? whole.atOnce : share.underWay.length),
  };
}

/**
 * One process's part of a limit: the parts of all processes are even, and together the whole. While some still have more
 * requests under way than their part, since there were fewer of them when they began these, the others leave room for them.
 */
function shareOf(limit: number, { underWay, index }: SyncShare): number {
  if (limit === Infinity) return Infinity;
  let sharing = [...underWay.keys()];
  let left = limit;
  while (true) {
    const part = (at: number): number => Math.floor(left / sharing.length) + (at < left % sharing.length ? 1 : 0);
    const within = sharing.filter((process, at) => underWay[process]! <= part(at));
    if (within.length === sharing.length || !within.includes(index)) return part(sharing.indexOf(index));
    for (const process of sharing) if (!within.includes(process)) left = Math.max(0, left - underWay[process]!);
    sharing = within;
  }
}
