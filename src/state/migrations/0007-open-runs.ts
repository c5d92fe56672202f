/** Runs that are at work are found at once: each claim asks for them. */
import type { Knex } from 'knex';

export const name = '0007-open-runs';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE INDEX runs_open ON runs (id) WHERE ended_at IS NULL');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX runs_open');
}
