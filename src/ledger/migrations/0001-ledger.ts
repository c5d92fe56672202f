/** The tables of the ledger (docs/architecture.md, "The tables of the ledger"). */
import type { Knex } from 'knex';
import { OPERATION } from './0001-ledger/operation.js';
import { RECORDS } from './0001-ledger/records.js';
import { RUNS } from './0001-ledger/runs.js';

export const name = '0001-ledger';

export async function up(knex: Knex): Promise<void> {
  for (const tables of [RUNS, RECORDS, OPERATION]) await knex.raw(tables);
}
