/**
 * What each kind of library item must implement. Both functions are idempotent and touch only rows that the item itself
 * has created.
 */
import type { Queryable } from '../database.js';

/** An item of the platform account's library, as stored: its id and the rest of its fields. */
export interface LibraryItem {
  readonly id: string;
  readonly content: object;
}

/** How items of one kind are copied into a tenant and removed from it (4.6). */
export interface LibraryKind {
  /** Copies the items into the tenant and updates the copies that an earlier sync made. */
  sync(db: Queryable, tenantId: string, items: readonly LibraryItem[]): Promise<Synced>;
  /** Removes what the items have created in the tenant, if anything. */
  unsync(db: Queryable, tenantId: string, itemIds: readonly string[]): Promise<void>;
}

/** What a sync has done with its items. */
export interface Synced {
  /** Ids of the items that were not copied: the tenant has an object of its own under an id that the item needs. */
  readonly conflicting: ReadonlySet<string>;
}
