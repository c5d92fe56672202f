/** What the key of a row is enough to know: of a deleted row, nothing else is known. */
import type { MappingSpec, TenantConfig } from '../../domain/sync/sync.js';
import { lookUpOf } from './external-id-look-up.js';

/** Whether the external id is made of key columns alone, and rows are found by it. */
export function keyTellsId(mapping: Pick<MappingSpec, 'fields' | 'schema' | 'key'>): boolean {
  const how = lookUpOf(mapping);
  return how?.certain === true && how.columns.every((column) => mapping.key.includes(column));
}

/** Whether the tenant column is part of the key, or all rows are of one tenant. */
export const keyTellsTenant = ({ key }: Pick<MappingSpec, 'key'>, tenant: TenantConfig): boolean =>
  tenant.kind === 'constant' || key.includes(tenant.column);
