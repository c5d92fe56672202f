/** Determines the tenant of a row: that of the sync, or the one that is declared for the value of the tenant column. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { ByteRow } from '../../domain/source/source.js';
import type { TenantConfig } from '../../domain/sync/sync.js';
import type { PlacedColumn } from './field-writer.js';
import { textForm } from '../encode/value-kind.js';
import { Rejection } from '../encode/rejection.js';

/**
 * A function from a row to its tenant. A row can never choose its tenant freely: a value that is not declared, or NULL,
 * gives a {@link Rejection}, since a guess could send a record to another customer. Throws an Error for a list of
 * tenants in a table that has not been read yet, and `tenant_list_unusable` for one that leaves a tenant in doubt.
 */
export function tenantReader(
  tenant: TenantConfig,
  columnNamed: (name: string) => PlacedColumn,
): (row: ByteRow) => string | Rejection {
  if (tenant.kind === 'constant') return () => tenant.tenant;
  if (tenant.kind === 'table') throw new Error('the list of tenants has not been read');
  const { index, column } = columnNamed(tenant.column);
  const step = textForm(column.type)?.step ?? null;
  const tenants = column.type === 'bytes' ? byHexDigits(tenant.values) : tenant.values;
  return (row) => {
    const value = row.text(index);
    if (value === null) return new Rejection('tenant', 'the tenant column is NULL', null);
    const text = step === null ? value : step(value);
    return (
      (typeof text === 'string' ? tenants.get(text) : undefined) ??
      new Rejection(
        'tenant',
        'the value of the tenant column is not in the list of tenants that sync.yaml names',
        value,
      )
    );
  };
}

/**
 * Bytes arrive as hex digits in lower case; a list may also give them in upper case or as UUIDs. Throws `tenant_list_unusable` if it
 * gives the same bytes to two tenants.
 */
function byHexDigits(values: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const tenants = new Map<string, string>();
  for (const [value, tenant] of values) {
    const digits = value.replaceAll('-', '').toLowerCase();
    const other = tenants.get(digits);
    if (other !== undefined && other !== tenant)
      throw new PartnerSyncError('tenant_list_unusable', `it gives the bytes ${digits} to both ${other} and ${tenant}`);
    tenants.set(digits, tenant);
  }
  return tenants;
}
