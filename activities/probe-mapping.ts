/** Looks at real rows through a mapping and counts those that would fail: what `check` knows before a first run. */
import type { Probe, ProbeBudget, ProbeFailure } from '../src/domain/probe.js';
import type { MapResult } from '../src/domain/record.js';
import type { KeyRange, Source } from '../src/domain/source.js';
import { EVERYTHING, mappedPages, type Reading } from './mapped-pages.js';

/** Old rows are unlike new ones: a large table is looked at in so many places. */
const PLACES = 10;
/** Memory must not grow with the table. */
const IDS_KEPT = 200_000;

export async function probeMapping(reading: Reading & { source: Source }, budget: ProbeBudget): Promise<Probe> {
  const byKey: Reading = { ...reading, plan: { ...reading.plan, cursor: null } };
  const deadline = performance.now() + budget.time;
  const cursor = reading.plan.cursor === null ? -1 : reading.plan.columns.indexOf(reading.plan.cursor);
  const tally = newTally();
  const { ranges, whole } = await places(reading.source, byKey, budget.rows);
  let all = whole;
  for (const [index, range] of ranges.entries()) {
    const share = whole ? budget.rows - tally.rows : Math.ceil((budget.rows - tally.rows) / (ranges.length - index));
    const bounds = {
      ...EVERYTHING,
      after: range.after === null ? null : { cursor: null, key: range.after },
      throughKey: range.through,
    };
    let left = share;
    for await (const page of mappedPages(byKey, bounds, share)) {
      for (const { row, result } of page.rows) tally.add(result, row[cursor] === null);
      left -= page.rows.length;
      if (performance.now() > deadline) return tally.probe(false);
    }
    all &&= left > 0;
    if (tally.rows >= budget.rows) break;
  }
  return tally.probe(all);
}

/** Ranges spread evenly over the key, or the whole of a table that is small. */
async function places(
  source: Source,
  { plan }: Reading,
  rows: number,
): Promise<{ ranges: KeyRange[]; whole: boolean }> {
  const open: KeyRange = { after: null, through: null };
  if (!Number.isFinite(rows)) return { ranges: [open], whole: true };
  const ranges = await source.splitKeys(plan, Math.ceil(rows / PLACES));
  if (ranges.length <= PLACES) return { ranges: [open], whole: true };
  const step = (ranges.length - 1) / (PLACES - 1);
  return { ranges: Array.from({ length: PLACES }, (_, i) => ranges[Math.round(i * step)]!), whole: false };
}

function newTally() {
  let rows = 0;
  let sameKey = 0;
  let sameExternalId = 0;
  let nullCursor = 0;
  let lastKey = '';
  const failures = new Map<string, ProbeFailure>();
  const ids = new Set<string>();
  return {
    get rows() {
      return rows;
    },
    add(result: MapResult, withoutCursor: boolean): void {
      rows++;
      if (withoutCursor) nullCursor++;
      const key = JSON.stringify(result.sourceKey);
      if (key === lastKey) sameKey++;
      lastKey = key;
      if (result.kind === 'record') {
        const name = `${result.tenant}/${result.externalId}`;
        if (ids.has(name)) sameExternalId++;
        else if (ids.size < IDS_KEPT) ids.add(name);
        return;
      }
      const { code, pointer, rule, reason, shape } = result;
      const cause = JSON.stringify([code, pointer, rule]);
      const known = failures.get(cause);
      failures.set(cause, { code, pointer, rule, reason, shape: known?.shape ?? shape, rows: (known?.rows ?? 0) + 1 });
    },
    probe: (all: boolean): Probe => ({
      rows,
      all,
      failures: [...failures.values()].sort((a, b) => b.rows - a.rows),
      sameKey,
      sameExternalId,
      nullCursor,
    }),
  };
}
