/** Checks the tenants whose records a run is to mark although no row belongs to them any more. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { RunInput } from '../../domain/run/run.js';
import type { MappingSpec } from '../../domain/sync/sync.js';
import { quoted } from '../../domain/values/quoted.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import type { Dependencies } from '../dependencies.js';

/**
 * @param mappings those of the run that mark records
 * @throws PartnerSyncError `input_invalid` for a tenant of which the ledger knows no record of the sync, as it is misspelled, and for one
 *   to which another sync delivers all that this one has delivered: these are that one's records now
 */
export async function assertFormerTenants(
  { ledger }: Pick<Dependencies, 'ledger'>,
  run: RunRow,
  { formerTenants = [] }: RunInput,
  mappings: readonly MappingSpec[],
): Promise<void> {
  const { tenantCounts, runs } = ledger;
  for (const tenant of formerTenants) {
    const isKnown = (await tenantCounts.ofTenant(run.sync, tenant)).length > 0;
    const others = await Promise.all(
      mappings.map(({ schema }) => tenantCounts.otherSyncsWith(run.sync, tenant, schema.name)),
    );
    if (isKnown && others.some((syncs) => syncs.length === 0)) continue;
    const why = isKnown
      ? `the sync ${others[0]![0]} delivers to the tenant ${quoted(tenant)} now: its records must not be marked`
      : `the ledger knows no record of ${run.sync} in the tenant ${quoted(tenant)}`;
    const error = new PartnerSyncError('input_invalid', `"formerTenants": ${why}`);
    await runs.end(run.id, 'failed', error);
    throw error;
  }
}
