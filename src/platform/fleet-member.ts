/**
 * This process as one of a fleet. While it sends, it tells the board so each second, and learns its share of each sync
 * and whether the platform wants a pause. While it does not, it asks nothing and holds no share.
 */
import { randomUUID } from 'node:crypto';
import type { FleetBoard, FleetView, SyncShare } from '../domain/fleet.js';
import { milliseconds } from '../domain/timeouts.js';
import { CLOCK, type Clock } from './pace.js';
import { openSharedRetryAfter, type SharedRetryAfter } from './shared-retry-after.js';

/** Where the fleet is, and with which account of the platform this process sends. Each is asked for at each use. */
export interface Fleet {
  board(): Promise<FleetBoard>;
  /** The board for a process that sends for no sync, and so may have no other use of the ledger. */
  view(): Promise<FleetView>;
  account(): Promise<string>;
  /** Tells the others that the platform wants nothing for so many milliseconds. */
  tell(account: string, ms: number): Promise<void>;
}

export interface FleetMember {
  /** Calls `apply` with this process's share of the sync, whenever it hears of it. */
  watch(sync: string, apply: (share: SyncShare) => void): void;
  /**
   * Notes that the process sends for the sync, until the function that it resolves with is called. Resolves once the
   * others have made room. Throws what the board throws: a process that nobody hears of must not send. Rejects with the
   * signal's reason when it is aborted.
   */
  enter(sync: string, signal?: AbortSignal): Promise<() => void>;
  readonly retryAfter: SharedRetryAfter;
  /** Gives all shares back. */
  close(): Promise<void>;
}

interface Sending {
  apply: (share: SyncShare) => void;
  inFlight: number;
  lastUsed: number;
  /** null while the board does not have this process. */
  share: SyncShare | null;
  /** Whether the others have had time to make room. */
  admitted: boolean;
}

export function joinFleet(fleet: Fleet, clock: Clock = CLOCK): FleetMember {
  const process = randomUUID();
  const [every, idle, join] = [milliseconds('fleetBeat'), milliseconds('fleetIdle'), milliseconds('fleetJoin')];
  const syncs = new Map<string, Sending>();
  /** When what is known was asked for. */
  let knownAt = -Infinity;
  let told = false;
  let closed = false;
  let beating: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const active = (): string[] =>
    [...syncs].filter(([, s]) => s.inFlight > 0 || clock.now() - s.lastUsed < idle).map(([sync]) => sync);
  const beatOnce = async (): Promise<void> => {
    const at = clock.now();
    const names = active();
    const { busyMs, shares } = await (await fleet.board()).beat(process, await fleet.account(), names);
    told ||= names.length > 0;
    knownAt = at;
    retryAfter.learn(busyMs);
    for (const [sync, sending] of syncs) {
      const share = shares.get(sync) ?? null;
      // A process that was frozen for so long that its share was given to others waits for its place once more.
      const hasRejoined = sending.share !== null && share !== null && share.joinedMs < sending.share.joinedMs;
      const wasAdmitted = sending.admitted && !hasRejoined;
      sending.share = share;
      sending.admitted = share !== null && (wasAdmitted || share.processes === 1 || share.joinedMs >= join);
      if (share !== null) sending.apply(share);
    }
  };
  const beat = (): Promise<void> => {
    beating ??= beatOnce().finally(() => {
      beating = undefined;
      clearTimeout(timer);
      // The last beat of a process that has become idle gives its shares back.
      if (!closed && (active().length > 0 || [...syncs.values()].some(({ share }) => share !== null)))
        timer = setTimeout(() => void beat().catch(() => undefined), every).unref();
    });
    return beating;
  };
  const retryAfter = openSharedRetryAfter({
    clock,
    look: async () =>
      told || active().length > 0 ? beat() : retryAfter.learn(await (await fleet.view()).busyMs(await fleet.account())),
    tell: async (ms) => fleet.tell(await fleet.account(), ms),
  });
  const sendingOf = (sync: string): Sending => {
    const known = syncs.get(sync);
    if (known !== undefined) return known;
    const sending = { apply: () => undefined, inFlight: 0, lastUsed: -Infinity, share: null, admitted: false };
    syncs.set(sync, sending);
    return sending;
  };
  const isKnown = ({ admitted }: Sending, age = milliseconds('fleetFresh')): boolean =>
    admitted && clock.now() - knownAt < age;

  return {
    retryAfter,
    watch(sync, apply) {
      const sending = sendingOf(sync);
      sending.apply = apply;
      if (sending.share !== null) apply(sending.share);
    },
    async enter(sync, signal) {
      const sending = sendingOf(sync);
      sending.inFlight++;
      const leave = (): void => {
        sending.inFlight--;
        sending.lastUsed = clock.now();
      };
      try {
        while (!isKnown(sending)) {
          signal?.throwIfAborted();
          await beat();
          // A slow ledger must not stop everything: this process counts as one of them until it is taken for gone.
          if (isKnown(sending, milliseconds('fleetGone'))) break;
          // A beat that was under way did not yet know of this sync.
          if (sending.share !== null) await clock.pause(every, signal);
        }
        return leave;
      } catch (error) {
        leave();
        throw error;
      }
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await retryAfter.told();
      if (!told) return;
      const leave = async (): Promise<void> => {
        await beating?.catch(() => undefined);
        await (await fleet.board()).leave(process);
      };
      // A ledger that does not answer must not keep the process from ending; its share is lost in time.
      const left = new AbortController();
      const tooLong = clock.pause(milliseconds('retryAfterAnswer'), left.signal).catch(() => undefined);
      await Promise.race([leave().catch(() => undefined), tooLong]);
      left.abort();
    },
  };
}
