/** The ledger, opened by commands that only look: it cannot write, and it does not create or update the tables. */
import { openBooks, type BooksView } from './books.js';
import { openCatalogView, type CatalogView } from './catalog.js';
import { assertMigrated, guarded, openState } from './connection.js';
import { openDeadLetters, type DeadLetters } from './dead-letter-box.js';
import { openRanges, type Ranges } from './ranges.js';
import { openStandings, type Standings } from './record-standing.js';
import { openReceipts, type Receipts } from './receipts.js';
import { openRemovals, type Removals } from './removals.js';
import { openRuns, type Runs } from './runs.js';
import { openSchemaIds, type SchemaIds } from './schema-ids.js';

/** The part of the ledger that writes nothing. Every open ledger is one, too. */
export interface LedgerView {
  readonly runs: Pick<Runs, 'get' | 'latest' | 'known'>;
  readonly catalog: CatalogView;
  readonly ranges: Pick<Ranges, 'position'>;
  readonly books: BooksView;
  readonly deadLetters: Pick<DeadLetters, 'causes' | 'count' | 'page' | 'get' | 'ofRecord'>;
  readonly receipts: Receipts;
  readonly removals: Pick<Removals, 'waiting' | 'ofRun' | 'page'>;
  readonly standings: Standings;
  readonly schemaIds: Pick<SchemaIds, 'pushed'>;
  close(): Promise<void>;
}

/**
 * Opens the ledger for looking; the sessions are read-only, whatever is asked of them.
 * Throws `state_not_ready` where there are no tables yet or those of another version, and `state_unreachable`.
 */
export async function openLedgerView(url: string): Promise<LedgerView> {
  const knex = openState(url, { poolMax: 4, readOnly: true });
  try {
    await assertMigrated(knex);
  } catch (error) {
    await knex.destroy();
    throw error;
  }
  return {
    runs: guarded(openRuns(knex)),
    catalog: guarded(openCatalogView(knex)),
    ranges: guarded(openRanges(knex)),
    books: guarded(openBooks(knex)),
    deadLetters: guarded(openDeadLetters(knex)),
    receipts: guarded(openReceipts(knex)),
    removals: guarded(openRemovals(knex)),
    standings: guarded(openStandings(knex)),
    schemaIds: guarded(openSchemaIds(knex)),
    close: () => knex.destroy(),
  };
}
