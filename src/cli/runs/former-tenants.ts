/** Records in tenants to which a sync no longer delivers, as after a wrong tenant was corrected: no run touches them by itself. */
import type { CommonParts } from '../../composition/parts.js';
import { quantity } from '../../domain/values/quantity.js';
import { removesRecords, type SyncSpec } from '../../domain/sync/sync.js';
import { tenantsTold } from '../../domain/sync/tenants-told.js';
import type { LedgerView } from '../../ledger/ledger-view.js';
import { specIfValid } from '../known-files.js';

/** Records that the platform has in such a tenant. */
export interface FormerTenant {
  readonly tenant: string;
  readonly records: number;
  /** Whether a mapping says how some of them are marked as deleted. */
  readonly hasMark: boolean;
}

/** None if the files are missing here, or wrong, or the tenants are listed in the source, where only `doctor` looks. */
export async function formerTenants(
  parts: CommonParts,
  ledger: Pick<LedgerView, 'tenantCounts'>,
  sync: string,
): Promise<readonly FormerTenant[]> {
  const spec = await specIfValid(parts, sync);
  if (spec === null || spec.tenant.kind === 'table') return [];
  return formerTenantsOf(ledger, spec, tenantsTold(spec.tenant));
}

/** The same of a sync that delivers to these tenants; those with the most records first. */
export async function formerTenantsOf(
  { tenantCounts }: Pick<LedgerView, 'tenantCounts'>,
  { name, mappings }: SyncSpec,
  tenants: readonly string[],
): Promise<readonly FormerTenant[]> {
  const marking = new Set(mappings.filter(removesRecords).map((mapping) => mapping.name));
  const found = new Map<string, FormerTenant>();
  for (const { tenant, mapping, accepted } of await tenantCounts.ofOthers(name, tenants)) {
    const { records = 0, hasMark = false } = found.get(tenant) ?? {};
    found.set(tenant, { tenant, records: records + accepted, hasMark: hasMark || marking.has(mapping) });
  }
  return [...found.values()].sort((a, b) => b.records - a.records);
}

/** Tenants that are named; there may be thousands. */
const NAMED = 5;

/** What is there, in a sentence. */
export function formerTenantsLine(tenants: readonly FormerTenant[]): string {
  const named = tenants.slice(0, NAMED).map(({ tenant, records }) => `${tenant} (${records.toLocaleString('en-GB')})`);
  const more = tenants.length > NAMED ? [quantity(tenants.length - NAMED, 'other', 'others')] : [];
  return `The platform has records in tenants to which the sync no longer delivers: ${[...named, ...more].join(', ')}.`;
}

/** What to do about them. */
export function formerTenantsRemedy(sync: string, [first]: readonly FormerTenant[]): string {
  const { tenant, hasMark } = first!;
  const forget = `partner-sync forget ${sync} --tenant ${tenant}`;
  return hasMark
    ? `If they went there by mistake, mark them as deleted: partner-sync run ${sync} --mode mirror --former-tenant ${tenant}; if not, let the ledger forget them: ${forget}`
    : `No mapping says with deletes how to mark them; let the ledger forget them: ${forget}`;
}

/** Both, for people; nothing if there are none. */
export const formerTenantsLines = (sync: string, tenants: readonly FormerTenant[]): string[] =>
  tenants.length === 0 ? [] : ['', formerTenantsLine(tenants), formerTenantsRemedy(sync, tenants)];
