/** Dead letters without foreign keys: each was checked by itself, for mappings and runs that are never deleted. */
import type { Knex } from 'knex';

export const name = '0012-cheaper-dead-letters';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'ALTER TABLE dead_letters DROP CONSTRAINT dead_letters_mapping_id_fkey, DROP CONSTRAINT dead_letters_run_id_fkey',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'ALTER TABLE dead_letters ADD FOREIGN KEY (mapping_id) REFERENCES mappings, ADD FOREIGN KEY (run_id) REFERENCES runs',
  );
}
