/**
 * This process as one of a fleet. While it sends, it tells the registry so each second, and learns its share of each sync
 * and whether the platform wants a pause. While it does not, it asks nothing and holds no share.
 */
import { randomUUID } from 'node:crypto';
import {
  takesTurns,
  type FleetRegistry,
  type FleetView,
  type Rate,
  type SyncShare,
} from '../domain/monitoring/fleet.js';
import { milliseconds } from '../domain/timeouts.js';
import { CLOCK, type Clock } from './pace.js';
import { openSharedRetryAfter, type SharedRetryAfter } from './shared-retry-after.js';

/** Where the fleet is, and with which account of the platform this process sends. Each is asked for at each use. */
export interface Fleet {
  registry(): Promise<FleetRegistry>;
  /** The registry for a process that sends for no sync, and so may have no other use of the ledger. */
  view(): Promise<FleetView>;
  account(): Promise<string>;
  /** Tells the others that the platform wants nothing for so many milliseconds. */
  tell(account: string, ms: number): Promise<void>;
}

export interface FleetMember {
  /** Tells the limit this process's share of the sync, whenever it hears of it. */
  watch(sync: string, limit: SharedLimit): void;
  /**
   * Registers the process as a sender of the sync, until the function that it resolves with is called. Resolves once the
   * others have reduced their shares. Throws what the registry throws: a process that nobody hears of must not send. Rejects with the
   * signal's reason when it is aborted.
   */
  enter(sync: string, signal?: AbortSignal): Promise<() => void>;
  readonly retryAfter: SharedRetryAfter;
  /** Gives all shares back. */
  close(): Promise<void>;
}

/** A limit of which each process has a share. */
export interface SharedLimit {
  /** The limits of all processes together. */
  whole(share: SyncShare): Rate;
  /** `hasTurn`: whether it is this process's turn, if they take turns. */
  apply(share: SyncShare, hasTurn: boolean): void;
  /** How many requests this process has under way. */
  underWay(): number;
}

interface Sending {
  limit: SharedLimit;
  inFlight: number;
  lastUsed: number;
  /** null while the registry does not have this process. */
  share: SyncShare | null;
  /** Whether it is this process's turn; null where processes take no turns. */
  hasTurn: boolean | null;
  /** Whether the others have had time to reduce their shares. */
  admitted: boolean;
}

export function joinFleet(fleet: Fleet, clock: Clock = CLOCK): FleetMember {
  const process = randomUUID();
  const [every, idle, join] = [milliseconds('fleetHeartbeat'), milliseconds('fleetIdle'), milliseconds('fleetJoin')];
  const syncs = new Map<string, Sending>();
  /** When what is known was asked for. */
  let knownAt = -Infinity;
  let told = false;
  let closed = false;
  let heartbeating: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** The syncs that this process sends for, each with the number of its requests under way. */
  const active = (): Map<string, number> =>
    new Map(
      [...syncs]
        .filter(([, s]) => s.inFlight > 0 || clock.now() - s.lastUsed < idle)
        .map(([sync, { limit }]) => [sync, limit.underWay()]),
    );
  const heartbeatOnce = async (): Promise<void> => {
    const at = clock.now();
    const [registry, account] = [await fleet.registry(), await fleet.account()];
    const underWay = active();
    const { retryAfterMs, shares } = await registry.heartbeat(process, account, underWay);
    told ||= underWay.size > 0;
    knownAt = at;
    retryAfter.learn(retryAfterMs);
    for (const [sync, sending] of syncs) {
      const share = shares.get(sync) ?? null;
      // A process that was frozen for so long that its share was given to others waits to be admitted once more.
      const hasRejoined = sending.share !== null && share !== null && share.joinedMs < sending.share.joinedMs;
      const wasAdmitted = sending.admitted && !hasRejoined;
      sending.share = share;
      sending.admitted = share !== null && (wasAdmitted || share.underWay.length === 1 || share.joinedMs >= join);
      sending.hasTurn = share && (await turnOf(registry, account, sync, sending, share));
      if (share !== null) sending.limit.apply(share, sending.hasTurn === true);
    }
  };
  const turnOf = async (
    registry: FleetRegistry,
    account: string,
    sync: string,
    { limit, inFlight, admitted, hasTurn }: Sending,
    share: SyncShare,
  ): Promise<boolean | null> => {
    const whole = limit.whole(share);
    if (!takesTurns(whole, share)) return null;
    // It must not begin anything that its answer does not count.
    if (hasTurn === null) limit.apply(share, false);
    const wants = admitted && inFlight > 0;
    const request = { limit: whole.atOnce, underWay: limit.underWay(), wants, sends: hasTurn === true };
    return registry.takeTurn(process, account, sync, request);
  };
  const heartbeat = (): Promise<void> => {
    heartbeating ??= heartbeatOnce().finally(() => {
      heartbeating = undefined;
      clearTimeout(timer);
      // The last heartbeat of a process that has become idle gives its shares back.
      if (!closed && (active().size > 0 || [...syncs.values()].some(({ share }) => share !== null)))
        timer = setTimeout(() => void heartbeat().catch(() => undefined), every).unref();
    });
    return heartbeating;
  };
  const retryAfter = openSharedRetryAfter({
    clock,
    ask: async () =>
      told || active().size > 0
        ? heartbeat()
        : retryAfter.learn(await (await fleet.view()).retryAfterMs(await fleet.account())),
    tell: async (ms) => fleet.tell(await fleet.account(), ms),
  });
  const sendingOf = (sync: string): Sending => {
    const known = syncs.get(sync);
    if (known !== undefined) return known;
    const sending = { limit: UNLIMITED, inFlight: 0, lastUsed: -Infinity, share: null, hasTurn: null, admitted: false };
    syncs.set(sync, sending);
    return sending;
  };
  const isKnown = ({ admitted }: Sending, age = milliseconds('fleetFresh')): boolean =>
    admitted && clock.now() - knownAt < age;

  return {
    retryAfter,
    watch(sync, limit) {
      const sending = sendingOf(sync);
      sending.limit = limit;
      if (sending.share !== null) limit.apply(sending.share, sending.hasTurn === true);
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
          await heartbeat();
          // A slow ledger must not stop everything: until the fleet takes this process for gone, it has its share.
          if (isKnown(sending, milliseconds('fleetGone'))) break;
          // A heartbeat that was under way did not yet know of this sync.
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
        await heartbeating?.catch(() => undefined);
        await (await fleet.registry()).leave(process);
      };
      // A ledger that does not answer must not keep the process from ending; its share is lost in time.
      const left = new AbortController();
      const tooLong = clock.pause(milliseconds('retryAfterResponse'), left.signal).catch(() => undefined);
      await Promise.race([leave().catch(() => undefined), tooLong]);
      left.abort();
    },
  };
}

/** Of a sync that nobody has limited yet. */
const UNLIMITED: SharedLimit = {
  whole: () => ({ atOnce: Infinity, perSecond: null }),
  apply: () => undefined,
  underWay: () => 0,
};
