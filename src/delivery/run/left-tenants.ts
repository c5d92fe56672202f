/** Checks the tenants whose records a run is to mark although no row belongs to them any more. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { RunInput } from '../../domain/run/run.js';
import { quoted } from '../../domain/values/quoted.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import type { Dependencies } from '../dependencies.js';

/** @throws PartnerSyncError `input_invalid` for one of which the ledger knows no record of the sync: it is misspelled */
export async function assertLeftTenants(
  { ledger }: Pick<Dependencies, 'ledger'>,
  run: RunRow,
  { leftTenants = [] }: RunInput,
): Promise<void> {
  for (const tenant of leftTenants) {
    if ((await ledger.tenantCounts.ofTenant(run.sync, tenant)).length > 0) continue;
    const error = new PartnerSyncError(
      'input_invalid',
      `"leftTenants": the ledger knows no record of ${run.sync} in the tenant ${quoted(tenant)}`,
    );
    await ledger.runs.end(run.id, 'failed', error);
    throw error;
  }
}
