/** Maps real rows and counts those that would fail: what `check` can tell before a first run. */
import { NO_ROWS, withRow, type Probe, type ProbeBudget } from '../domain/records/probe.js';
import type { MapResult } from '../domain/records/record.js';
import type { KeyRange, Source } from '../domain/source/source.js';
import { keyRangeBounds } from '../reading/read-bounds.js';
import { countingSharedKeys } from '../reading/reading-order.js';
import { readMappedPages, type MappingWithSource } from '../reading/read-mapped-pages.js';
import { openFailureCauses } from './failure-causes.js';

/** Places of a large table from which rows are read: old rows are unlike new ones. */
const PLACES = 10;
/**
 * External ids that are kept to find duplicates, at most, since memory must not grow with the table. A duplicate of a
 * row that came later is not noticed.
 */
const IDS_KEPT = 200_000;

/** Stops at the budget's rows or time, whichever is used up first; the probe tells whether that was all of the rows. */
export async function probeMapping(
  mappedSource: MappingWithSource & { source: Source },
  budget: ProbeBudget,
): Promise<Probe> {
  const ordered: MappingWithSource = { ...mappedSource, plan: countingSharedKeys(mappedSource.plan) };
  const deadline = performance.now() + budget.time;
  const cursor = mappedSource.plan.cursor === null ? -1 : mappedSource.plan.columns.indexOf(mappedSource.plan.cursor);
  const tally = newTally();
  const { places, whole } = await placesIn(mappedSource.source, ordered, budget.rows);
  let all = whole;
  for (const [index, place] of places.entries()) {
    const share = whole ? budget.rows - tally.rows : Math.ceil((budget.rows - tally.rows) / (places.length - index));
    let left = share;
    for await (const page of readMappedPages(ordered, keyRangeBounds(place), share)) {
      for (const { row, result } of page.rows) tally.add(result, row[cursor] === null);
      left -= page.rows.length;
      // After each page: the time may be exceeded by one page at most.
      if (performance.now() > deadline) return tally.probe(false);
    }
    all &&= left > 0;
    if (tally.rows >= budget.rows) break;
  }
  return tally.probe(all);
}

/** Key ranges spread evenly over the table, or the whole of a small one. */
async function placesIn(
  source: Source,
  { plan }: MappingWithSource,
  rows: number,
): Promise<{ places: KeyRange[]; whole: boolean }> {
  const open: KeyRange = { after: null, through: null };
  if (!Number.isFinite(rows)) return { places: [open], whole: true };
  const ranges = await source.splitKeys(plan, Math.ceil(rows / PLACES));
  if (ranges.length <= PLACES) return { places: [open], whole: true };
  const step = (ranges.length - 1) / (PLACES - 1);
  return { places: Array.from({ length: PLACES }, (_, i) => ranges[Math.round(i * step)]!), whole: false };
}

function newTally() {
  let rows = 0;
  let sameKey = NO_ROWS;
  let sameExternalId = NO_ROWS;
  let nullCursor = NO_ROWS;
  let lastKey = '';
  const failures = openFailureCauses();
  const ids = new Set<string>();
  return {
    get rows() {
      return rows;
    },
    add(result: MapResult, withoutCursor: boolean): void {
      rows++;
      if (withoutCursor) nullCursor = withRow(nullCursor, result.sourceKey);
      const key = JSON.stringify(result.sourceKey);
      if (key === lastKey) sameKey = withRow(sameKey, result.sourceKey);
      lastKey = key;
      if (result.kind === 'record') {
        const name = `${result.tenant}/${result.externalId}`;
        if (ids.has(name)) sameExternalId = withRow(sameExternalId, result.sourceKey);
        else if (ids.size < IDS_KEPT) ids.add(name);
        return;
      }
      failures.add(result);
    },
    probe: (all: boolean): Probe => ({
      rows,
      all,
      failures: failures.mostFrequentFirst(),
      sameKey,
      sameExternalId,
      nullCursor,
    }),
  };
}
