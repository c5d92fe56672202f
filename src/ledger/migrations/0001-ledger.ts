/** The tables of the ledger (docs/architecture.md, "The tables of the ledger"). */
import type { Knex } from 'knex';
import { OPERATING_TABLES } from './0001-ledger/operating-tables.js';
import { RECORD_TABLES } from './0001-ledger/record-tables.js';
import { RUN_TABLES } from './0001-ledger/run-tables.js';

export const name = '0001-ledger';

export async function up(knex: Knex): Promise<void> {
  for (const tables of [RUN_TABLES, RECORD_TABLES, OPERATING_TABLES]) await knex.raw(tables);
}
