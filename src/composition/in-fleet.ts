/** A process in its fleet: what it shares with the others through the ledger. */
import { hash } from 'node:crypto';
import { readVariable, requireVariable, type Env } from '../config/environment.js';
import { platformAddress } from '../config/platform-address.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { Rate } from '../domain/monitoring/fleet.js';
import type { FleetSession } from '../ledger/fleet.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LedgerView } from '../ledger/ledger-view.js';
import { NO_ACCOUNT_LIMITS, openAccountLimit, type AccountLimit } from '../platform/account-limit.js';
import { joinFleet, type FleetMember } from '../platform/fleet-member.js';
import type { SharedRetryAfter } from '../platform/shared-retry-after.js';
import { openSyncLimits, type SyncLimits } from '../platform/sync-limits.js';

/** What the requests of a process go by. */
export interface InFleet {
  readonly retryAfter: SharedRetryAfter;
  readonly limits: SyncLimits;
  /** The limits of all requests together, for a process with so many connections. */
  readonly accountLimit: (connections: number) => Promise<AccountLimit>;
  /** Gives the process's shares back. */
  readonly leave: () => Promise<void>;
}

/** The ledger of a process that may write. */
export interface SenderLedger {
  /** Whether it is open, or being opened. */
  readonly isOpen: () => boolean;
  readonly open: () => Promise<Ledger>;
  /** The ledger as it is: nothing is created or upgraded. */
  readonly view: () => Promise<LedgerView>;
}

/** For a process that may deliver: it has a share of each sync that it sends for, and tells what it hears. */
export function inFleet(env: Env, { isOpen, open, view }: SenderLedger): InFleet {
  const member = joinFleet({
    registry: async () => (await open()).fleet,
    // A command that has no other use of the ledger must not create its tables.
    view: async () => (isOpen() ? (await open()).fleet : (await view()).fleet),
    account: () => accountOf(env),
    tell: async (account, ms) =>
      isOpen() ? (await open()).fleet.setRetryAfter(account, ms) : tellWithoutLedger(env, view, account, ms),
  });
  return {
    retryAfter: member.retryAfter,
    limits: openSyncLimits(member),
    // A command that has no other use of the ledger keeps the limits by itself, as those do that only read.
    accountLimit: async (connections) =>
      openAccountLimit(await accountRate(env), connections, isOpen() ? member : null),
    leave: () => member.close(),
  };
}

/**
 * For a command that has the ledger for reading only: while it sends requests, it has its shares as a worker has, for which
 * it has a session of its own. If it may not write to the ledger, its limits are its own.
 */
export function besideFleet(env: Env, { isOpen, view }: Pick<SenderLedger, 'isOpen' | 'view'>): InFleet {
  let session: Promise<FleetSession | null> | undefined;
  const opened = (): Promise<FleetSession | null> => (session ??= openSession(env, view));
  const member = joinFleet({
    registry: async () => (await opened())!,
    view: async () => (await view()).fleet,
    account: () => accountOf(env),
    tell: (account, ms) => tellWithoutLedger(env, view, account, ms),
  });
  const sender: FleetMember = {
    ...member,
    enter: async (sync, signal) => ((await opened()) === null ? () => undefined : member.enter(sync, signal)),
  };
  return {
    retryAfter: member.retryAfter,
    limits: openSyncLimits(sender),
    accountLimit: async (connections) =>
      openAccountLimit(await accountRate(env), connections, isOpen() ? sender : null),
    async leave() {
      await member.close();
      await (await session)?.close();
    },
  };
}

/** null if there is no ledger, or one that may not be written to. */
async function openSession(env: Env, view: () => Promise<LedgerView>): Promise<FleetSession | null> {
  try {
    await view();
  } catch (error) {
    if (error instanceof PartnerSyncError) return null;
    throw error;
  }
  const { openFleetSession } = await import('../ledger/fleet.js');
  return openFleetSession(await requireVariable(env, 'PARTNER_SYNC_STATE_URL'));
}

/** The limits of the account, as the variables say. */
async function accountRate(env: Env): Promise<Rate> {
  const numberOf = async (name: 'PLATFORM_REQUESTS_AT_ONCE' | 'PLATFORM_REQUESTS_PER_SECOND') => {
    const text = await readVariable(env, name);
    return text ? Number(text) : undefined;
  };
  return {
    atOnce: (await numberOf('PLATFORM_REQUESTS_AT_ONCE')) ?? NO_ACCOUNT_LIMITS.atOnce,
    perSecond: (await numberOf('PLATFORM_REQUESTS_PER_SECOND')) ?? NO_ACCOUNT_LIMITS.perSecond,
  };
}

/** Throws what `view` throws if there is no ledger, or one that this program does not know: that one is left alone. */
async function tellWithoutLedger(
  env: Env,
  view: () => Promise<LedgerView>,
  account: string,
  ms: number,
): Promise<void> {
  await view();
  const [url, { writeRetryAfter }] = await Promise.all([
    requireVariable(env, 'PARTNER_SYNC_STATE_URL'),
    import('../ledger/fleet.js'),
  ]);
  await writeRetryAfter(url, account, ms);
}

/** Names the account of the platform: its address and, for a tenant's own token, a hash of that. */
async function accountOf(env: Env): Promise<string> {
  const url = await platformAddress(env);
  if ((await requireVariable(env, 'PLATFORM_TOKEN_SCOPE')) === 'platform') return url;
  const token = await requireVariable(env, 'PLATFORM_TOKEN');
  return `${url} ${hash('sha256', `${url} ${token}`, 'hex').slice(0, 16)}`;
}
