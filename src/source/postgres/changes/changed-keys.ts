/** Collects the keys of changed rows by their tables, until they are enough for a group. */
import type { RowsOfTable, FeedTable } from '../../../domain/source/change-feed.js';
import type { SourceKey } from '../../../domain/source/source-key.js';
import type { KeyColumn } from './key-columns.js';
import { malformed } from './message-bytes.js';
import { UNCHANGED, type SlotRow, type SlotTable } from './slot-messages.js';

/** The keys of one group. */
export class ChangedKeys {
  readonly #keys = new Map<SlotTable, { readonly columns: readonly KeyColumn[]; readonly keys: SourceKey[] }>();
  readonly #truncated = new Map<string, FeedTable>();
  #size = 0;

  /** How many keys there are. */
  get size(): number {
    return this.#size;
  }

  /** Whether nothing has changed. */
  get isEmpty(): boolean {
    return this.#size === 0 && this.#truncated.size === 0;
  }

  /** Adds the key of a row, and the one that it had before if that is another one. */
  add(table: SlotTable, columns: readonly KeyColumn[], old: SlotRow | null, row: SlotRow | null): void {
    const before = old === null ? null : keyOf(columns, old, null);
    const after = row === null ? null : keyOf(columns, row, before);
    if (before !== null) this.#add(table, columns, before);
    if (after !== null && !(before !== null && areSame(before, after))) this.#add(table, columns, after);
  }

  truncate({ table }: SlotTable): void {
    this.#truncated.set(JSON.stringify([table.schema, table.name]), table);
  }

  /** What has been collected, as a part of a group. */
  collected(): { readonly rows: readonly RowsOfTable[]; readonly truncated: readonly FeedTable[] } {
    const rows = [...this.#keys].map(([{ table }, { columns, keys }]): RowsOfTable => ({
      table,
      columns: columns.map(({ name }) => name),
      keys,
    }));
    return { rows, truncated: [...this.#truncated.values()] };
  }

  #add(table: SlotTable, columns: readonly KeyColumn[], key: SourceKey): void {
    const entry = this.#keys.get(table);
    if (entry === undefined) this.#keys.set(table, { columns, keys: [key] });
    else entry.keys.push(key);
    this.#size++;
  }
}

/** A long value of a key that has not changed is only in the old key, which is then always sent. */
function keyOf(columns: readonly KeyColumn[], row: SlotRow, old: SourceKey | null): SourceKey {
  return columns.map(({ index, finish }, i) => {
    const value = row.value(index);
    const known = value === UNCHANGED ? old?.[i] : value;
    if (known == null) throw malformed('lacks a value of its key');
    return value === UNCHANGED || finish === undefined ? known : finish(known);
  });
}

const areSame = (one: SourceKey, other: SourceKey): boolean => one.every((value, i) => value === other[i]);
