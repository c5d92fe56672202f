/** What delivery needs from outside; src/composition provides it, and tests may provide parts of it. */
import type { Alerting } from '../domain/monitoring/alerts.js';
import type { MappingMeter } from '../domain/monitoring/meters.js';
import type { Retention } from '../domain/sync/retention.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import type { SyncSpec, TenantRule } from '../domain/sync/sync.js';
import type { LoadedSync } from '../mapping/load-sync.js';
import type { PlatformClient } from '../platform/client.js';
import type { RequestLimit } from '../platform/request-limit.js';
import type { PositionedChunk } from '../reading/chunk.js';
import type { PreparedMapping } from '../reading/prepared-mapping.js';
import type { Reader } from '../reading/reader.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LedgerView } from '../ledger/ledger-view.js';
import type { ChunkSlots } from './chunk-slots.js';
import type { LearntLimits } from './batch-limits.js';

/** A mapping, ready to be read and mapped. */
export interface OpenMapping extends PreparedMapping {
  readonly mappingId: number;
  /** Fields of the record that refer to other records. */
  readonly referenceFields: ReadonlySet<string>;
  /** Those of them that are part of a cycle, and so left out in the first of two passes (running-order.ts). */
  readonly deferred: ReadonlySet<string>;
  /** How large its batches may be; shared by all runs in this process. */
  readonly batchLimits: LearntLimits;
  /** Bound how many of its chunks are in progress at once; shared by all runs in this process. */
  readonly chunkSlots: ChunkSlots;
  readonly meter: MappingMeter;
}

type ReadingArguments = Parameters<Reader['chunks']> extends [unknown, ...infer Rest] ? Rest : never;

/** A sync whose files are read and whose source is open; kept per process and version of the files. */
export interface OpenSync extends Pick<Reader, 'source'> {
  readonly spec: SyncSpec;
  /** {@link Reader.chunks}, measured. */
  chunks(mapping: OpenMapping, ...reading: ReadingArguments): AsyncGenerator<PositionedChunk>;
  /** Bounds the requests to the platform at once, over everything that this process does for the sync. */
  readonly requestLimit: RequestLimit;
  /** To be told of retries in place, here and by the platform's client; the source tells it by itself. */
  readonly onRetry: OnRetry;
  mapping(name: string): Promise<OpenMapping>;
  /** What tells the tenant of a row. */
  tenantRule(): Promise<TenantRule>;
  /** The platform's ids of all tenants that a row may belong to. */
  tenants(): Promise<readonly string[]>;
}

export interface Dependencies {
  readonly ledger: Ledger;
  readonly platform: PlatformClient;
  /** By which the ledger tells it from other platforms (src/config/platform-address.ts). */
  readonly platformAddress: string;
  /** The sync as its files are now: what a new run begins with. Throws `config_invalid` with all findings. */
  loadSync(name: string): Promise<LoadedSync>;
  readonly alerting: Alerting;
  /** How long the sync keeps what is over, by its sync.yaml as it is now; null if that cannot be read. */
  retentionOf(sync: string): Promise<Retention | null>;
  /**
   * Opens a sync by the files that the run began with, or as they are now; throws `config_invalid` with all findings. If
   * its tenants are listed in the source, the list is read once for each `runId` (and process).
   */
  openSync(name: string, runId?: string): Promise<OpenSync>;
  /** Whether this worker is about to end: long work is then left to another one. */
  isDraining?(): boolean;
  /** The version of this program. */
  readonly programVersion: string;
  /** Salted hashes of the variables of this process, and of those in `named`; null for one that is not set. */
  hashedVariables(named: readonly string[], salt: string): Promise<Readonly<Record<string, string | null>>>;
}

/** The same for work that only reads: nothing in it can write to the ledger or the platform. */
export interface Views {
  readonly ledger: LedgerView;
  readonly platform: Pick<PlatformClient, 'findResource' | 'findBatch'>;
}
