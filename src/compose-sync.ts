/** Wires one sync: its source, its limits, its list of tenants, and its mappings, each compiled when first asked for. */
import { openBatchLimits, type LearntLimits } from '../activities/batch-limits.js';
import type { OpenMapping, OpenSync } from '../activities/dependencies.js';
import { readTenantList, type TenantRule } from '../activities/tenant-list.js';
import { referencesOf } from './domain/references.js';
import type { SourceColumn } from './domain/source.js';
import type { MappingSpec, SyncSpec } from './domain/sync.js';
import { compileMapping } from './mapping/compile-mapping.js';
import { readPlanOf } from './mapping/read-plan.js';
import { deferredReferences } from './mapping/running-order.js';
import { openRequestLimit } from './platform/request-limit.js';
import { openSource } from './source/open-source.js';
import type { Catalog } from './state/catalog.js';

/** A sync whose source is open, for all runs of it. */
export interface ComposedSync {
  readonly spec: SyncSpec;
  forRun(runId: string): OpenSync;
  close(): Promise<void>;
}

export type MappingIds = Pick<Catalog, 'mappingId'>;

/** Runs of which compiled mappings are kept, where each has a list of tenants of its own. */
const RUNS_KEPT = 8;

export function composeSync(spec: SyncSpec, mappingIds: () => Promise<MappingIds>): ComposedSync {
  const source = openSource(spec.source);
  const limit = openRequestLimit(spec.upload.requestsAtOnce);
  const limits = new Map<string, LearntLimits>();
  const runs = new Map<string, OpenSync>();
  const deferred = deferredReferences(spec.mappings).fields;
  const open = (): OpenSync => {
    const tenant = once(async (): Promise<TenantRule> =>
      spec.tenant.kind === 'table' ? readTenantList(source, spec.tenant) : spec.tenant,
    );
    const mapping = async (name: string): Promise<OpenMapping> => {
      const mappingSpec = spec.mappings.find((m) => m.name === name)!;
      let batches = limits.get(name);
      if (batches === undefined) limits.set(name, (batches = openBatchLimits(mappingSpec, spec.upload)));
      const mappingId = await (await mappingIds()).mappingId(spec.name, name);
      return openMapping(mappingSpec, await tenant(), {
        ...{ mappingId, batches },
        deferred: new Set(deferred.get(name)),
      });
    };
    const mappings = new Map(spec.mappings.map(({ name }) => [name, once(() => mapping(name))]));
    return {
      ...{ spec, source, limit },
      mapping: (name) => mappings.get(name)!(),
      async tenants() {
        const rule = await tenant();
        return rule.kind === 'constant' ? [rule.tenant] : [...new Set(rule.values.values())];
      },
    };
  };
  return {
    spec,
    forRun(runId) {
      const key = spec.tenant.kind === 'table' ? runId : '';
      const sync = runs.get(key) ?? open();
      runs.delete(key);
      runs.set(key, sync);
      if (runs.size > RUNS_KEPT) runs.delete(runs.keys().next().value!);
      return sync;
    },
    close: () => source.close(),
  };
}

/** The same answer for all who ask; what failed is tried again by the next one. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= work();
    answer.catch(() => (answer = undefined));
    return answer;
  };
}

/** A mapping that is compiled on first use, per set of column types. */
function openMapping(
  spec: MappingSpec,
  tenant: TenantRule,
  known: Pick<OpenMapping, 'mappingId' | 'batches' | 'deferred'>,
): OpenMapping {
  const compiled = new Map<string, ReturnType<OpenMapping['mapper']>>();
  return {
    spec,
    ...known,
    plan: readPlanOf(spec, tenant),
    referenceFields: new Set(referencesOf(spec.schema.schema).map((r) => r.field)),
    mapper(columns: readonly SourceColumn[]) {
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
