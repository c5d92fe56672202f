/** Wires one sync: its source, its limits, its list of tenants, and its mappings, each compiled when first asked for. */
import { openBatchLimits, type LearntLimits } from '../activities/batch-limits.js';
import type { OpenMapping, OpenSync } from '../activities/dependencies.js';
import { readTenantList } from '../activities/tenant-list.js';
import { ELSEWHERE } from './domain/elsewhere.js';
import { PartnerSyncError } from './domain/errors.js';
import { referencesOf } from './domain/references.js';
import type { SyncSpec, TenantRule } from './domain/sync.js';
import { deferredReferences } from './mapping/running-order.js';
import { openRequestLimit } from './platform/request-limit.js';
import { mappedReading } from './reading/mapped-reading.js';
import type { OpenReader } from './reading/reader.js';
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

export function composeSync(
  spec: SyncSpec,
  mappingIds: () => Promise<MappingIds>,
  openReader: OpenReader,
): ComposedSync {
  const { source, groups } = openReader(spec.source);
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
      return {
        ...mappedReading(mappingSpec, await tenant()),
        ...{ mappingId, batches },
        referenceFields: new Set(referencesOf(mappingSpec.schema.schema).map((r) => r.field)),
        deferred: new Set(deferred.get(name)),
      };
    };
    const mappings = new Map(spec.mappings.map(({ name }) => [name, once(() => mapping(name))]));
    return {
      ...{ spec, source, groups, limit },
      mapping(name) {
        const known = mappings.get(name);
        // A run that began with other files may name it; `openRun` has held the names against its own.
        if (known !== undefined) return known();
        const message = `the files of ${spec.name} have no mapping ${name} here`;
        return Promise.reject(new PartnerSyncError('mapping_changed', message, ELSEWHERE));
      },
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
