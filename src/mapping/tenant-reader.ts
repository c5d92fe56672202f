/** Which tenant a row belongs to: the sync's own, or the declared one for the row's value. Never the row's word. */
import type { SourceRow } from '../domain/source.js';
import type { TenantConfig } from '../domain/sync.js';
import type { PlacedColumn } from './field-plan.js';
import { textForm } from './kinds.js';
import { Rejection } from './rejection.js';

export function tenantReader(
  tenant: TenantConfig,
  columnNamed: (name: string) => PlacedColumn,
): (row: SourceRow) => string | Rejection {
  if (tenant.kind === 'constant') return () => tenant.tenant;
  if (tenant.kind === 'table') throw new Error('the list of tenants has not been read');
  const { index, column } = columnNamed(tenant.column);
  const step = textForm(column.type)?.step ?? null;
  const tenants = column.type === 'bytes' ? byHexDigits(tenant.values) : tenant.values;
  return (row) => {
    const value = row[index];
    if (value === null || value === undefined) return new Rejection('tenant', 'the tenant column is NULL', null);
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

/** Bytes arrive as hex digits in lower case; people may name them by the UUID that they are, too. */
const byHexDigits = (values: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...values].map(([value, tenant]) => [value.replaceAll('-', '').toLowerCase(), tenant]));
