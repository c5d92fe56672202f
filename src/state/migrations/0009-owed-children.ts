/** Children that are owed to the platform: what each still lacks, so that the delivery of a parent brings them back. */
import type { Knex } from 'knex';

export const name = '0009-owed-children';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE waiting DROP CONSTRAINT waiting_reason_check;
    -- parent_...: the platform holds the record, and its parent will not come as things are.
    ALTER TABLE waiting ADD CONSTRAINT waiting_reason_check CHECK (reason IN ('dependency', 'busy', 'expired', 'unclear',
      'parent_missing', 'parent_filtered', 'parent_rejected', 'parent_in_other_tenant', 'parent_unknown'));
    -- What the platform refused the record for, masked, where its words did not speak of the missing parent.
    ALTER TABLE waiting ADD COLUMN refusal text;
    -- The parents that were not delivered when the letter was written: [{"schemaName", "externalId"}]; NULL: all were.
    ALTER TABLE dead_letters ADD COLUMN missing jsonb;
    CREATE INDEX dead_letters_of_children ON dead_letters (mapping_id, id) WHERE missing IS NOT NULL;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP INDEX dead_letters_of_children;
    ALTER TABLE dead_letters DROP COLUMN missing;
    ALTER TABLE waiting DROP COLUMN refusal;
    UPDATE waiting SET reason = 'dependency' WHERE reason = 'parent_unknown';
    ALTER TABLE waiting DROP CONSTRAINT waiting_reason_check;
    ALTER TABLE waiting ADD CONSTRAINT waiting_reason_check CHECK (reason IN ('dependency', 'busy', 'expired', 'unclear',
      'parent_missing', 'parent_filtered', 'parent_rejected', 'parent_in_other_tenant'));
  `);
}
