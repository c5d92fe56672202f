/**
 * Compares the spans that differ record by record: their accepted hashes are kept in memory, and their rows are read
 * again by key range (ADR 0015).
 */
import { isInStep, type MappedRecord } from '../domain/record.js';
import { FIRST_PLACE, type RecordPlace } from '../ledger/record-key.js';
import { keyRangeBounds } from '../reading/read-bounds.js';
import { readMappedPages } from '../reading/read-mapped-pages.js';
import type { Reconciling } from './reconciling.js';
import { isRemoved } from '../delivery/removals/removal-record.js';
import type { DifferingSpan } from './span-sums.js';

/** Accepted hashes that are kept in memory at once, roughly. */
const MOST_HASHES = 200_000;

interface AcceptedRecord extends RecordPlace {
  readonly contentHash: string;
  seen: boolean;
}

/**
 * Reports every difference in the spans whose sums differ. `proved` tells of which records the platform itself was
 * asked: an accepted hash says nothing more about those.
 */
export async function drillDown(work: Reconciling, proved: (record: MappedRecord) => boolean): Promise<void> {
  for (const spans of windowsOf(work.sums.differing())) {
    const acceptedHashes = await acceptedHashesIn(work, spans);
    const wanted = new Set(spans.map((s) => s.span));
    for (const keyRange of keyRangesOf(spans)) await compareRange(work, keyRange, wanted, acceptedHashes, proved);
    const unseen = [...acceptedHashes.values()].filter((accepted) => !accepted.seen);
    await reportExtra(
      work,
      unseen.filter((accepted) => !isRemoved(work.mapping, accepted)),
    );
  }
}

/** Neighbouring spans together, with a bounded number of accepted hashes. */
function windowsOf(spans: readonly DifferingSpan[]): DifferingSpan[][] {
  const windows: DifferingSpan[][] = [];
  let hashes = Infinity;
  for (const span of spans) {
    if (hashes + span.acceptedHashes > MOST_HASHES) {
      windows.push([]);
      hashes = 0;
    }
    windows.at(-1)!.push(span);
    hashes += span.acceptedHashes;
  }
  return windows;
}

async function acceptedHashesIn(
  { deps: { ledger }, mapping, cuts }: Reconciling,
  spans: readonly DifferingSpan[],
): Promise<Map<string, AcceptedRecord>> {
  const acceptedHashes = new Map<string, AcceptedRecord>();
  for (const { span } of spans) {
    let from: RecordPlace | null = span === 0 ? FIRST_PLACE : cuts[span]!;
    while (from !== null) {
      const page = await ledger.acceptedHashes.page(mapping.mappingId, from, cuts[span + 1] ?? null);
      for (const acceptedHash of page.acceptedHashes)
        acceptedHashes.set(nameOf(acceptedHash), { ...acceptedHash, seen: false });
      from = page.next;
    }
  }
  return acceptedHashes;
}

const nameOf = ({ tenantId, externalId }: RecordPlace): string => `${tenantId}/${externalId}`;

/** Key ranges with rows of the spans, each once, in order. */
function keyRangesOf(spans: readonly DifferingSpan[]): number[] {
  const ranges = new Set<number>();
  for (const { keyRanges } of spans)
    if (keyRanges !== null) for (let range = keyRanges[0]; range <= keyRanges[1]; range++) ranges.add(range);
  return [...ranges].sort((a, b) => a - b);
}

/**
 * Reads one key range again and compares the records in the wanted spans. A row that was inserted or changed since the
 * first reading shows as a difference; a run in progress is noted to the reader for that reason.
 */
async function compareRange(
  { reading, differences, sums, tenantIds }: Reconciling,
  keyRange: number,
  wanted: ReadonlySet<number>,
  acceptedHashes: ReadonlyMap<string, AcceptedRecord>,
  proved: (record: MappedRecord) => boolean,
): Promise<void> {
  const bounds = keyRangeBounds(differences.ranges[keyRange]!);
  for await (const page of readMappedPages(reading, bounds, Infinity)) {
    const records = page.rows.map((row) => row.result).filter((result) => result.kind === 'record');
    const ids = await tenantIds(records);
    for (const record of records) {
      const place = { tenantId: ids.get(record.tenant) ?? 0, externalId: record.externalId };
      if (!wanted.has(sums.spanOf(place))) continue;
      const acceptedHash = acceptedHashes.get(nameOf(place));
      const { tenant, externalId, sourceKey: key } = record;
      const found = (kind: 'missing' | 'stale' | 'duplicate', what: string): Promise<void> =>
        differences.found({ kind, tenant, externalId, key, what }, keyRange);
      if (!proved(record)) {
        if (acceptedHash?.seen === true) await found('duplicate', 'another row is the same record');
        else if (!isInStep(record, acceptedHash?.contentHash))
          await (acceptedHash === undefined
            ? found('missing', 'never accepted')
            : found('stale', 'accepted with other content'));
      }
      if (acceptedHash !== undefined) acceptedHash.seen = true;
    }
  }
}

/** Records that the platform accepted and that no row gives any more. Their tenants' names are looked up only here. */
async function reportExtra(
  { deps: { ledger }, differences }: Reconciling,
  acceptedHashes: readonly RecordPlace[],
): Promise<void> {
  const tenants = await ledger.ids.tenantNames([...new Set(acceptedHashes.map((r) => r.tenantId))]);
  for (const { tenantId, externalId } of acceptedHashes) {
    const what = 'accepted, but no row gives it any more';
    await differences.found(
      { kind: 'extra', tenant: tenants.get(tenantId) ?? null, externalId, key: null, what },
      null,
    );
  }
}
