/** What is needed to read the rows of a mapping and to map them. */
import type { MapResult } from '../domain/record.js';
import type { Records } from '../domain/record-list.js';
import type { ReadPlan, SourceColumn, SourceKey, SourceRow } from '../domain/source.js';
import type { MappingSpec, TenantRule } from '../domain/sync.js';
import { compileMapping } from '../mapping/compile-mapping.js';
import { readPlanOf } from '../mapping/read-plan.js';

/** Maps one row of the mapping's columns, to a record of `records` if it can be; never throws for bad data. */
export type RowMapper = (row: SourceRow, key: SourceKey, records?: Records) => MapResult;

export interface MappedReading {
  readonly spec: MappingSpec;
  readonly tenant: TenantRule;
  readonly plan: ReadPlan;
  /** The compiled mapping for columns of these types. */
  mapper(columns: readonly SourceColumn[]): RowMapper;
}

/** A mapping that is compiled on first use, per set of column types. */
export function mappedReading(spec: MappingSpec, tenant: TenantRule): MappedReading {
  const compiled = new Map<string, RowMapper>();
  return {
    spec,
    tenant,
    plan: readPlanOf(spec, tenant),
    mapper(columns) {
      const types = columns.map((c) => c.databaseType).join();
      let map = compiled.get(types);
      if (map === undefined) {
        const ready = compileMapping(spec, tenant, columns);
        compiled.set(types, (map = (row, key, records) => ready.map(row, key, records)));
      }
      return map;
    },
  };
}
