/**
 * Compares the intervals that differ record by record: their accepted hashes are kept in memory, and their rows are read
 * again by key range (ADR 0015).
 */
import { isUpToDate, namesRecord, type MappedRecord } from '../domain/records/record.js';
import { FIRST_PLACE, recordKey, type RecordPlace } from '../ledger/record-key.js';
import { keyRangeBounds } from '../reading/read-bounds.js';
import { readMappedPages } from '../reading/read-mapped-pages.js';
import type { Reconciling } from './reconciling.js';
import { isRemoved } from '../delivery/removal-record.js';
import type { DifferingInterval } from './interval-sums.js';

/** Accepted hashes that are kept in memory at once, roughly. */
const MOST_HASHES = 200_000;

interface AcceptedRecord extends RecordPlace {
  readonly contentHash: string;
  seen: boolean;
}

/**
 * Reports every difference in the intervals whose sums differ. `proved` tells of which records the platform itself was
 * asked: an accepted hash says nothing more about those.
 */
export async function drillDown(work: Reconciling, proved: (record: MappedRecord) => boolean): Promise<void> {
  for (const intervals of windowsOf(work.sums.differing())) {
    const acceptedHashes = await acceptedHashesIn(work, intervals);
    const wanted = new Set(intervals.map((s) => s.interval));
    for (const keyRange of keyRangesOf(intervals)) await compareRange(work, keyRange, wanted, acceptedHashes, proved);
    const unseen = [...acceptedHashes.values()].filter((accepted) => !accepted.seen);
    await reportExtra(
      work,
      unseen.filter((accepted) => !isRemoved(work.mapping, accepted)),
    );
  }
}

/** Neighbouring intervals together, with a bounded number of accepted hashes. */
function windowsOf(intervals: readonly DifferingInterval[]): DifferingInterval[][] {
  const windows: DifferingInterval[][] = [];
  let hashes = Infinity;
  for (const interval of intervals) {
    if (hashes + interval.acceptedHashes > MOST_HASHES) {
      windows.push([]);
      hashes = 0;
    }
    windows.at(-1)!.push(interval);
    hashes += interval.acceptedHashes;
  }
  return windows;
}

async function acceptedHashesIn(
  { deps: { ledger }, mapping, cuts }: Reconciling,
  intervals: readonly DifferingInterval[],
): Promise<Map<string, AcceptedRecord>> {
  const acceptedHashes = new Map<string, AcceptedRecord>();
  for (const { interval } of intervals) {
    let from: RecordPlace | null = interval === 0 ? FIRST_PLACE : cuts[interval]!;
    while (from !== null) {
      const page = await ledger.acceptedHashes.page(mapping.mappingId, from, cuts[interval + 1] ?? null);
      for (const acceptedHash of page.acceptedHashes)
        acceptedHashes.set(recordKey(acceptedHash), { ...acceptedHash, seen: false });
      from = page.next;
    }
  }
  return acceptedHashes;
}

/** Key ranges with rows of the intervals, each once, in order. */
function keyRangesOf(intervals: readonly DifferingInterval[]): number[] {
  const ranges = new Set<number>();
  for (const { keyRanges } of intervals)
    if (keyRanges !== null) for (let range = keyRanges[0]; range <= keyRanges[1]; range++) ranges.add(range);
  return [...ranges].sort((a, b) => a - b);
}

/**
 * Reads one key range again and compares the records in the wanted intervals. A row that was inserted or changed since the
 * first read shows as a difference; for that reason, the user is told of a run in progress.
 */
async function compareRange(
  { mappedSource, differences, sums, tenantIds, superseded }: Reconciling,
  keyRange: number,
  wanted: ReadonlySet<number>,
  acceptedHashes: ReadonlyMap<string, AcceptedRecord>,
  proved: (record: MappedRecord) => boolean,
): Promise<void> {
  const bounds = keyRangeBounds(differences.ranges[keyRange]!);
  for await (const page of readMappedPages(mappedSource, bounds, Infinity)) {
    const results = page.rows.map((row) => row.result);
    const records = results.filter((result) => result.kind === 'record');
    // A row that cannot be mapped any more is a difference already, and its record has a row.
    const failed = results.filter(namesRecord);
    const ids = await tenantIds([...records, ...failed]);
    for (const { tenant, externalId } of failed) {
      const accepted = acceptedHashes.get(recordKey({ tenantId: ids.get(tenant) ?? 0, externalId }));
      if (accepted !== undefined) accepted.seen = true;
    }
    const placeOf = ({ tenant, externalId }: MappedRecord): RecordPlace => ({
      tenantId: ids.get(tenant) ?? 0,
      externalId,
    });
    const hashOf = (record: MappedRecord) => acceptedHashes.get(recordKey(placeOf(record)));
    const ofIntervals = records.filter((record) => wanted.has(sums.intervalOf(placeOf(record))));
    const differing = ofIntervals.filter((record) => !isUpToDate(record, hashOf(record)?.contentHash));
    const withoutSay = await superseded(differing);
    for (const record of ofIntervals.filter((each) => !withoutSay.has(each))) {
      const acceptedHash = hashOf(record);
      const { tenant, externalId, sourceKey: key } = record;
      const found = (kind: 'missing' | 'stale' | 'duplicate', what: string): Promise<void> =>
        differences.found({ kind, tenant, externalId, key, what }, keyRange);
      if (!proved(record)) {
        if (acceptedHash?.seen === true) await found('duplicate', 'another row is the same record');
        else if (!isUpToDate(record, acceptedHash?.contentHash))
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
  const tenants = await ledger.ids.tenantsByNumber([...new Set(acceptedHashes.map((r) => r.tenantId))]);
  for (const { tenantId, externalId } of acceptedHashes) {
    const what = 'accepted, but no row gives it any more';
    await differences.found(
      { kind: 'extra', tenant: tenants.get(tenantId) ?? null, externalId, key: null, what },
      null,
    );
  }
}
