/** The ledger: everything that is known of runs, records and batches, in one PostgreSQL schema. */
import type { Knex } from 'knex';
import { openBooks, type BooksView } from './books.js';
import { openCatalog, type Catalog } from './catalog.js';
import { checkpoint } from './checkpoint.js';
import type { GroupOutcome } from './group-outcome.js';
import { claimGroup, type Claimed, type ClaimRequest } from './claims.js';
import { guarded, inState, migrateState, openState, twice } from './connection.js';
import { openHeldRecords } from './held-records.js';
import { openBatches, type OpenBatches } from './open-batches.js';
import { openDeadLetters, type DeadLetters } from './dead-letter-box.js';
import { openRanges, type Ranges, type TakenRange } from './ranges.js';
import { openStandings, type Standings } from './record-standing.js';
import { openReceipts, type Receipts } from './receipts.js';
import { openRemovals, type Removals } from './removals.js';
import { openRuns, type Runs } from './runs.js';
import { openSchemaIds, type SchemaIds } from './schema-ids.js';
import { openSeenColumns, type SeenColumns } from './seen-columns.js';
import { openWaiting, type Waiting } from './waiting.js';

export interface Ledger {
  readonly runs: Runs;
  readonly ranges: Ranges;
  readonly catalog: Catalog;
  readonly batches: OpenBatches;
  readonly waiting: Waiting;
  readonly books: BooksView;
  readonly deadLetters: DeadLetters;
  readonly receipts: Receipts;
  readonly removals: Removals;
  readonly standings: Standings;
  readonly schemaIds: SchemaIds;
  readonly seenColumns: SeenColumns;
  /** The next moment of the logical reading clock. */
  stamp(): Promise<string>;
  claim(range: TakenRange, request: ClaimRequest): Promise<Claimed>;
  checkpoint(range: TakenRange, group: GroupOutcome): Promise<void>;
  close(): Promise<void>;
}

/** Opens the ledger, creating or updating its tables. Throws `state_unreachable`. */
export async function openLedger(url: string): Promise<Ledger> {
  const knex = openState(url);
  const held = openHeldRecords();
  try {
    await migrateState(knex);
  } catch (error) {
    await knex.destroy();
    throw error;
  }
  return {
    runs: guarded(openRuns(knex)),
    ranges: guarded(openRanges(knex)),
    catalog: guarded(openCatalog(knex)),
    batches: guarded(openBatches(knex)),
    waiting: guarded(openWaiting(knex)),
    books: guarded(openBooks(knex)),
    deadLetters: guarded(openDeadLetters(knex)),
    receipts: guarded(openReceipts(knex)),
    removals: guarded(openRemovals(knex)),
    standings: guarded(openStandings(knex)),
    schemaIds: guarded(openSchemaIds(knex)),
    seenColumns: guarded(openSeenColumns(knex)),
    stamp: () => inState(() => nextStamp(knex)),
    claim: (range, request) => inState(() => twice(() => claimGroup(knex, held, range, request))),
    checkpoint: (range, group) => inState(() => twice(() => checkpoint(knex, range, group))),
    close: () => knex.destroy(),
  };
}

async function nextStamp(knex: Knex): Promise<string> {
  const { rows } = await knex.raw<{ rows: { stamp: string }[] }>(`SELECT nextval('read_stamps') AS stamp`);
  return rows[0]!.stamp;
}
