/**
 * Composes the parts of a process from environment variables; each is opened on first use. Most modules are loaded on
 * first use, too: together they take a third of a second, and some commands need none of them.
 */
import { readVariable, type Env } from '../config/environment.js';
import { hashedVariables } from '../config/hashed-variables.js';
import { platformAddress } from '../config/platform-address.js';
import { packageVersion } from '../config/package-version.js';
import { recordingInPlace } from '../delivery/retries-in-place.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { TenantRule } from '../domain/sync/sync.js';
import type { LedgerView } from '../ledger/ledger-view.js';
import { openParts, openView, type Composing } from './open-parts.js';
import type { MappingIds } from './compose-sync.js';
import { besideFleet, inFleet } from './in-fleet.js';
import type { Parts, ViewParts } from './parts.js';

/** Composes a process that may write: opening the ledger creates or upgrades its tables. */
export function compose(env: Env, composing: Composing = {}): Parts {
  const open =
    composing.openLedger ??
    (async (url) => (await import('../ledger/ledger.js')).openLedger(url, composing.meters?.ledger));
  const onRetry = recordingInPlace(async () => (await parts.ledger()).runs);
  const tenantsOfRun = async (runId: string, sync: string, read: () => Promise<TenantRule>): Promise<TenantRule> =>
    (await (await parts.ledger()).tenantLists.ofRun(runId, sync, read)).rule;
  const parts = openParts(env, open, { ...composing, onRetry, tenantsOfRun }, (ledger, isOpen, view) =>
    inFleet(env, { open: ledger, isOpen, view }),
  );
  return {
    ...parts,
    dependencies: async () => ({
      ledger: await parts.ledger(),
      platform: await parts.platform(),
      loadSync: parts.loadSync,
      openSync: parts.openSync,
      alerting: (await import('../alerts/open-alerting.js')).openAlerting(env, parts.mappingsFolder),
      retentionOf: async (sync) =>
        (await import('../mapping/load-retention.js')).loadRetention(await parts.mappingsFolder(), sync, env),
      platformAddress: await platformAddress(env),
      programVersion: packageVersion(),
      hashedVariables: (named, salt) => hashedVariables(env, named, salt),
    }),
    sourceAdministrator: async ({ source }) => {
      const own = await readVariable(env, 'SOURCE_ADMIN_URL');
      return (await import('../source/open-source.js')).openSourceAdministrator(own || source.connection, source);
    },
  };
}

/**
 * Composes a command that only reads: the ledger is neither created nor upgraded, and its sessions are read-only, except to
 * share the limits of requests with the others, and to tell them of a pause that the platform asks for.
 */
export function composeView(env: Env, { warn }: Pick<Composing, 'warn'> = {}): ViewParts {
  const composing = {
    mappingIds: async () => (await ledgerIfAny())?.ids ?? NOTHING_SENT,
    ...(warn === undefined ? {} : { warn }),
  };
  const parts = openParts(env, openView, composing, (view, isOpen) => besideFleet(env, { isOpen, view }));
  const ledgerIfAny = async (): Promise<LedgerView | null> => {
    if ((await readVariable(env, 'PARTNER_SYNC_STATE_URL')) === undefined) return null;
    try {
      return await parts.ledger();
    } catch (error) {
      if (error instanceof PartnerSyncError && error.details['absent'] === true) return null;
      throw error;
    }
  };
  return { ...parts, ledgerIfAny };
}

/** Stands in for a missing ledger: no mapping has the id 0, so every record counts as not sent. */
const NOTHING_SENT: MappingIds = { mappingId: () => Promise.resolve(0) };
