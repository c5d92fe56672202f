/**
 * A simulated source: tables whose rows change in transactions, which commit later than they begin. It answers what the
 * database at hand would, from what is committed at that moment.
 */
import { PartnerSyncError } from '../../src/domain/errors.js';
import type {
  KeyRange,
  Page,
  ReadBounds,
  ReadPlan,
  Relation,
  Source,
  SourceColumn,
  SourceKey,
} from '../../src/domain/source/source.js';
import type { SourceTable } from '../../src/domain/source/source-catalog.js';
import type { FeedModel } from './feed-model.js';
import type { Kernel } from './kernel.js';
import type { Random } from './random.js';

export type Row = Readonly<Record<string, string | null>>;

export interface SourceFaults {
  /** How likely a query fails, before or after it was executed. */
  readonly lostQuery: number;
  /** How likely a page is shorter than asked for. */
  readonly shortPage: number;
  /** Milliseconds that a query takes at most. */
  readonly slowest: number;
  /**
   * How likely a page of a whole table takes much longer to arrive once its rows are found, so that others may deliver newer ones
   * meanwhile. A page of what is new does so less often, as it is found with an index.
   */
  readonly stalled: number;
  /** Milliseconds that such a page takes at most. */
  readonly longestStall: number;
  /** How likely rows that are looked up by their external ids do. */
  readonly stalledById: number;
}

/** A change of rows: the new row, or null to delete it. */
export interface Change {
  readonly table: string;
  readonly key: string;
  readonly row: Row | null;
}

export interface SourceTableModel {
  readonly columns: readonly SourceColumn[];
  readonly key: readonly string[];
}

export class SourceModel {
  readonly #kernel: Kernel;
  readonly #random: Random;
  readonly #tables: Readonly<Record<string, SourceTableModel>>;
  readonly #rows = new Map<string, Map<string, Row>>();
  /** When each key of a table got a row, and when it lost it, in virtual milliseconds; by `table key`. */
  readonly #born = new Map<string, number>();
  readonly #died = new Map<string, number>();
  readonly #open = new Set<{ readonly since: number }>();
  readonly #happened: (point: string) => void;
  readonly #feed: FeedModel;
  faults: SourceFaults;

  constructor(
    kernel: Kernel,
    random: Random,
    tables: Readonly<Record<string, SourceTableModel>>,
    faults: SourceFaults,
    feed: FeedModel,
    happened: (point: string) => void,
  ) {
    this.#kernel = kernel;
    this.#random = random;
    this.#tables = tables;
    this.faults = faults;
    this.#feed = feed;
    this.#happened = happened;
    for (const name of Object.keys(tables)) this.#rows.set(name, new Map());
  }

  /** The committed rows of a table, by their keys. */
  rows(table: string): ReadonlyMap<string, Row> {
    return this.#rows.get(table)!;
  }

  /** How many rows a table has had all the time since then, and how many at any time since. */
  rowsSince(table: string, since: number): { readonly always: number; readonly ever: number } {
    const keys = [...this.rows(table).keys()];
    const gone = [...this.#died].filter(
      ([name, at]) =>
        at >= since && name.startsWith(`${table} `) && !this.rows(table).has(name.slice(table.length + 1)),
    );
    const always = keys.filter((key) => this.#born.get(`${table} ${key}`)! < since);
    return { always: always.length, ever: keys.length + gone.length };
  }

  /** By the cursor: every change before it is visible. */
  get watermark(): string {
    return timeText(Math.floor(Math.min(this.#kernel.now, ...[...this.#open].map(({ since }) => since))));
  }

  get openTransactions(): number {
    return this.#open.size;
  }

  /** Begins a transaction now, which makes `changes` (given the time of its beginning) and commits after some milliseconds. */
  transact(
    milliseconds: number,
    changes: (at: string) => readonly Change[],
    committed: () => void = () => undefined,
  ): void {
    const since = Math.floor(this.#kernel.now);
    const transaction = { since };
    this.#open.add(transaction);
    this.#kernel.after(
      milliseconds,
      () => {
        this.#open.delete(transaction);
        for (const { table, key, row } of changes(timeText(since))) {
          const rows = this.#rows.get(table)!;
          const name = `${table} ${key}`;
          if (row === null) this.#died.set(name, this.#kernel.now);
          else if (!rows.has(key)) this.#born.set(name, this.#kernel.now);
          if (row === null) rows.delete(key);
          else rows.set(key, row);
          this.#feed.add(table, key.split('/'));
        }
        committed();
      },
      null,
    );
  }

  /** All rows of the table are gone at once. */
  truncate(table: string): void {
    const rows = this.#rows.get(table)!;
    for (const key of rows.keys()) this.#died.set(`${table} ${key}`, this.#kernel.now);
    rows.clear();
    this.#feed.truncate(table);
  }

  /** The source as a process of the connector sees it. */
  open(): Source {
    const asked = async <T>(answer: () => T, stalled = 0): Promise<T> => {
      await this.#kernel.sleep(1 + this.#random.next() * this.faults.slowest);
      this.#maybeLost();
      const found = answer();
      const longest = this.#random.chance(stalled) ? this.faults.longestStall : this.faults.slowest;
      await this.#kernel.sleep(1 + this.#random.next() * longest);
      this.#maybeLost();
      return found;
    };
    const select = (plan: ReadPlan, fits: (row: Row) => boolean, limit = Infinity): Page => {
      const { columns } = this.#tableOf(plan.relation);
      const rows = this.#sorted(plan)
        .filter(fits)
        .slice(0, limit)
        .map((row) => plan.columns.map((column) => row[column] ?? null));
      return { columns: plan.columns.map((name) => columns.find((c) => c.name === name)!), rows };
    };
    return {
      describe: (relation) => asked(() => this.#tableOf(relation).columns),
      readPage: (plan, bounds, limit) =>
        asked(
          () => {
            const most = this.#random.chance(this.faults.shortPage) ? this.#random.between(1, limit) : limit;
            this.#happened('page');
            return select(plan, this.#within(plan, bounds), most);
          },
          bounds.cursorBefore === null ? this.faults.stalled : this.faults.stalled / 5,
        ),
      readByValues: (plan, columns, values) =>
        asked(
          () => select(plan, (row) => values.some((wanted) => columns.every((c, i) => row[c] === wanted[i]))),
          columns.length === plan.key.length ? 0 : this.faults.stalledById,
        ),
      highWatermark: () => asked(() => this.watermark),
      countByValue: (plan, column, bounds) =>
        asked(() => {
          const counts = new Map<string | null, number>();
          for (const row of this.#sorted(plan).filter(this.#within(plan, bounds)))
            counts.set(row[column] ?? null, (counts.get(row[column] ?? null) ?? 0) + 1);
          return [...counts].map(([value, rows]) => ({ value, rows }));
        }),
      hasNull: (plan, column) => asked(() => this.#sorted(plan).some((row) => row[column] == null)),
      cursorMinus: (_, cursor, seconds) =>
        asked(() => timeText(Date.parse(cursor.replace(' ', 'T').replace('+00', 'Z')) - seconds * 1000)),
      splitKeys: (plan, rows) => asked(() => this.#split(plan, rows)),
      server: () =>
        Promise.resolve({
          product: 'PostgreSQL',
          version: '17',
          account: 'reader',
          clock: new Date(this.#kernel.now).toISOString(),
          timeZone: 'UTC',
          standby: false,
          seesOpenTransactions: true,
          grantForOpenTransactions: null,
        }),
      tables: (names = []) => asked(() => names.map((name) => this.#described(name))),
      tablesRead: () => Promise.resolve(null),
      connections: () => Promise.resolve(0),
      changes: () => this.#feed.open(asked),
      close: () => Promise.resolve(),
    };
  }

  #described(name: string): SourceTable {
    const nothing = { columns: [], primaryKey: [], uniqueKeys: [], foreignKeys: [], indexes: [], writes: [] };
    return {
      ...nothing,
      table: name,
      schema: null,
      name,
      kind: 'table',
      comment: null,
      estimatedRows: null,
      readable: true,
    };
  }

  #maybeLost(): void {
    if (this.#random.chance(this.faults.lostQuery))
      throw new PartnerSyncError('source_unreachable', 'the simulated source has lost the session');
  }

  #tableOf(relation: Relation): SourceTableModel {
    const table = 'table' in relation ? this.#tables[relation.table] : undefined;
    if (table === undefined) throw new Error(`no such relation: ${JSON.stringify(relation)}`);
    return table;
  }

  #sorted(plan: ReadPlan): Row[] {
    const order = [...(plan.cursor === null ? [] : [plan.cursor]), ...plan.key];
    const rows = [...this.#rows.get((plan.relation as { table: string }).table)!.values()];
    return rows.sort((a, b) =>
      compare(
        order.map((c) => a[c]!),
        order.map((c) => b[c]!),
      ),
    );
  }

  #within(plan: ReadPlan, { after, cursorFrom, cursorBefore, throughKey, whereIn }: ReadBounds): (row: Row) => boolean {
    const key = (row: Row): string[] => plan.key.map((c) => row[c]!);
    return (row) => {
      const cursor = plan.cursor === null ? null : row[plan.cursor]!;
      if (after !== null) {
        const place = cursor === null ? key(row) : [cursor, ...key(row)];
        if (compare(place, cursor === null ? after.key : [after.cursor!, ...after.key]) <= 0) return false;
      }
      if (cursor !== null && cursorFrom !== null && cursor < cursorFrom) return false;
      if (cursor !== null && cursorBefore !== null && cursor >= cursorBefore) return false;
      if (throughKey !== null && compare(key(row), throughKey) > 0) return false;
      return (
        whereIn === undefined ||
        whereIn.values.some((value) => whereIn.columns.every((column, i) => row[column] === value[i]))
      );
    };
  }

  #split(plan: ReadPlan, size: number): KeyRange[] {
    const rows = this.#sorted({ ...plan, cursor: null });
    const ends: SourceKey[] = [];
    for (let at = size; at < rows.length; at += size) ends.push(plan.key.map((c) => rows[at - 1]![c]!));
    return [...ends, null].map((through, i) => ({ after: ends[i - 1] ?? null, through }));
  }
}

/** Keys and cursors are texts of equal width, so that their order is that of the texts. */
function compare(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
  return 0;
}

/** As PostgreSQL writes a `timestamptz` in UTC. */
export const timeText = (at: number): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '+00');
