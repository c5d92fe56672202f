/** What the steps of reconciling a mapping share. */
import { marksAsDeleted, type MappedRecord } from '../domain/records/record.js';
import type { RecordPlace } from '../ledger/record-key.js';
import { openDeadLetteredRows, type DeadLetteredRows } from './dead-lettered-rows.js';
import type { OpenMapping, OpenSync, Views } from '../delivery/dependencies.js';
import { openDifferences, type Difference, type Differences } from './differences.js';
import { supersededAmong } from '../delivery/chunk/duplicate-ids.js';
import { RecordList } from '../records/record-list.js';
import { countingSharedKeys } from '../reading/reading-order.js';
import type { MappingWithSource } from '../reading/read-mapped-pages.js';
import { openIntervalSums, type IntervalSums } from './interval-sums.js';

/** One mapping whose rows and accepted hashes are summed up and compared. */
export interface Reconciling {
  readonly deps: Views;
  readonly mapping: OpenMapping;
  /** Bounds the requests that read back. */
  readonly limit: OpenSync['requestLimit'];
  /** Where every row is read and mapped, by key. */
  readonly mappedSource: MappingWithSource;
  /** Where the intervals begin, in the ledger's order of records. */
  readonly cuts: readonly RecordPlace[];
  readonly sums: IntervalSums;
  readonly differences: Differences;
  /** Those of them of which the ledger knows why. */
  readonly deadLettered: DeadLetteredRows;
  /** Which of the records have no say: their rows are marked as deleted, and other rows give them. */
  readonly superseded: (records: readonly MappedRecord[]) => Promise<ReadonlySet<MappedRecord>>;
  /** The ledger's numbers of the records' tenants; 0 for a tenant to which nothing was ever sent. */
  readonly tenantIds: (records: readonly Pick<MappedRecord, 'tenant'>[]) => Promise<ReadonlyMap<string, number>>;
}

/** Each takes some dozens of bytes of memory. Up to about four million records, an interval is one block of the ledger. */
const MOST_INTERVALS = 65_536;

/** Reads where the blocks of the ledger begin, and prepares the sums. `tell` is called with every difference. */
export async function startReconciling(
  deps: Views,
  sync: OpenSync,
  mapping: OpenMapping,
  tell: (difference: Difference) => Promise<void> | void = () => undefined,
): Promise<Reconciling> {
  const cuts = await deps.ledger.acceptedHashes.cuts(mapping.mappingId, MOST_INTERVALS);
  const deadLettered = openDeadLetteredRows((keys) => deps.ledger.deadLetters.countRows(mapping.mappingId, keys));
  return {
    deps,
    mapping,
    limit: sync.requestLimit,
    mappedSource: {
      source: sync.source,
      plan: countingSharedKeys(mapping.plan),
      mapper: (columns) => mapping.mapper(columns),
    },
    cuts,
    sums: openIntervalSums(cuts),
    differences: openDifferences(async (difference) => {
      await deadLettered.add(difference);
      await tell(difference);
    }),
    deadLettered,
    superseded: async (records) => {
      const deletions = records.filter(marksAsDeleted);
      const among = await supersededAmong({ sync, mapping }, RecordList.of(deletions));
      return new Set(deletions.filter((_, index) => among.has(index)));
    },
    tenantIds: knownTenants(deps),
  };
}

/** Looks each tenant up once: there may be thousands of tenants, and thousands of pages. */
function knownTenants({ ledger }: Views): Reconciling['tenantIds'] {
  const known = new Map<string, number>();
  return async (records) => {
    const unknown = [...new Set(records.map((r) => r.tenant))].filter((tenant) => !known.has(tenant));
    if (unknown.length === 0) return known;
    const ids = await ledger.ids.tenantIds(unknown);
    for (const tenant of unknown) known.set(tenant, ids.get(tenant) ?? 0);
    return known;
  };
}
