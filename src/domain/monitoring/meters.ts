/**
 * Meters: where the parts of a worker report what they do. They are handed in when the parts are put together, and are
 * called once for a request, a chunk, a batch or a statement, never for a row.
 */
import type { Counts } from '../run/run.js';

/** Measures the work on one mapping. */
export interface MappingMeter {
  /** A chunk was read and mapped. */
  chunkRead(seconds: number): void;
  /** The platform has taken a batch. */
  batchSent(): void;
  /** A batch is sent again. */
  batchRepeated(): void;
  /** Runs the delivery of a chunk of so many rows. */
  delivering<T>(rows: number, deliver: () => Promise<T>): Promise<T>;
  /** Runs what uploads and settles a batch of so many records. */
  sending<T>(records: number, send: () => Promise<T>): Promise<T>;
}

/** What a pool of connections has in use; asked when metrics are read. */
export interface PoolInUse {
  readonly connections: () => number;
  readonly connectionLimit: number;
}

/** Counts of one tenant, which is null unless the meter names it. */
export interface MeteredCounts extends Counts {
  readonly tenant: string | null;
}

/** Measures the ledger. */
export interface LedgerMeter {
  /** Remembers whom to ask about the pool's connections. */
  watchConnections(pool: PoolInUse): void;
  statementEnded(seconds: number): void;
  /** The tenants that it wants to tell apart, by the platform's ids. */
  readonly tenants: readonly string[];
  /** A checkpoint has added these to the counts of the mapping with this number; numbers may be negative. */
  counted(mappingId: number, counts: readonly MeteredCounts[]): void;
}

/** A request to the platform, as far as it may be known outside of this process. */
export interface MeteredRequest {
  /** The name of its operation. */
  readonly operation: string;
  readonly method: string;
  /** The operation's path, with `{name}` in place of each id. */
  readonly path: string;
}

/** Measures requests to the platform. */
export interface PlatformMeter {
  /** A request begins; the result is called when it has ended, with the status or null if there was none. */
  requestBegins(request: MeteredRequest): (status: number | null) => void;
  /** A request is sent again. */
  repeated(operation: string): void;
}

/** What a sync has in use; asked when metrics are read. */
export interface SyncInUse {
  /** How many requests to the platform may be under way. */
  readonly requestLimit: () => number;
  /** Connections of the source's pool in use. */
  readonly connections: () => Promise<number>;
  readonly connectionLimit: number;
}

/** All meters of a process. */
export interface Meters {
  readonly ledger: LedgerMeter;
  readonly platform: PlatformMeter;
  /** The meter of a mapping, whose number in the ledger it learns. */
  mapping(mappingId: number, sync: string, mapping: string): MappingMeter;
  /** Remembers whom to ask about a sync; a later call for the same sync replaces an earlier one. */
  watchSync(sync: string, inUse: SyncInUse): void;
}

const nothing = (): void => undefined;

/** For meters that do not measure how long work takes. */
export const UNMEASURED: Pick<MappingMeter, 'delivering' | 'sending'> = {
  delivering: (_rows, deliver) => deliver(),
  sending: (_records, send) => send(),
};

/** For processes that measure nothing. */
export const NO_METERS: Meters = {
  ledger: { watchConnections: nothing, statementEnded: nothing, tenants: [], counted: nothing },
  platform: { requestBegins: () => nothing, repeated: nothing },
  mapping: () => ({ chunkRead: nothing, batchSent: nothing, batchRepeated: nothing, ...UNMEASURED }),
  watchSync: nothing,
};
