/** A group of mapped rows: what one claim and one checkpoint of the ledger cover. */
import { LetterList } from '../domain/letter-list.js';
import type { MapResult } from '../domain/record.js';
import { RecordList, Records } from '../domain/record-list.js';
import type { Page, Position, ReadPlan, SourceKey, SourceRow } from '../domain/source.js';
import type { MappedReading } from './mapped-reading.js';

/**
 * A group is claimed, and later settled, in one transaction: statement size decides what the ledger costs. Where its rows
 * are of many tenants, batches are cut from it that are too small to be cheap, if it is small itself (ADR 0017).
 */
const GROUP_ROWS = 12_000;
/** Characters of a group's rows, about. */
const GROUP_BYTES = 8 * 1024 * 1024;
/** Dead letters that end a group: what the ledger writes of each costs more than a record. */
const GROUP_LETTERS = 2_000;

export interface Group {
  /** The rows that were read: records, and those that cannot be delivered. */
  readonly records: RecordList;
  readonly letters: LetterList;
  /** Logical times around the reading of all of the group's pages. */
  readonly before: string;
  readonly after: string;
  /** The last row's place; null for rows that were read by value. */
  readonly position: Position | null;
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
  letters: LetterList.of(results.filter((r) => r.kind === 'unmappable')),
});

/** The key of a row. */
export function keyIn({ columns, key }: ReadPlan): (row: SourceRow) => SourceKey {
  const [first, ...others] = key.map((column) => columns.indexOf(column));
  if (others.length === 0) return (row) => [row[first!]!];
  return (row) => [row[first!]!, ...others.map((i) => row[i]!)];
}

/** Where the records of a reading's groups are written. */
export type NewRecords = () => Records;

/** In the same memory for all groups: each is good until the next one is begun. */
export function oneAfterTheOther(): NewRecords {
  const records = new Records();
  return () => {
    records.clear();
    return records;
  };
}

/** A group that pages are added to. `before`: the time before the first of them was asked for. */
export function newGroup(before: string, records = new Records(), mostRows = GROUP_ROWS) {
  const letters = new LetterList();
  let bytes = 0;
  return {
    get rows() {
      return records.length + letters.length;
    },
    /** Whether it needs no more than this page. */
    isFullWith({ rows }: Page, rowBytes: number): boolean {
      if (letters.length >= GROUP_LETTERS) return true;
      return this.rows + rows.length >= mostRows || bytes + rows.length * rowBytes >= GROUP_BYTES;
    },
    add(page: Page, { plan, compiled }: Pick<MappedReading, 'plan' | 'compiled'>, rowBytes: number): void {
      if (page.rows.length === 0) return;
      bytes += page.rows.length * rowBytes;
      const { map, append } = compiled(page.columns);
      const keyOf = keyIn(plan);
      const { inBytes } = page.rows;
      for (let i = 0; i < page.rows.length; i++) {
        if (inBytes !== undefined && append(inBytes(i), records)) continue;
        const row = page.rows.at(i)!;
        const result = map(row, keyOf(row), records);
        if (result.kind === 'unmappable') letters.add(result);
      }
    },
    finish: (after: string, position: Position | null): Group => ({
      ...{ records: new RecordList(records), letters },
      ...{ before, after, position },
    }),
  };
}
