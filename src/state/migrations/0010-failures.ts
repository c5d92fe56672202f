/** Why a run failed, for whoever asks the ledger: the workflow that knows may be gone. */
import type { Knex } from 'knex';

export const name = '0010-failures';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE runs ADD failure_code text, ADD failure_message text');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE runs DROP failure_code, DROP failure_message');
}
