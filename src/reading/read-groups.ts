/** Reads a range page by page, one page ahead of the work, and hands rows on in groups of bounded size. */
import type { Page, Position, ReadBounds, ReadPlan, Source, SourceRow } from '../domain/source.js';
import { Records } from '../domain/record-list.js';
import { keyIn, newGroup, type Group, type NewRecords } from './group.js';
import type { MappedReading } from './mapped-reading.js';
import { averageBytes, FIRST_PAGE_ROWS, pageRowsOf } from './page-rows.js';

/** The first one is smaller, so that sending begins soon. */
const FIRST_GROUP_ROWS = 4_000;

/** Rows that follow each other in the reading order. */
export interface RowRange {
  /** In the order of the mapping's cursor, or of the key alone. */
  readonly byCursor: boolean;
  readonly bounds: ReadBounds;
}

/** `stamp` draws a logical time that is later than all that were drawn before. */
export async function* readGroups(
  source: Pick<Source, 'readPage'>,
  reading: MappedReading,
  range: RowRange,
  stamp: () => Promise<string>,
  newRecords: NewRecords = () => new Records(),
): AsyncGenerator<Group> {
  const plan: ReadPlan = range.byCursor ? reading.plan : { ...reading.plan, cursor: null };
  const place = placeIn(plan);
  let bounds = range.bounds;
  let before = await stamp();
  let limit = FIRST_PAGE_ROWS;
  const readAhead = (): Promise<Page> => {
    const page = source.readPage(plan, bounds, limit);
    // It may fail while the caller is busy with the group before: the failure is met when the page is awaited.
    page.catch(() => undefined);
    return page;
  };
  let next = readAhead();
  let group = newGroup(before, newRecords(), FIRST_GROUP_ROWS);
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
      if (isLast) before = await stamp();
      next = readAhead();
      group.add(page, reading, rowBytes);
      if (!isLast) continue;
      yield group.finish(before, bounds.after);
      group = newGroup(before, newRecords());
    }
    if (group.rows > 0) yield group.finish(await stamp(), bounds.after);
  } finally {
    // The page that is being read ahead when the caller stops early.
    await next.catch(() => undefined);
  }
}

/** The place of a row in the reading order. */
function placeIn(plan: ReadPlan): (row: SourceRow) => Position {
  const cursor = plan.cursor === null ? -1 : plan.columns.indexOf(plan.cursor);
  const keyOf = keyIn(plan);
  return (row) => ({ cursor: cursor < 0 ? null : row[cursor]!, key: keyOf(row) });
}
