/** A mapping together with its read plan and its compiled forms. */
import { getOrInsert } from '../domain/values/get-or-insert.js';
import type { ReadPlan, SourceColumn } from '../domain/source/source.js';
import type { MappingSpec, TenantRule } from '../domain/sync/sync.js';
import { compileMapping, type CompiledMapping } from '../mapping/compile/compile-mapping.js';
import { readPlanOf } from '../mapping/compile/read-plan.js';

/** Maps one row of the plan's columns; see {@link CompiledMapping.map}. */
export type RowMapper = CompiledMapping['map'];

/** A mapping that is ready to be read. It is bound to one list of tenants. */
export interface PreparedMapping {
  readonly spec: MappingSpec;
  readonly tenant: TenantRule;
  readonly plan: ReadPlan;
  /**
   * The mapping compiled for columns of these types, on first use. Throws `config_invalid` or `source_relation_missing` if
   * the mapping cannot run on these columns.
   */
  compiled(columns: readonly SourceColumn[]): CompiledMapping;
  /** The `map` of {@link compiled}. */
  mapper(columns: readonly SourceColumn[]): RowMapper;
}

/** Prepares a mapping for reading; nothing is compiled yet. `tenant` must not be a table that is still to be read. */
export function prepareMapping(spec: MappingSpec, tenant: TenantRule): PreparedMapping {
  const byTypes = new Map<string, CompiledMapping>();
  const compiled = (columns: readonly SourceColumn[]): CompiledMapping => {
    // As JSON, since a type may contain a comma: numeric(12,2).
    const types = JSON.stringify(columns.map((c) => c.databaseType));
    return getOrInsert(byTypes, types, () => compileMapping(spec, tenant, columns));
  };
  return {
    spec,
    tenant,
    plan: readPlanOf(spec, tenant),
    compiled,
    mapper: (columns) => compiled(columns).map,
  };
}
