/** Whether this process has the platform to which a sync delivers: what the ledger knows says nothing of any other. */
import { readVariable, type Env } from '../config/environment.js';
import { platformAddress } from '../config/platform-address.js';
import { PartnerSyncError } from '../domain/errors.js';
import { otherPlatform } from '../domain/run/other-platform.js';
import type { LedgerView } from '../ledger/ledger-view.js';

/** Throws `other_platform` if PLATFORM_BASE_URL names another one than the ledger knows of; not if one of the two is not known. */
export async function assertKnownPlatform(
  ledger: Pick<LedgerView, 'platforms'> | null,
  env: Env,
  sync: string,
): Promise<void> {
  const known = (await ledger?.platforms.ofSync(sync)) ?? null;
  if (known === null || (await readVariable(env, 'PLATFORM_BASE_URL')) === undefined) return;
  const now = await platformAddress(env);
  if (known !== now) throw new PartnerSyncError('other_platform', otherPlatform(sync, known, now));
}
