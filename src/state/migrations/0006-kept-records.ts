/** A mapping may keep no records in the ledger. */
import type { Knex } from 'knex';

export const name = '0006-kept-records';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE mappings ADD COLUMN keeps_records boolean NOT NULL DEFAULT true');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE mappings DROP COLUMN keeps_records');
}
