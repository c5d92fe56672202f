/** A process in its fleet: what it shares with the others through the ledger. */
import { hash } from 'node:crypto';
import { readVariable, requireVariable, type Env } from './config/environment.js';
import type { Rate } from './domain/fleet.js';
import type { Ledger } from './ledger/ledger.js';
import type { LedgerView } from './ledger/ledger-view.js';
import { NO_ACCOUNT_LIMITS, openAccountLimit, type AccountLimit } from './platform/account-limit.js';
import { joinFleet } from './platform/fleet-member.js';
import { CLOCK } from './platform/pace.js';
import { openSharedRetryAfter, type SharedRetryAfter } from './platform/shared-retry-after.js';
import { openSyncLimits, type SyncLimits } from './platform/sync-limits.js';

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

/** For a process that only reads: its limits are its own, but it hears and tells when the platform wants a pause. */
export function besideFleet(env: Env, view: () => Promise<LedgerView>): InFleet {
  const retryAfter = openSharedRetryAfter({
    clock: CLOCK,
    ask: async () => retryAfter.learn(await (await view()).fleet.retryAfterMs(await accountOf(env))),
    tell: async (ms) => tellWithoutLedger(env, view, await accountOf(env), ms),
  });
  return {
    retryAfter,
    limits: openSyncLimits(null),
    accountLimit: async (connections) => openAccountLimit(await accountRate(env), connections, null),
    leave: () => retryAfter.told(),
  };
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
    import('./ledger/fleet.js'),
  ]);
  await writeRetryAfter(url, account, ms);
}

/** Names the account of the platform: its address and, for a tenant's own token, a hash of that. */
async function accountOf(env: Env): Promise<string> {
  const url = new URL(await requireVariable(env, 'PLATFORM_BASE_URL')).href;
  if ((await requireVariable(env, 'PLATFORM_TOKEN_SCOPE')) === 'platform') return url;
  const token = await requireVariable(env, 'PLATFORM_TOKEN');
  return `${url} ${hash('sha256', `${url} ${token}`, 'hex').slice(0, 16)}`;
}
