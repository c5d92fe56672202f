/** All migrations of the ledger, in the order in which they are applied. */
import * as ledger from './0001-ledger.js';

export const MIGRATIONS = [ledger] as const;

/** Names the ledger's schema as this program makes it. */
export const NEWEST_MIGRATION: string = MIGRATIONS.at(-1)!.name;
