/** Remembers the columns that a mapping's table or query had, so that a later run can say what changed. */
import type { Knex } from 'knex';

export const name = '0005-seen-columns';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE seen_columns (
      mapping_id smallint PRIMARY KEY REFERENCES mappings,
      -- The table or query that they are of: another one has nothing to be compared with.
      relation text NOT NULL,
      columns json NOT NULL,
      seen_at timestamptz NOT NULL DEFAULT now()
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE seen_columns');
}
