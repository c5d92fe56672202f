/** What a mapping reads, and in which order. */
import type { ReadPlan } from '../domain/source.js';
import type { MappingSpec, TenantConfig } from '../domain/sync.js';
import { columnsOf } from './check-columns.js';

export const readPlanOf = (mapping: MappingSpec, tenant: TenantConfig): ReadPlan => ({
  relation: mapping.relation,
  columns: columnsOf(mapping, tenant),
  key: mapping.key,
  cursor: mapping.cursor?.column ?? null,
  cursorZone: mapping.cursor?.zone ?? null,
});
