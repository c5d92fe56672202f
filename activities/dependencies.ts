/** What activities need of the outside world; src/compose.ts fills it in, tests may fill in parts. */
import type { SyncSpec } from '../src/domain/sync.js';
import type { PlatformClient } from '../src/platform/client.js';
import type { RequestLimit } from '../src/platform/request-limit.js';
import type { MappedReading } from '../src/reading/mapped-reading.js';
import type { Reader } from '../src/reading/reader.js';
import type { Ledger } from '../src/state/ledger.js';
import type { LedgerView } from '../src/state/ledger-view.js';
import type { LearntLimits } from './batch-limits.js';

/** A mapping, ready to be read and mapped. */
export interface OpenMapping extends MappedReading {
  readonly mappingId: number;
  /** Fields of the record that refer to other records. */
  readonly referenceFields: ReadonlySet<string>;
  /** Those of them that lead in a circle, and are left out at first (running-order.ts). */
  readonly deferred: ReadonlySet<string>;
  /** How large its batches are cut, in this process. */
  readonly batches: LearntLimits;
}

/** A sync whose files are read and whose source is open; kept per process and version of the files. */
export interface OpenSync extends Pick<Reader, 'source' | 'groups'> {
  readonly spec: SyncSpec;
  /** Requests at once to the platform, over everything this process does for the sync. */
  readonly limit: RequestLimit;
  mapping(name: string): Promise<OpenMapping>;
  /** Platform tenant ids of all tenants that a row may belong to. */
  tenants(): Promise<readonly string[]>;
}

export interface Dependencies {
  readonly ledger: Ledger;
  readonly platform: PlatformClient;
  /**
   * Opens a sync by name; throws `config_invalid` with all findings. A list of tenants that is in the source is read
   * once for each run (and process).
   */
  openSync(name: string, runId?: string): Promise<OpenSync>;
}

/** What work that only looks is given: nothing in it can write to ledger or platform. */
export interface Views {
  readonly ledger: LedgerView;
  readonly platform: Pick<PlatformClient, 'findResource' | 'findBatch'>;
}
