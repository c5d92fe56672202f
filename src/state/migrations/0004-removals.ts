/** What mirror runs found gone: plans that wait for approval or are carried out, and the records in them. */
import type { Knex } from 'knex';

export const name = '0004-removals';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE removal_plans (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      run_id bigint NOT NULL REFERENCES runs,
      mapping_id smallint NOT NULL REFERENCES mappings,
      -- What is sent for each record, but for its id: an approval is for nothing else.
      action text NOT NULL,
      -- finding: the ledger is being looked through; held: waits for approval; empty: the source has no row at all;
      -- due: to be carried out; done: carried out; replaced: a later plan took its place.
      state text NOT NULL DEFAULT 'finding' CHECK (state IN ('finding', 'held', 'empty', 'due', 'done', 'replaced')),
      -- How far the ledger's blocks are looked through.
      walked_tenant integer NOT NULL DEFAULT 0,
      walked_low bytea NOT NULL DEFAULT '',
      -- Counted once, when the ledger is looked through.
      records bigint NOT NULL DEFAULT 0,
      accepted bigint NOT NULL DEFAULT 0,
      approved_at timestamptz,
      UNIQUE (run_id, mapping_id)
    );
    CREATE INDEX removal_plans_by_mapping ON removal_plans (mapping_id, id);
    CREATE TABLE removals (
      plan_id bigint NOT NULL REFERENCES removal_plans,
      tenant_id integer NOT NULL REFERENCES tenants,
      external_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (plan_id, tenant_id, external_id)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE removals, removal_plans');
}
