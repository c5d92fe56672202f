/** Keeps what was pushed, not its hash alone: so it can be said what changed since. */
import type { Knex } from 'knex';

export const name = '0003-pushed-definitions';

export async function up(knex: Knex): Promise<void> {
  // json, not jsonb: the order of the keys stays as it was written.
  await knex.raw('ALTER TABLE schema_definitions ADD COLUMN definition json');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE schema_definitions DROP COLUMN definition');
}
