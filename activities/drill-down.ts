/** Spans that differ, record by record: their receipts are held in memory, and their rows read again by key range. */
import { isInStep, type MappedRecord } from '../src/domain/record.js';
import { FIRST_PLACE, type RecordPlace } from '../src/state/receipts.js';
import { EVERYTHING, mappedPages } from './mapped-pages.js';
import type { Reconciling } from './reconciling.js';
import { isRemoved } from './removal.js';
import type { DifferingSpan } from './span-sums.js';

/** Receipts that are held at once, about. */
const MOST_RECEIPTS = 200_000;

interface Held extends RecordPlace {
  readonly contentHash: string;
  seen: boolean;
}

/** `proved`: of these records the platform itself was asked, so that a receipt says nothing more. */
export async function drillDown(work: Reconciling, proved: (record: MappedRecord) => boolean): Promise<void> {
  for (const spans of windowsOf(work.sums.differing())) {
    const receipts = await receiptsIn(work, spans);
    const wanted = new Set(spans.map((s) => s.span));
    for (const keyRange of keyRangesOf(spans)) await compareRange(work, keyRange, wanted, receipts, proved);
    await tellExtra(
      work,
      [...receipts.values()].filter((receipt) => !receipt.seen && !isRemoved(work.mapping, receipt)),
    );
  }
}

/** Neighbouring spans together, with a bounded number of receipts. */
function windowsOf(spans: readonly DifferingSpan[]): DifferingSpan[][] {
  const windows: DifferingSpan[][] = [];
  let held = Infinity;
  for (const span of spans) {
    if (held + span.receipts > MOST_RECEIPTS) {
      windows.push([]);
      held = 0;
    }
    windows.at(-1)!.push(span);
    held += span.receipts;
  }
  return windows;
}

async function receiptsIn(
  { deps: { ledger }, mapping, cuts }: Reconciling,
  spans: readonly DifferingSpan[],
): Promise<Map<string, Held>> {
  const receipts = new Map<string, Held>();
  for (const { span } of spans)
    for (let from: RecordPlace | null = span === 0 ? FIRST_PLACE : cuts[span]!; from !== null;) {
      const page = await ledger.receipts.page(mapping.mappingId, from, cuts[span + 1] ?? null);
      for (const receipt of page.receipts) receipts.set(nameOf(receipt), { ...receipt, seen: false });
      from = page.next;
    }
  return receipts;
}

const nameOf = ({ tenantId, externalId }: RecordPlace): string => `${tenantId}/${externalId}`;

/** Key ranges with rows of the spans, each once, in order. */
function keyRangesOf(spans: readonly DifferingSpan[]): number[] {
  const ranges = new Set<number>();
  for (const { keyRanges } of spans)
    if (keyRanges !== null) for (let range = keyRanges[0]; range <= keyRanges[1]; range++) ranges.add(range);
  return [...ranges].sort((a, b) => a - b);
}

async function compareRange(
  { reading, differences, sums, tenantIds }: Reconciling,
  keyRange: number,
  wanted: ReadonlySet<number>,
  receipts: ReadonlyMap<string, Held>,
  proved: (record: MappedRecord) => boolean,
): Promise<void> {
  const { after, through } = differences.ranges[keyRange]!;
  const bounds = {
    ...EVERYTHING,
    after: after === null ? null : { cursor: null, key: after },
    throughKey: through,
  };
  for await (const page of mappedPages(reading, bounds, Infinity)) {
    const records = page.rows.map((row) => row.result).filter((result) => result.kind === 'record');
    const ids = await tenantIds(records);
    for (const record of records) {
      const place = { tenantId: ids.get(record.tenant) ?? 0, externalId: record.externalId };
      if (!wanted.has(sums.spanOf(place))) continue;
      const receipt = receipts.get(nameOf(place));
      const { tenant, externalId, sourceKey: key } = record;
      const found = (kind: 'missing' | 'stale' | 'duplicate', what: string): Promise<void> =>
        differences.found({ kind, tenant, externalId, key, what }, keyRange);
      if (!proved(record)) {
        if (receipt?.seen === true) await found('duplicate', 'another row is the same record');
        else if (!isInStep(record, receipt?.contentHash))
          await (receipt === undefined
            ? found('missing', 'never accepted')
            : found('stale', 'accepted with other content'));
      }
      if (receipt !== undefined) receipt.seen = true;
    }
  }
}

async function tellExtra(
  { deps: { ledger }, differences }: Reconciling,
  receipts: readonly RecordPlace[],
): Promise<void> {
  const tenants = await ledger.catalog.tenantNames([...new Set(receipts.map((r) => r.tenantId))]);
  for (const { tenantId, externalId } of receipts) {
    const what = 'accepted, and no row gives it any more';
    await differences.found(
      { kind: 'extra', tenant: tenants.get(tenantId) ?? null, externalId, key: null, what },
      null,
    );
  }
}
