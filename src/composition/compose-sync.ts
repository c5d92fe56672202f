/** Composes one sync: its source, its limits, its list of tenants, and its mappings, each compiled on first use. */
import { openChunkSlots } from '../delivery/chunk-slots.js';
import { openBatchLimits } from '../delivery/batch-limits.js';
import type { OpenMapping, OpenSync } from '../delivery/dependencies.js';
import { readTenantList } from '../reading/read-tenant-list.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { MappingMeter, Meters } from '../domain/monitoring/meters.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import { referencesOf } from '../domain/records/references.js';
import type { SyncSpec, TenantRule } from '../domain/sync/sync.js';
import { tenantsTold } from '../domain/sync/tenants-told.js';
import { deferredReferences } from '../mapping/order/running-order.js';
import type { SyncLimits } from '../platform/sync-limits.js';
import type { Chunk } from '../reading/chunk.js';
import { prepareMapping } from '../reading/prepared-mapping.js';
import type { OpenReader } from '../reading/reader.js';
import type { IdsView } from '../ledger/mappings/ids.js';

/**
 * A sync whose source is open. Its runs share the source, the limits and, unless tenants are listed in the source, the
 * compiled mappings.
 */
export interface ComposedSync {
  readonly spec: SyncSpec;
  /** The sync as one run sees it. A list of tenants in the source is read once per run, on first use. */
  forRun(runId: string): OpenSync;
  /** The sync as it is now, for somebody who looks at it: tenants and mappings may have come since somebody did so last. */
  now(): OpenSync;
  /** Closes the source's connections. */
  close(): Promise<void>;
}

/** The part of the ledger that identifies mappings. */
export type MappingIds = Pick<IdsView, 'mappingId'>;

/** Runs whose compiled mappings are kept, if each run reads the list of tenants again. */
const RUNS_KEPT = 8;

/**
 * Opens the sync's source with `openReader`. Mappings are compiled when they are first used.
 */
export function composeSync(
  spec: SyncSpec,
  mappingIds: () => Promise<MappingIds>,
  openReader: OpenReader,
  meters: Meters,
  limits: SyncLimits,
  onRetry: OnRetry,
  tenantsOfRun: (runId: string, read: () => Promise<TenantRule>) => Promise<TenantRule>,
): ComposedSync {
  const { source, chunks } = openReader(spec.source, onRetry);
  const { requestsAtOnce, requestsPerSecond } = spec.upload;
  const limited = () => limits.of(spec.name, { atOnce: requestsAtOnce, perSecond: requestsPerSecond });
  const limit = limited();
  meters.watchSync(spec.name, {
    requestLimit: () => limit.atOnce,
    connections: () => source.connections(),
    connectionLimit: spec.source.poolMax,
  });
  const shared = new Map(
    spec.mappings.map((mapping) => [
      mapping.name,
      { batchLimits: openBatchLimits(mapping, spec.upload), chunkSlots: openChunkSlots() },
    ]),
  );
  const runs = new Map<string, OpenSync>();
  const deferred = deferredReferences(spec.mappings).fields;
  const open = (runId: string | null): OpenSync => {
    const tenant = once(async (): Promise<TenantRule> => {
      const config = spec.tenant;
      if (config.kind !== 'table') return config;
      const read = () => readTenantList(source, config);
      return runId === null ? read() : tenantsOfRun(runId, read);
    });
    const mapping = async (name: string): Promise<OpenMapping> => {
      const mappingSpec = spec.mappings.find((m) => m.name === name)!;
      const mappingId = await (await mappingIds()).mappingId(spec.name, name, mappingSpec.schema.name);
      return {
        ...prepareMapping(mappingSpec, await tenant()),
        ...shared.get(name)!,
        meter: meters.mapping(mappingId, spec.name, name),
        mappingId,
        referenceFields: new Set(referencesOf(mappingSpec.schema.schema).map((r) => r.field)),
        deferred: new Set(deferred.get(name)),
      };
    };
    const mappings = new Map(spec.mappings.map(({ name }) => [name, once(() => mapping(name))]));
    return {
      spec,
      source,
      chunks: (mapping, ...asked) => measured(chunks(mapping, ...asked), mapping.meter),
      requestLimit: limit,
      onRetry,
      mapping(name) {
        const known = mappings.get(name);
        if (known !== undefined) return known();
        return Promise.reject(new PartnerSyncError('unexpected', `${spec.name} has no mapping ${name}`));
      },
      tenantRule: tenant,
      tenants: async () => tenantsTold(await tenant()),
    };
  };
  return {
    spec,
    forRun(runId) {
      // Another version of the files may have set other limits in the meantime.
      limited();
      const key = spec.tenant.kind === 'table' ? runId : '';
      const sync = runs.get(key) ?? open(runId);
      runs.delete(key);
      runs.set(key, sync);
      if (runs.size > RUNS_KEPT) runs.delete(runs.keys().next().value!);
      return sync;
    },
    now: () => open(null),
    close: () => source.close(),
  };
}

/** The same chunks; the meter is told how long each took to come. */
async function* measured<C extends Chunk>(chunks: AsyncGenerator<C>, meter: MappingMeter): AsyncGenerator<C> {
  let asked = performance.now();
  for await (const chunk of chunks) {
    meter.chunkRead((performance.now() - asked) / 1000);
    yield chunk;
    asked = performance.now();
  }
}

/** Memoizes an asynchronous function. A failure is not kept: the next caller tries again. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= work();
    answer.catch(() => (answer = undefined));
    return answer;
  };
}
