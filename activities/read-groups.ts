/** Reads a range page by page, one page ahead of the work, and hands rows on in groups of bounded size. */
import type { MapResult, UnmappableRow } from '../src/domain/record.js';
import { RecordList, Records } from '../src/domain/record-list.js';
import type { Page, Position, ReadPlan, SourceKey, SourceRow } from '../src/domain/source.js';
import type { Ledger } from '../src/state/ledger.js';
import type { TakenRange } from '../src/state/ranges.js';
import type { OpenMapping, OpenSync } from './dependencies.js';
import { averageBytes, FIRST_PAGE_ROWS, pageRowsOf } from './page-rows.js';
import { readWhatFits } from './read-what-fits.js';

/**
 * A group is claimed, and later settled, in one transaction: statement size decides what the ledger costs. Where its rows
 * are of many tenants, batches are cut from it that are too small to be cheap, if it is small itself (ADR 0017).
 */
const GROUP_ROWS = 16_000;
/** The first one is smaller, so that sending begins soon. */
const FIRST_GROUP_ROWS = 4_000;
/** Characters of a group's rows, about. */
const GROUP_BYTES = 8 * 1024 * 1024;

export interface Group {
  /** The rows that were read: records, and those that cannot be delivered. */
  readonly records: RecordList;
  readonly letters: readonly UnmappableRow[];
  /** Logical times around the reading of all of the group's pages. */
  readonly before: string;
  readonly after: string;
  /** The last row's place; null for rows that were read by value. */
  readonly position: Position | null;
}

export async function* readGroups(
  ledger: Ledger,
  sync: OpenSync,
  mapping: OpenMapping,
  range: TakenRange,
): AsyncGenerator<Group> {
  const plan: ReadPlan = range.byCursor ? mapping.plan : { ...mapping.plan, cursor: null };
  const place = placeIn(plan);
  let bounds = range.bounds;
  let before = await ledger.stamp();
  let limit = FIRST_PAGE_ROWS;
  const readAhead = (): Promise<Page> => {
    const page = sync.source.readPage(plan, bounds, limit);
    // It may fail while the caller is busy with the group before: the failure is met when the page is awaited.
    page.catch(() => undefined);
    return page;
  };
  let next = readAhead();
  let group = newGroup(before, FIRST_GROUP_ROWS);
  try {
    for (;;) {
      const page = await next;
      const last = page.rows.at(-1);
      // Only an empty page is the end: a short one may be a connection that failed quietly.
      if (last === undefined) break;
      bounds = { ...bounds, after: place(last) };
      const rowBytes = averageBytes(page);
      limit = pageRowsOf(rowBytes);
      const isLast = group.isFullWith(page, rowBytes);
      // Between two groups the clock moves on: after all of the one has arrived, before any of the other is asked for.
      if (isLast) before = await ledger.stamp();
      next = readAhead();
      group.add(page, mapping, plan, rowBytes);
      if (!isLast) continue;
      yield group.finish(before, bounds.after);
      group = newGroup(before);
    }
    if (group.rows > 0) yield group.finish(await ledger.stamp(), bounds.after);
  } finally {
    // The page that is being read ahead when the caller stops early.
    await next.catch(() => undefined);
  }
}

/** How many rows were read. */
export const rowsIn = ({ records, letters }: Group): number => records.length + letters.length;

/** All of the rows, the records first. */
export const resultsOf = ({ records, letters }: Group): MapResult[] => [...records, ...letters];

/** A group of these rows instead. */
export const withResults = <G extends Pick<Group, 'before' | 'after' | 'position'>>(
  group: G,
  results: readonly MapResult[],
): G & Group => ({
  ...group,
  records: RecordList.of(results.filter((r) => r.kind === 'record')),
  letters: results.filter((r) => r.kind === 'unmappable'),
});

/** Rows found by their key, as one group that moves no position. */
export async function readKeys(
  ledger: Ledger,
  sync: OpenSync,
  mapping: OpenMapping,
  columns: readonly string[],
  values: readonly SourceKey[],
): Promise<Group> {
  const before = await ledger.stamp();
  const page = await readWhatFits(sync.source, mapping.plan, columns, values);
  const group = newGroup(before);
  const after = await ledger.stamp();
  group.add(page, mapping, mapping.plan, averageBytes(page));
  return group.finish(after, null);
}

/** The place of a row in the reading order. */
function placeIn(plan: ReadPlan): (row: SourceRow) => Position {
  const cursor = plan.cursor === null ? -1 : plan.columns.indexOf(plan.cursor);
  const keyOf = keyIn(plan);
  return (row) => ({ cursor: cursor < 0 ? null : row[cursor]!, key: keyOf(row) });
}

/** The key of a row. */
function keyIn({ columns, key }: ReadPlan): (row: SourceRow) => SourceKey {
  const [first, ...others] = key.map((column) => columns.indexOf(column));
  if (others.length === 0) return (row) => [row[first!]!];
  return (row) => [row[first!]!, ...others.map((i) => row[i]!)];
}

function newGroup(before: string, mostRows = GROUP_ROWS) {
  const records = new Records();
  const letters: UnmappableRow[] = [];
  let bytes = 0;
  return {
    get rows() {
      return records.length + letters.length;
    },
    /** Whether it needs no more than this page. */
    isFullWith({ rows }: Page, rowBytes: number): boolean {
      return this.rows + rows.length >= mostRows || bytes + rows.length * rowBytes >= GROUP_BYTES;
    },
    add(page: Page, mapping: OpenMapping, plan: ReadPlan, rowBytes: number): void {
      if (page.rows.length === 0) return;
      bytes += page.rows.length * rowBytes;
      const map = mapping.mapper(page.columns);
      const keyOf = keyIn(plan);
      for (const row of page.rows) {
        const result = map(row, keyOf(row), records);
        if (result.kind === 'unmappable') letters.push(result);
      }
    },
    finish: (after: string, position: Position | null): Group => ({
      ...{ records: new RecordList(records), letters },
      ...{ before, after, position },
    }),
  };
}
