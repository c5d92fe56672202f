/** Records in tenants to which a sync delivers no more, as after a wrong tenant was corrected: no run touches them by itself. */
import type { CommonParts } from '../../composition/parts.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { quantity } from '../../domain/values/quantity.js';
import type { LedgerView } from '../../ledger/ledger-view.js';
import type { TenantRecords } from '../../ledger/views/tenant-counts.js';

/** None if the files are missing here, or wrong, or the tenants are listed in the source, where only `doctor` looks. */
export async function leftTenants(
  parts: CommonParts,
  { tenantCounts }: Pick<LedgerView, 'tenantCounts'>,
  sync: string,
): Promise<readonly TenantRecords[]> {
  try {
    const { tenant } = (await parts.loadSync(sync)).spec;
    if (tenant.kind === 'table') return [];
    return await tenantCounts.ofOthers(
      sync,
      tenant.kind === 'constant' ? [tenant.tenant] : [...tenant.values.values()],
    );
  } catch (error) {
    if (error instanceof PartnerSyncError && error.code === 'config_invalid') return [];
    throw error;
  }
}

/** Tenants that are named; there may be thousands. */
const NAMED = 5;

/** What is there, in a sentence. */
export function leftTenantsLine(tenants: readonly TenantRecords[]): string {
  const named = tenants
    .slice(0, NAMED)
    .map(({ tenant, accepted }) => `${tenant} (${accepted.toLocaleString('en-GB')})`);
  const more = tenants.length > NAMED ? [quantity(tenants.length - NAMED, 'other', 'others')] : [];
  return `The platform has records in tenants to which the sync delivers no more: ${[...named, ...more].join(', ')}.`;
}

/** What to do about them. */
export const leftTenantsRemedy = (sync: string, [first]: readonly TenantRecords[]): string =>
  `Mark them as deleted: partner-sync run ${sync} --mode mirror --left-tenant ${first!.tenant}; or leave them as they are: partner-sync forget ${sync} --tenant ${first!.tenant}`;

/** Both, for people; nothing if there are none. */
export const leftTenantsLines = (sync: string, tenants: readonly TenantRecords[]): string[] =>
  tenants.length === 0 ? [] : ['', leftTenantsLine(tenants), leftTenantsRemedy(sync, tenants)];
