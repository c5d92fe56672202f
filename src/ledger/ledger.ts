/** The ledger: all that is known about runs, partitions, records and batches, in one schema of PostgreSQL. */
import type { Knex } from 'knex';
import type { Effort } from '../domain/run/effort.js';
import { NO_METERS, type LedgerMeter } from '../domain/monitoring/meters.js';
import { openAlerts, type Alerts } from './alerts.js';
import { openChangedRows, type ChangedRows } from './changes/changed-rows.js';
import { openFeeds, type Feeds } from './changes/feeds.js';
import { openCounts, type CountsView } from './views/counts.js';
import { openIds, type Ids } from './mappings/ids.js';
import { checkpoint, recordEffort } from './checkpoint/checkpoint.js';
import type { CheckpointInput } from './checkpoint/checkpoint-input.js';
import { claimChunk, type Claimed, type ClaimRequest } from './batches/claims.js';
import { openAudit, type Audit } from './audit.js';
import { openForget, type Forget } from './forget/forget.js';
import { openRetention, type LedgerRetention } from './retention/prune.js';
import { withLedgerErrors, inLedger, measure, migrateLedger, openLedgerDatabase } from './database/connection.js';
import { openFleet, type Fleet } from './fleet.js';
import { openGuards, type Guards } from './runs/guards.js';
import { openKnownRecords, type KnownRecords } from './known-records.js';
import { openInFlightRecords } from './batches/in-flight-records.js';
import { openBatches, type Batches } from './batches/batches.js';
import { openDeadLetters, type DeadLetters } from './dead-letters.js';
import { openGauges, type Gauges } from './views/gauges.js';
import { openPartitions, type Partitions, type AcquiredPartition } from './runs/partitions.js';
import { openSchedules, type Schedules } from './schedules.js';
import { openRecordStates, type RecordStates } from './views/record-states.js';
import { openAcceptedHashes, type AcceptedHashes } from './views/accepted-hashes.js';
import { openRemovals, type Removals } from './removals.js';
import { openRunHistories, type RunHistories } from './views/run-histories.js';
import { openRuns, type Runs } from './runs/runs.js';
import { openPlatforms, type Platforms } from './mappings/platforms.js';
import { openTenantLists, type TenantLists } from './mappings/tenant-lists.js';
import { openSchemaIds, type SchemaIds } from './mappings/schema-ids.js';
import { openSeenColumns, type SeenColumns } from './mappings/seen-columns.js';
import { openFilesOfRuns, type FilesOfRuns } from './runs/sync-files.js';
import { openSyncStates, type SyncStates } from './views/sync-state.js';
import { openTenantCounts, type TenantCountsView } from './views/tenant-counts.js';
import { openWaiting, type Waiting } from './waiting/index.js';
import { openTellCounts } from './tell-counts.js';

/**
 * Every method throws `state_unreachable` if the database cannot be asked, and `state_refused` if it refuses the
 * statement and would do so again.
 */
export interface Ledger {
  readonly runs: Runs;
  readonly filesOfRuns: FilesOfRuns;
  readonly partitions: Partitions;
  readonly feeds: Feeds;
  readonly changedRows: ChangedRows;
  readonly knownRecords: KnownRecords;
  readonly ids: Ids;
  readonly batches: Batches;
  readonly waiting: Waiting;
  readonly counts: CountsView;
  readonly tenantCounts: TenantCountsView;
  readonly runHistories: RunHistories;
  readonly syncStates: SyncStates;
  readonly alerts: Alerts;
  readonly schedules: Schedules;
  readonly deadLetters: DeadLetters;
  readonly acceptedHashes: AcceptedHashes;
  readonly removals: Removals;
  readonly guards: Guards;
  readonly recordStates: RecordStates;
  readonly schemaIds: SchemaIds;
  readonly platforms: Platforms;
  readonly tenantLists: TenantLists;
  readonly seenColumns: SeenColumns;
  readonly fleet: Fleet;
  readonly gauges: Gauges;
  readonly audit: Audit;
  readonly retention: LedgerRetention;
  readonly forget: Forget;
  /** Draws the next read sequence number; see `read_sequence` in the migration. */
  nextReadSeq(): Promise<string>;
  /**
   * Decides which records of a chunk are sent and writes the intents of their batches. Throws `fenced_off`, and
   * `guard_exceeded` (`GuardExceeded`) if the run is to be put on hold.
   */
  claim(partition: AcquiredPartition, request: ClaimRequest): Promise<Claimed>;
  /**
   * Writes what became of a chunk and moves the partition's resume point, in one transaction. Throws `fenced_off`.
   *
   * @param effort what was done for the partition since its last checkpoint
   */
  checkpoint(partition: AcquiredPartition, input: CheckpointInput, effort?: Effort): Promise<void>;
  /** Writes what was done for the partition since its last checkpoint, where no checkpoint will. Throws `fenced_off`. */
  recordEffort(partition: AcquiredPartition, effort: Effort): Promise<void>;
  close(): Promise<void>;
}

/** Opens the ledger, creating or updating its tables. `url` may hold a password. Throws `state_unreachable`. */
export async function openLedger(url: string, meter: LedgerMeter = NO_METERS.ledger): Promise<Ledger> {
  // One connection stays open, by which an upgrade sees that this program is at work.
  const knex = openLedgerDatabase(url, { poolMin: 1 });
  if (meter !== NO_METERS.ledger) measure(knex, meter);
  try {
    await migrateLedger(knex);
  } catch (error) {
    await knex.destroy();
    throw error;
  }
  return ledgerOn(knex, meter);
}

/** The ledger in a database that has its tables; closing it closes `knex`. */
export function ledgerOn(knex: Knex, meter: LedgerMeter = NO_METERS.ledger): Ledger {
  const inFlight = openInFlightRecords();
  const ids = withLedgerErrors(openIds(knex));
  const tellCounts = openTellCounts(meter, ids);
  return {
    runs: withLedgerErrors(openRuns(knex)),
    filesOfRuns: withLedgerErrors(openFilesOfRuns(knex)),
    partitions: withLedgerErrors(openPartitions(knex)),
    feeds: withLedgerErrors(openFeeds(knex)),
    changedRows: withLedgerErrors(openChangedRows(knex)),
    knownRecords: withLedgerErrors(openKnownRecords(knex)),
    ids,
    batches: withLedgerErrors(openBatches(knex)),
    waiting: withLedgerErrors(openWaiting(knex)),
    counts: withLedgerErrors(openCounts(knex)),
    tenantCounts: withLedgerErrors(openTenantCounts(knex)),
    runHistories: withLedgerErrors(openRunHistories(knex)),
    syncStates: withLedgerErrors(openSyncStates(knex)),
    alerts: withLedgerErrors(openAlerts(knex)),
    schedules: withLedgerErrors(openSchedules(knex)),
    deadLetters: withLedgerErrors(openDeadLetters(knex)),
    acceptedHashes: withLedgerErrors(openAcceptedHashes(knex)),
    removals: withLedgerErrors(openRemovals(knex)),
    guards: withLedgerErrors(openGuards(knex)),
    recordStates: withLedgerErrors(openRecordStates(knex)),
    schemaIds: withLedgerErrors(openSchemaIds(knex)),
    platforms: withLedgerErrors(openPlatforms(knex)),
    tenantLists: withLedgerErrors(openTenantLists(knex)),
    seenColumns: withLedgerErrors(openSeenColumns(knex)),
    fleet: withLedgerErrors(openFleet(knex)),
    gauges: withLedgerErrors(openGauges(knex)),
    audit: withLedgerErrors(openAudit(knex)),
    retention: withLedgerErrors(openRetention(knex)),
    forget: withLedgerErrors(openForget(knex)),
    nextReadSeq: () => inLedger(() => nextReadSeq(knex)),
    claim: (partition, request) => inLedger(() => claimChunk(knex, inFlight, partition, request)),
    recordEffort: (partition, effort) => inLedger(() => recordEffort(knex, partition, effort)),
    async checkpoint(partition, input, effort) {
      const counts = await inLedger(() => checkpoint(knex, partition, input, effort));
      await tellCounts(partition.mappingId, counts);
    },
    close: () => knex.destroy(),
  };
}

async function nextReadSeq(knex: Knex): Promise<string> {
  const { rows } = await knex.raw<{ rows: { read_seq: string }[] }>(`SELECT nextval('read_sequence') AS read_seq`);
  return rows[0]!.read_seq;
}
