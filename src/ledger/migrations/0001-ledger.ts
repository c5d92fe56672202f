/** The tables of the ledger (docs/architecture.md, "The tables of the ledger"). */
import type { Knex } from 'knex';
import { OPERATION } from './0001-ledger/operation.js';
import { RECORDS } from './0001-ledger/records.js';
import { RUNS } from './0001-ledger/runs.js';

export const name = '0001-ledger';

export async function up(knex: Knex): Promise<void> {
  for (const tables of [RUNS, RECORDS, OPERATION]) await knex.raw(tables);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE audit, platform_busy, sync_rates, senders, schema_definitions, awaited_syncs, alert_deliveries, alerts, seen_columns,
      removals, removal_plans, guards, dead_letters, waiting, record_blocks, batches, positions, partition_counts, partitions,
      sync_leases, sync_files, runs, tenants, mappings;
    DROP FUNCTION keep_audit();
    DROP SEQUENCE read_sequence;
  `);
}
