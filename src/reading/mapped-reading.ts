/** What is needed to read the rows of a mapping and to map them. */
import type { ReadPlan, SourceColumn } from '../domain/source.js';
import type { MappingSpec, TenantRule } from '../domain/sync.js';
import { compileMapping, type CompiledMapping } from '../mapping/compile-mapping.js';
import { readPlanOf } from '../mapping/read-plan.js';

/** Maps one row of the mapping's columns, to a record of `records` if it can be; never throws for bad data. */
export type RowMapper = CompiledMapping['map'];

export interface MappedReading {
  readonly spec: MappingSpec;
  readonly tenant: TenantRule;
  readonly plan: ReadPlan;
  /** The mapping for columns of these types, compiled on first use. */
  compiled(columns: readonly SourceColumn[]): CompiledMapping;
  mapper(columns: readonly SourceColumn[]): RowMapper;
}

export function mappedReading(spec: MappingSpec, tenant: TenantRule): MappedReading {
  const byTypes = new Map<string, CompiledMapping>();
  const compiled = (columns: readonly SourceColumn[]): CompiledMapping => {
    const types = columns.map((c) => c.databaseType).join();
    let mapping = byTypes.get(types);
    if (mapping === undefined) byTypes.set(types, (mapping = compileMapping(spec, tenant, columns)));
    return mapping;
  };
  return {
    ...{ spec, tenant, compiled },
    plan: readPlanOf(spec, tenant),
    mapper: (columns) => compiled(columns).map,
  };
}
