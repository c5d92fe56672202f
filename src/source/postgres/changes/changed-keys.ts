/** Collects the keys of changed rows by their tables, until they are enough for a group. */
import type { ChangeGroup, FeedTable, RowsOfTable } from '../../../domain/source/change-feed.js';
import type { SourceKey } from '../../../domain/source/source-key.js';
import type { KeyColumn } from './key-columns.js';
import { UNCHANGED, type SlotRow, type SlotTable } from './slot-messages.js';

/** The keys of one group. */
export class ChangedKeys {
  readonly #keys = new Map<SlotTable, { readonly columns: readonly KeyColumn[]; readonly keys: SourceKey[] }>();
  /** Why nothing identifies the rows of tables that have changed. */
  readonly #problems = new Map<SlotTable, string>();
  readonly #truncated = new Map<string, FeedTable>();
  readonly #unnamed = new Map<string, FeedTable>();
  #size = 0;

  /** How many keys there are. */
  get size(): number {
    return this.#size;
  }

  /** Whether nothing has changed. */
  get isEmpty(): boolean {
    return this.#size + this.#problems.size + this.#truncated.size + this.#unnamed.size === 0;
  }

  /** Adds the key of a row, and the one that it had before if that is another one. */
  add(table: SlotTable, columns: readonly KeyColumn[] | string, old: SlotRow | null, row: SlotRow | null): void {
    if (typeof columns === 'string') return void this.#problems.set(table, columns);
    const before = old === null ? null : keyOf(columns, old, null);
    const after = row === null ? null : keyOf(columns, row, before);
    // A partition may have another REPLICA IDENTITY than its table, under whose name it is reported.
    if ((old !== null && before === null) || (row !== null && after === null))
      this.#unnamed.set(textOf(table.table), table.table);
    if (before !== null) this.#add(table, columns, before);
    if (after !== null && !(before !== null && areSame(before, after))) this.#add(table, columns, after);
  }

  truncate({ table }: SlotTable): void {
    this.#truncated.set(textOf(table), table);
  }

  /** What has been collected, as a part of a group. */
  collected(): Pick<ChangeGroup, 'rows' | 'truncated' | 'unnamed'> {
    const rows = [...this.#keys].map(([{ table }, { columns, keys }]): RowsOfTable => ({
      table,
      columns: columns.map(({ name }) => name),
      keys,
    }));
    const unread = [...this.#problems].map(([{ table }, problem]): RowsOfTable => ({
      table,
      columns: [],
      keys: [],
      problem,
    }));
    return {
      rows: [...rows, ...unread],
      truncated: [...this.#truncated.values()],
      unnamed: [...this.#unnamed.values()],
    };
  }

  #add(table: SlotTable, columns: readonly KeyColumn[], key: SourceKey): void {
    const entry = this.#keys.get(table);
    if (entry === undefined) this.#keys.set(table, { columns, keys: [key] });
    else entry.keys.push(key);
    this.#size++;
  }
}

const textOf = ({ schema, name }: FeedTable): string => JSON.stringify([schema, name]);

/**
 * null if the row lacks a value of its key. A long value of a key that has not changed is only in the old key, which is then always
 * sent.
 */
function keyOf(columns: readonly KeyColumn[], row: SlotRow, old: SourceKey | null): SourceKey | null {
  const key: string[] = [];
  for (const [i, { index, finish }] of columns.entries()) {
    const value = row.value(index);
    const known = value === UNCHANGED ? old?.[i] : value;
    if (known == null) return null;
    key.push(value === UNCHANGED || finish === undefined ? known : finish(known));
  }
  return key;
}

const areSame = (one: SourceKey, other: SourceKey): boolean => one.every((value, i) => value === other[i]);
