/** The ledger for commands that only read: it cannot write, and neither creates nor updates the tables. */
import { openAlerts, type Alerts } from './alerts.js';
import { openCounts, type CountsView } from './views/counts.js';
import { openFeedView, type FeedView } from './changes/feed-view.js';
import { openIdsView, type IdsView } from './mappings/ids.js';
import { assertMigrated, withLedgerErrors, openLedgerDatabase } from './database/connection.js';
import { openDeadLetterView, type DeadLetterView } from './dead-letters.js';
import type { FleetView } from '../domain/monitoring/fleet.js';
import { openFleetView } from './fleet.js';
import { openGuards, type Guards } from './runs/guards.js';
import { openPartitions, type Partitions } from './runs/partitions.js';
import { openRecordStates, type RecordStates } from './views/record-states.js';
import { openAcceptedHashes, type AcceptedHashes } from './views/accepted-hashes.js';
import { openRemovals, type Removals } from './removals.js';
import { openRunHistories, type RunHistories } from './views/run-histories.js';
import { openRuns, type Runs } from './runs/runs.js';
import { openPlatforms, type PlatformsView } from './mappings/platforms.js';
import { openTenantLists, type TenantListsView } from './mappings/tenant-lists.js';
import { openSchemaIds, type SchemaIds } from './mappings/schema-ids.js';
import { openFilesOfRuns, type FilesOfRuns } from './runs/sync-files.js';
import { openSyncStates, type SyncStates } from './views/sync-state.js';
import { openTenantCounts, type TenantCountsView } from './views/tenant-counts.js';
import { openAuditView, type AuditView } from './audit.js';
import { openRetention, type LedgerRetention } from './retention/prune.js';

/**
 * The part of the ledger that writes nothing. Every `Ledger` is a `LedgerView`. Methods throw `state_unreachable`,
 * `state_refused`.
 */
export interface LedgerView {
  readonly runs: Pick<
    Runs,
    'find' | 'latest' | 'latestNotRefused' | 'recorded' | 'notEnded' | 'ofSchedule' | 'hasRecordsOfEarlierFiles'
  >;
  readonly ids: IdsView;
  readonly filesOfRuns: FilesOfRuns;
  readonly partitions: Pick<Partitions, 'position'>;
  readonly feeds: FeedView;
  readonly counts: CountsView;
  readonly tenantCounts: TenantCountsView;
  readonly runHistories: RunHistories;
  readonly syncStates: SyncStates;
  readonly alerts: Pick<Alerts, 'unfinished'>;
  readonly deadLetters: DeadLetterView;
  readonly acceptedHashes: AcceptedHashes;
  readonly removals: Pick<Removals, 'awaitingApproval' | 'needingAttention' | 'ofRun' | 'page'>;
  readonly guards: Pick<Guards, 'onHold'>;
  readonly recordStates: RecordStates;
  readonly fleet: FleetView;
  readonly schemaIds: Pick<SchemaIds, 'pushed'>;
  readonly platforms: PlatformsView;
  readonly tenantLists: TenantListsView;
  readonly audit: AuditView;
  readonly retention: Pick<LedgerRetention, 'prunable'>;
  close(): Promise<void>;
}

/**
 * Opens the ledger with read-only sessions. Throws `state_not_ready` if there are no tables or those of another
 * version, and `state_unreachable`.
 */
export async function openLedgerView(url: string): Promise<LedgerView> {
  const knex = openLedgerDatabase(url, { poolMax: 4, readOnly: true });
  try {
    await assertMigrated(knex);
  } catch (error) {
    await knex.destroy();
    throw error;
  }
  return {
    runs: withLedgerErrors(openRuns(knex)),
    ids: withLedgerErrors(openIdsView(knex)),
    filesOfRuns: withLedgerErrors(openFilesOfRuns(knex)),
    partitions: withLedgerErrors(openPartitions(knex)),
    feeds: withLedgerErrors(openFeedView(knex)),
    counts: withLedgerErrors(openCounts(knex)),
    tenantCounts: withLedgerErrors(openTenantCounts(knex)),
    runHistories: withLedgerErrors(openRunHistories(knex)),
    syncStates: withLedgerErrors(openSyncStates(knex)),
    alerts: withLedgerErrors(openAlerts(knex)),
    deadLetters: withLedgerErrors(openDeadLetterView(knex)),
    acceptedHashes: withLedgerErrors(openAcceptedHashes(knex)),
    removals: withLedgerErrors(openRemovals(knex)),
    guards: withLedgerErrors(openGuards(knex)),
    recordStates: withLedgerErrors(openRecordStates(knex)),
    fleet: withLedgerErrors(openFleetView(knex)),
    schemaIds: withLedgerErrors(openSchemaIds(knex)),
    platforms: withLedgerErrors(openPlatforms(knex)),
    tenantLists: withLedgerErrors(openTenantLists(knex)),
    audit: withLedgerErrors(openAuditView(knex)),
    retention: withLedgerErrors(openRetention(knex)),
    close: () => knex.destroy(),
  };
}
