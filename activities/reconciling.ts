/** What reconciling a mapping works with. */
import type { MappedRecord } from '../src/domain/record.js';
import type { RecordPlace } from '../src/state/receipts.js';
import type { OpenMapping, OpenSync, Views } from './dependencies.js';
import { openDifferences, type Difference, type Differences } from './differences.js';
import type { Reading } from './mapped-pages.js';
import { openSpanSums, type SpanSums } from './span-sums.js';

export interface Reconciling {
  readonly deps: Views;
  readonly mapping: OpenMapping;
  /** Every row, by key. */
  readonly reading: Reading;
  readonly cuts: readonly RecordPlace[];
  readonly sums: SpanSums;
  readonly differences: Differences;
  /** Small numbers of the records' tenants; 0 for one to which nothing was ever sent. */
  readonly tenantIds: (records: readonly MappedRecord[]) => Promise<ReadonlyMap<string, number>>;
}

/** What is kept in memory: some dozens of bytes a span. Up to four million records a span is one block. */
const MOST_SPANS = 65_536;

export async function startReconciling(
  deps: Views,
  sync: OpenSync,
  mapping: OpenMapping,
  tell: (difference: Difference) => Promise<void> | void = () => undefined,
): Promise<Reconciling> {
  const cuts = await deps.ledger.receipts.cuts(mapping.mappingId, MOST_SPANS);
  const plan = { ...mapping.plan, cursor: null };
  return {
    deps,
    mapping,
    reading: { source: sync.source, plan, mapper: (columns) => mapping.mapper(columns) },
    cuts,
    sums: openSpanSums(cuts),
    differences: openDifferences(tell),
    tenantIds: knownTenants(deps),
  };
}

/** Asks once for each tenant: there may be thousands of them, and thousands of pages. */
function knownTenants({ ledger }: Views): Reconciling['tenantIds'] {
  const known = new Map<string, number>();
  return async (records) => {
    const unknown = [...new Set(records.map((r) => r.tenant))].filter((tenant) => !known.has(tenant));
    if (unknown.length === 0) return known;
    const ids = await ledger.catalog.tenantIds(unknown);
    for (const tenant of unknown) known.set(tenant, ids.get(tenant) ?? 0);
    return known;
  };
}
