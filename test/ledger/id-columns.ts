/** Every column of the ledger that could hold an external id, with what becomes of it when a record is forgotten. */

/** Columns that `forget` clears of an external id (src/ledger/forget, src/ledger/record-index/forget-records.ts). */
export const FORGOTTEN: readonly string[] = [
  'dead_letters.external_id',
  'dead_letters.missing',
  'dead_letters.source_key',
  'doubts.external_ids',
  'doubts.high',
  'doubts.low',
  'guards.examples',
  'partitions.after_key',
  'partitions.external_ids',
  'partitions.resume_key',
  'partitions.through_key',
  'record_blocks.records',
  'removal_plans.next_id',
  'removals.external_id',
  'runs.input',
  'waiting.external_id',
  'waiting.source_key',
];

/** The others, by the reason why `forget` leaves them as they are. */
export const NOT_FORGOTTEN: Readonly<Record<string, string>> = {
  // docs/retention.md says so.
  'it moves on with the next change': 'positions.cursor',
  'it names a row that has changed, until the next run has read it': 'changed_rows.key changed_rows.key_hash',
  'the source alone knows what it means': 'change_feeds.origin change_feeds.position change_feeds.confirmed',
  'other records that wait for the person name it until their wait is over': 'waiting.missing',
  'forget refuses while the batch is open; afterwards they are NULL':
    'batches.external_ids batches.content_hashes batches.low batches.high',
  // A block begins with it: forget-records.ts gives the block another one.
  'it is removed with the entry': 'record_blocks.low dead_letters.key_hash doubts.content_hashes',
  'it holds a value of a cursor, which is a time or a number, and no id':
    'partitions.cursor_from partitions.cursor_before partitions.resume_cursor',
  'it holds hashes':
    'positions.reads partitions.reads waiting.content_hash sync_files.hash tenant_lists.hash schema_definitions.definition_hash runs.mapping_version dead_letters.mapping_version alert_deliveries.target',
  'it holds a word of a list or of the error catalogue':
    'audit.action audit.origin alerts.problem alert_deliveries.problem waiting.reason dead_letters.code dead_letters.rule ' +
    'partition_requests.operation partition_requests.status removal_plans.state runs.kind runs.mode runs.trigger runs.outcome runs.failure_code runs.retrying_code partitions.kind batches.state',
  'it names what files declare: a sync, a mapping, a schema definition, columns, fields':
    'seen_columns.relation seen_columns.columns senders.sync sync_rates.sync alerts.sync awaited_syncs.sync ' +
    'sync_platforms.sync tenant_lists.sync schedules.id schedules.sync schedules.name alert_deliveries.sync schema_definitions.name ' +
    'schema_definitions.definition audit.sync mappings.sync mappings.name mappings.id_rule mappings.schema_name runs.sync sync_files.sync sync_files.files ' +
    'sync_leases.sync sync_days.sync dead_letters.pointer removal_plans.action ' +
    'change_feeds.sync change_feeds.name fed_mappings.feed fed_mappings.reads',
  'it names the platform or what it has made':
    'senders.account platform_retry_after.account sync_platforms.address runs.platform schema_definitions.platform ' +
    'schema_definitions.platform_id batches.platform_batch_id',
  'it names a person or a program that works with the ledger': 'audit.who schedules.note runs.started_by',
  'it names an execution in Temporal': 'runs.workflow_id runs.first_execution_run_id audit.key',
  'it holds counts, names and causes':
    'change_feeds.problem change_feeds.given_up audit.subject alerts.what guards.hold guards.approved removal_plans.exceeded runs.skipped runs.report',
  'it holds masked text': 'dead_letters.reason dead_letters.shape waiting.rejection runs.failure_message',
  'it names the tenant, whose own id stays': 'tenants.platform_id tenant_lists.list run_tenants.list',
  'it names a migration': 'migrations.name',
};
