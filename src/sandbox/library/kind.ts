/** What each kind of library item must be able to do. Both are idempotent, and touch nothing but what the item has made. */
import type { Queryable } from '../database.js';

export interface LibraryItem {
  readonly id: string;
  readonly content: object;
}

export interface LibraryKind {
  /** Copies the items into the tenant; what an earlier sync has copied is brought up to date. */
  sync(db: Queryable, tenantId: string, items: readonly LibraryItem[]): Promise<Synced>;
  /** Takes away what the items have made in the tenant, if anything. */
  unsync(db: Queryable, tenantId: string, itemIds: readonly string[]): Promise<void>;
}

export interface Synced {
  /** Items that were left out: the tenant has something of its own under an id that the item needs. */
  readonly conflicting: ReadonlySet<string>;
}
