/** Children know why their parents do not come; dead letters are found by their code. */
import type { Knex } from 'knex';

export const name = '0002-parents';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE waiting DROP CONSTRAINT waiting_reason_check;
    -- parent_...: the platform holds the record, and its parent will not come as things are.
    ALTER TABLE waiting ADD CONSTRAINT waiting_reason_check CHECK (reason IN ('dependency', 'busy', 'expired', 'unclear',
      'parent_missing', 'parent_filtered', 'parent_rejected', 'parent_in_other_tenant'));
    CREATE INDEX dead_letters_by_code ON dead_letters (mapping_id, code, id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP INDEX dead_letters_by_code;
    UPDATE waiting SET reason = 'dependency' WHERE reason LIKE 'parent%';
    ALTER TABLE waiting DROP CONSTRAINT waiting_reason_check;
    ALTER TABLE waiting ADD CONSTRAINT waiting_reason_check CHECK (reason IN ('dependency', 'busy', 'expired', 'unclear'));
  `);
}
