/** Between which keys the records of an open batch lie: a claim looks at those batches only that its own keys may meet. */
import type { Knex } from 'knex';

export const name = '0008-spans-of-batches';

/** Bytes as in `record_blocks.low`. Batches that were on their way before have none, and are looked at by all. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE batches ADD COLUMN low bytea, ADD COLUMN high bytea');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE batches DROP COLUMN low, DROP COLUMN high');
}
