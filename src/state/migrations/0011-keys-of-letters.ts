/** Dead letters are told apart by a hash of their row's key: a key may be longer than an entry of an index. */
import type { Knex } from 'knex';

export const name = '0011-keys-of-letters';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE dead_letters DROP CONSTRAINT dead_letters_mapping_id_source_key_key, ADD COLUMN key_hash bytea;
    UPDATE dead_letters SET key_hash = sha256(convert_to(to_jsonb(source_key)::text, 'UTF8'));
    ALTER TABLE dead_letters ALTER COLUMN key_hash SET NOT NULL, ADD UNIQUE (mapping_id, key_hash);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE dead_letters DROP COLUMN key_hash, ADD UNIQUE (mapping_id, source_key)');
}
