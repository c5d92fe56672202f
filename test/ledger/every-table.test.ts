/** What a new table or column of the ledger must not be forgotten by: `forget` and retention. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../docs/pages.js';
import { FORGOTTEN, NOT_FORGOTTEN } from './id-columns.js';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();

/** The columns of the ledger that the condition holds for, as `table.column`. */
const columnsWhere = async (condition: string): Promise<string[]> =>
  (
    await the.database.query<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = 'partner_sync' AND ${condition}`,
    )
  ).map(({ name }) => name);

it('knows of each column that can hold an external id whether it is cleared when the record is forgotten', async () => {
  const columns = await columnsWhere(`data_type IN ('text', 'character varying', 'ARRAY', 'json', 'jsonb', 'bytea')`);
  const declared = [...FORGOTTEN, ...Object.values(NOT_FORGOTTEN).flatMap((names) => names.split(' '))];
  expect(
    columns.sort(),
    'Let src/ledger/forget/known-rows.ts find a column with external ids, and add it to FORGOTTEN in test/ledger/id-columns.ts; ' +
      'add any other to NOT_FORGOTTEN.',
  ).toEqual(declared.sort());
});

/** Tables that name a tenant: whether its rows are removed when the tenant is forgotten, or why they stay. */
const TENANTS: Readonly<Record<string, string>> = {
  'dead_letters.tenant_id': 'removed',
  'record_blocks.tenant_id': 'removed',
  'doubts.tenant_id': 'removed',
  'removal_plans.next_tenant': 'reset',
  'removals.tenant_id': 'removed',
  'waiting.tenant_id': 'removed',
  'batches.tenant_id': 'kept until retention removes it: it has counts, and no id of a record',
  'partition_counts.tenant_id': 'kept until retention removes it: it has counts, and no id of a record',
};

it('knows of each column that names a tenant what becomes of it when the tenant is forgotten', async () => {
  expect(
    (await columnsWhere(`column_name ~ 'tenant' AND data_type = 'integer'`)).sort(),
    'Let src/ledger/forget/known-rows.ts find the rows, and add the column to TENANTS.',
  ).toEqual(Object.keys(TENANTS).sort());
});

/** Tables that name a mapping: what becomes of its rows when the mapping is forgotten, or why they stay. */
const MAPPINGS: Readonly<Record<string, string>> = {
  'batches.mapping_id': 'closed, and kept until retention removes them',
  'changed_rows.mapping_id': 'removed',
  'dead_letters.mapping_id': 'removed',
  'doubts.mapping_id': 'removed',
  'fed_mappings.mapping_id': 'removed',
  'guards.mapping_id': 'kept with their runs, which have ended',
  'partitions.mapping_id': 'kept until retention removes them: they have counts',
  'positions.mapping_id': 'removed',
  'record_blocks.mapping_id': 'removed',
  'removal_plans.mapping_id': 'replaced, and kept until retention removes them',
  'seen_columns.mapping_id': 'removed',
  'waiting.mapping_id': 'removed',
};

it('knows of each table whose rows belong to a mapping what becomes of them when the mapping is forgotten', async () => {
  expect(
    await columnsWhere(`column_name = 'mapping_id'`).then((names) => names.sort()),
    'Let src/ledger/forget remove the rows, and add the column to MAPPINGS.',
  ).toEqual(Object.keys(MAPPINGS).sort());
});

/** Tables that retention leaves alone, by the reason why they do not grow, or why they must be kept. */
const KEPT: Readonly<Record<string, string>> = {
  'a row for each thing that files declare':
    'mappings seen_columns positions sync_platforms tenant_lists sync_rates awaited_syncs schedules schema_definitions change_feeds fed_mappings',
  'a row for each account, or for each process, sync or run while it works': 'platform_retry_after senders sync_leases',
  'a row for each problem that a sync has had, of a few kinds, and for each target': 'alerts alert_deliveries',
  'a row for each tenant of the platform': 'tenants',
  'a small row for each sync and day, and no end of what they show': 'sync_days',
  'what is known of records, however old': 'record_blocks waiting dead_letters',
  'removed as soon as nothing needs them': 'sync_files run_tenants removals changed_rows',
  'a row for each migration': 'migrations migrations_lock',
};

it('removes old rows of each table, or is told why not', async () => {
  const tables = await the.database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'partner_sync'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  const prune = readFileSync(join(ROOT, 'src/ledger/retention/prune.ts'), 'utf8');
  const pruned = [...prune.matchAll(/(?:DELETE FROM |deletion\('|deleteRows\(trx, ')([a-z_]+)/g)].map(
    ([, name]) => name!,
  );
  const kept = Object.values(KEPT).flatMap((names) => names.split(' '));
  expect(pruned).toContain('runs');
  expect(
    tables.map(({ name }) => name),
    'Let src/ledger/retention remove the rows once they are old, or add the table to KEPT with the reason.',
  ).toEqual([...new Set(pruned), ...kept].sort());
});
