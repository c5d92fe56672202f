/** The partner's own programs: they fill the source, and keep changing it in transactions. */
import type { Kernel } from './kernel.js';
import type { Chronicle } from './chronicle.js';
import { Families, type FamilyHooks } from './families.js';
import type { Crossing, Plan } from './plan.js';
import { randomOf, type Random } from './random.js';
import { storedKey } from './platform-model.js';
import { SHAPES, TABLES, TENANTS, versionOf } from './shop.js';
import { timeText, type Change, type Row, type SourceModel } from './source-model.js';

/** A cursor value that no high watermark passes. */
const FAR_AHEAD = timeText(Date.UTC(9999, 11, 31));

export class Writer {
  readonly #kernel: Kernel;
  readonly #random: Random;
  readonly #plan: Plan;
  readonly #source: SourceModel;
  readonly #chronicle: Chronicle;
  #version = 0;
  #brief = 0;
  #truncated = 0;
  readonly #earlier = new Map<string, Row>();
  readonly #repeated = new Set<number>();
  #began = 0;
  #isStopped = false;
  readonly #families: Families;
  readonly #stamps: Random;

  constructor(
    kernel: Kernel,
    random: Random,
    plan: Plan,
    source: SourceModel,
    chronicle: Chronicle,
    hooks: FamilyHooks,
  ) {
    this.#kernel = kernel;
    this.#random = random;
    this.#plan = plan;
    this.#source = source;
    this.#chronicle = chronicle;
    this.#stamps = randomOf(plan.seed, 'stamps');
    this.#families = new Families({
      ...hooks,
      kernel,
      random,
      plan,
      source,
      chronicle,
      change: (...of) => this.#change(...of),
      revert: (...of) => this.#revert(...of),
      isStopped: () => this.#isStopped,
    });
  }

  /** The first rows. */
  fill(): void {
    for (const shop of this.#plan.tenants)
      for (let i = 1; i <= this.#plan.customers; i++)
        this.#source.transact(0, (at) => this.#family(shop, String(i).padStart(5, '0'), at));
  }

  /** Changes the source again and again until it is stopped, if the seed has drawn that. */
  write(): void {
    this.#began = this.#kernel.now;
    const { leftOpen } = this.#plan.writer;
    if (leftOpen !== null) this.#source.transact(leftOpen, (at) => this.#changes(at));
    this.#writeOn();
  }

  #writeOn(): void {
    const { every, longest, lasts } = this.#plan.writer;
    if (every === null) return;
    const random = this.#random;
    this.#kernel.after(
      every * 2 * random.next(),
      () => {
        if (this.#isStopped || this.#kernel.now - this.#began > (lasts ?? Infinity)) return;
        this.#source.transact(random.next() * longest, (at) => this.#changes(at));
        this.#writeOn();
      },
      null,
    );
  }

  /** Deletes a customer with its orders and lines, if there is one that has some. */
  deleteFamily(): void {
    const families = [...this.#source.rows('lines').values()].flatMap(({ shop, order_no: no }) => {
      const order = this.#source.rows('orders').get(`${shop}/${no}`);
      return order === undefined ? [] : [this.#familyOf(shop!, order['customer_id']!)];
    });
    if (families.length < 2) return;
    const family = this.#random.pick(families);
    this.#source.transact(0, () => family.map(({ table, row }) => ({ table, key: keyOf(table, row), row: null })));
  }

  /** Changes nothing more, once the transactions that are open have committed. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Whether a row got this version back after it had another one. */
  hasRepeated(version: number): boolean {
    return this.#repeated.has(version);
  }

  /** A family of its own, for a mirror run removes nothing from a table that is empty. */
  addLast(): void {
    const shop = this.#plan.tenants[0]!;
    this.#source.transact(0, (at) => [
      this.#change('customers', shop, { id: 'last' }, at),
      this.#change('orders', shop, { no: 'last', customer_id: 'last' }, at),
      this.#change('lines', shop, { line: 'last', order_no: 'last' }, at),
    ]);
  }

  /** The last line is gone, and a row with its external id is there that may be of any tenant, until it is told to leave. */
  hideLast(): { readonly key: string; readonly leave: () => void } {
    const shop = this.#plan.tenants[0]!;
    const gone = (of: string): Change => ({ table: 'lines', key: `${of}/last`, row: null });
    this.#source.transact(0, (at) => [
      gone(shop),
      // A table without rows is not searched.
      this.#change('lines', shop, { line: 'other', order_no: 'last' }, at),
      this.#change('lines', 'x', { line: 'last', order_no: 'last' }, at),
    ]);
    const leave = (): void => this.#source.transact(0, () => [gone('x')]);
    return { key: storedKey(TENANTS[shop]!, SHAPES.lines.schema, 'last'), leave };
  }

  /** A customer with some orders and lines; ids repeat across tenants. */
  #family(shop: string, id: string, at: string): Change[] {
    const random = this.#random;
    const orders = Array.from({ length: random.between(0, 2) }, (_, i) => `${id}-${i + 1}`);
    return [
      this.#change('customers', shop, { id }, at),
      ...orders.flatMap((no) => [
        this.#change('orders', shop, { no, customer_id: id }, at),
        ...Array.from({ length: random.between(0, 2) }, (_, i) =>
          this.#change('lines', shop, { line: `${no}-${i + 1}`, order_no: no }, at),
        ),
      ]),
    ];
  }

  #change(table: string, shop: string, columns: Record<string, string>, at: string): Change {
    const random = this.#random;
    const { badRows } = this.#plan.writer;
    const bad =
      badRows && !this.#isStopped && random.chance(0.08) ? random.pick([' REFUSE', ' REJECT', ' '.repeat(80)]) : '';
    const id = columns[TABLES[table]!.key[1]!]!;
    return {
      table,
      key: `${shop}/${id}`,
      row: {
        shop,
        ...columns,
        name: `${shop} v${++this.#version}${bad}`,
        email: random.chance(0.5) ? `${id}@example.org` : null,
        updated_at: this.#stamp(at),
      },
    };
  }

  #stamp(at: string): string {
    if (!this.#plan.writer.farAhead || this.#stamps.chance(0.8)) return at;
    this.#chronicle.saw('a row lay far ahead');
    return FAR_AHEAD;
  }

  #changes(at: string): Change[] {
    if (this.#plan.crossing !== null) return this.#changeOneOf(this.#plan.crossing, at);
    const shop = this.#random.pick(this.#plan.tenants);
    return (
      this.#families.changes(shop, at) ??
      this.#ordinaryChanges(shop, at).filter(({ table, key }) => !this.#families.isLeftAlone(table, key))
    );
  }

  #ordinaryChanges(shop: string, at: string): Change[] {
    const random = this.#random;
    const { deletes, moves, orphans, lateParents, strangers, shortLived, truncates, hot } = this.#plan.writer;
    const customers = [...this.#source.rows('customers').values()].filter((row) => row['shop'] === shop);
    if (customers.length === 0 || random.chance(hot ? 0.04 : 0.15))
      return this.#family(shop, String(random.between(1, hot ? 4 : 8)).padStart(5, '0'), at);
    const customer = hot && random.chance(0.7) ? customers[0]! : random.pick(customers);
    const family = this.#familyOf(shop, customer['id']!);
    if (strangers && random.chance(0.1)) return [this.#stranger(customer['id']!, at)];
    if (deletes && random.chance(0.15)) {
      this.#chronicle.saw('rows were deleted');
      if (this.#plan.writer.comeBack) this.#bringBack(shop, family);
      return family.map(({ table, row }) => ({ table, key: keyOf(table, row), row: null }));
    }
    const others = this.#plan.tenants.filter((other) => other !== shop);
    if (moves && others.length > 0 && random.chance(0.15)) {
      this.#chronicle.saw('rows moved to another tenant');
      const other = random.pick(others);
      return family.flatMap(({ table, row }) => {
        return [{ table, key: keyOf(table, row), row: null }, this.#change(table, other, columnsOf(row), at)];
      });
    }
    if (shortLived && random.chance(0.2)) {
      const table = random.pick(Object.keys(TABLES));
      const rows = [...this.#source.rows(table)].filter(
        ([key, row]) => !key.includes('/brief-') && TENANTS[row['shop']!] !== undefined,
      );
      if (rows.length > 0) return [this.#shortLived(table, random.pick(rows)[1], 5000, at)];
    }
    if (truncates && this.#truncated < 2 && random.chance(0.05))
      return this.#refill(random.pick(['orders', 'lines']), at);
    // Not more and more of them, or no run would ever have read them all.
    const late = this.#families.lateParents(shop);
    if (lateParents && late < 5 && random.chance(0.25)) return [this.#families.orderOf(`late-${late}`, shop, at)];
    if (orphans && random.chance(0.1)) {
      this.#chronicle.saw('a row had no parent');
      return [this.#change('orders', shop, { no: `orphan-${random.between(1, 5)}`, customer_id: '77777' }, at)];
    }
    const { table, row } = hot && random.chance(0.4) ? family[0]! : random.pick(family);
    return [this.#changeRow(table, row, at)];
  }

  /** The table is emptied, and most of its rows are written again. */
  #refill(table: string, at: string): Change[] {
    this.#truncated++;
    const rows = [...this.#source.rows(table).values()];
    this.#source.truncate(table);
    return rows
      .filter((_, no) => no === 0 || this.#random.chance(0.7))
      .map((row) => this.#change(table, row['shop']!, columnsOf(row), at));
  }

  /** A customer with this id of a shop that is no tenant's; its row is gone some seconds later, whatever happens. */
  #stranger(id: string, at: string): Change {
    this.#chronicle.saw('a row was of no known tenant');
    const change = this.#change('customers', 'x', { id }, at);
    const leaves = (): void => this.#source.transact(0, () => [{ ...change, row: null }]);
    this.#kernel.after(this.#plan.writer.longest + this.#random.next() * 20_000, leaves, null);
    return change;
  }

  /** The rows are there again soon after they were deleted. */
  #bringBack(shop: string, family: readonly { table: string; row: Row }[]): void {
    const random = this.#random;
    this.#kernel.after(
      random.next() * random.pick([50, 1000, 5000]),
      () => {
        if (this.#isStopped) return;
        this.#chronicle.saw('deleted rows came back');
        this.#source.transact(0, (later) =>
          family.map(({ table, row }) => this.#change(table, shop, columnsOf(row), later)),
        );
      },
      null,
    );
  }

  #changeOneOf({ table, back }: Crossing, at: string): Change[] {
    const random = this.#random;
    const { awaitedParents } = this.#plan.writer;
    const moved = awaitedParents && random.chance(0.25) ? this.#families.moveAndBack(at, true) : null;
    if (moved !== null) return moved;
    const rows = [...this.#source.rows(table)].filter(
      ([key]) =>
        !key.includes('/brief-') &&
        !this.#families.isLeftAlone(table, key) &&
        (back === null || !this.#earlier.has(`${table} ${key}`)),
    );
    if (rows.length === 0) return [];
    const [key, row] = random.pick(rows);
    if (this.#plan.settings.isFed && random.chance(0.3)) return [this.#shortLived(table, row, back ?? 1000, at)];
    if (back === null) return [this.#changeRow(table, row, at)];
    const getsBack = (later: string): Change[] => [this.#revert(table, this.#source.rows(table).get(key)!, row, later)];
    this.#kernel.after(random.next() * back, () => this.#source.transact(0, getsBack), null);
    return [this.#changeRow(table, row, at)];
  }

  /** A new row beside this one, which is deleted after so many milliseconds at most. */
  #shortLived(table: string, beside: Row, lives: number, at: string): Change {
    this.#chronicle.saw('a row was deleted soon after it had come');
    const id = TABLES[table]!.key[1]!;
    const columns = { ...columnsOf(beside), [id]: `brief-${++this.#brief}` };
    const change = this.#change(table, beside['shop']!, columns, at);
    const deletes = (): Change[] => [{ ...change, row: null }];
    this.#kernel.after(this.#random.next() * lives, () => this.#source.transact(0, deletes), null);
    return change;
  }

  #changeRow(table: string, row: Row, at: string): Change {
    const random = this.#random;
    const earlier = this.#earlier.get(`${table} ${keyOf(table, row)}`);
    const { crossing, writer } = this.#plan;
    if (writer.reverts && earlier !== undefined && random.chance(crossing === null ? 0.4 : 0.8))
      return this.#revert(table, row, earlier, at);
    this.#earlier.set(`${table} ${keyOf(table, row)}`, row);
    return this.#change(table, row['shop']!, columnsOf(row), at);
  }

  /** The row gets back what it had earlier. */
  #revert(table: string, row: Row, earlier: Row, at: string): Change {
    this.#chronicle.saw('a row got back what it had');
    for (const { name } of [row, earlier]) this.#repeated.add(versionOf(name));
    const key = keyOf(table, row);
    this.#earlier.set(`${table} ${key}`, row);
    return { table, key, row: { ...earlier, updated_at: this.#stamp(at) } };
  }

  /** The rows of a customer, parents first. */
  #familyOf(shop: string, id: string): { table: string; row: Row }[] {
    const orders = [...this.#source.rows('orders').values()].filter(
      (row) => row['shop'] === shop && row['customer_id'] === id,
    );
    const lines = [...this.#source.rows('lines').values()].filter(
      (row) => row['shop'] === shop && orders.some((order) => order['no'] === row['order_no']),
    );
    const customer = this.#source.rows('customers').get(`${shop}/${id}`);
    return [
      ...(customer === undefined ? [] : [{ table: 'customers', row: customer }]),
      ...orders.map((row) => ({ table: 'orders', row })),
      ...lines.map((row) => ({ table: 'lines', row })),
    ];
  }
}

const keyOf = (table: string, row: Row): string => `${row['shop']}/${row[TABLES[table]!.key[1]!]}`;

/** What relates the row to others: everything but its tenant and what changes. */
function columnsOf({ shop: _, name: __, email: ___, updated_at: ____, ...columns }: Row): Record<string, string> {
  return columns as Record<string, string>;
}
