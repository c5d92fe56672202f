/** The first shape of the ledger: runs, ranges, positions, batches, records, waiting, dead letters, schema ids. */
import type { Knex } from 'knex';

export const name = '0001-ledger';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE mappings (
      id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      sync text NOT NULL,
      name text NOT NULL,
      UNIQUE (sync, name)
    );
    CREATE TABLE tenants (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      platform_id text NOT NULL UNIQUE
    );
    -- Logical time of reading. A record that was sent at stamp n may only be replaced by what was read wholly after n.
    CREATE SEQUENCE read_stamps;

    CREATE TABLE runs (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      sync text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('sync', 'backfill')),
      mode text NOT NULL,
      input jsonb NOT NULL,
      mapping_version text NOT NULL,
      workflow_id text NOT NULL,
      first_execution_run_id text NOT NULL UNIQUE,
      started_at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz,
      outcome text CHECK (outcome IN ('complete', 'complete_with_dead_letters', 'incomplete', 'failed'))
    );
    CREATE INDEX runs_by_sync ON runs (sync, id);

    -- One run of a sync at a time, whichever trigger started it.
    CREATE TABLE sync_leases (
      sync text PRIMARY KEY,
      run_id bigint NOT NULL REFERENCES runs,
      taken_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE ranges (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      run_id bigint NOT NULL REFERENCES runs,
      mapping_id smallint NOT NULL REFERENCES mappings,
      no integer NOT NULL,
      by_cursor boolean NOT NULL,
      moves_position boolean NOT NULL,
      cursor_from text,
      cursor_before text,
      after_key text[],
      through_key text[],
      external_ids text[],
      -- How far the range is settled; only checkpoint() moves it.
      position_cursor text,
      position_key text[],
      done boolean NOT NULL DEFAULT false,
      -- Raised by each attempt that takes the range over: a frozen older attempt can write no more.
      epoch integer NOT NULL DEFAULT 0,
      started_at timestamptz,
      updated_at timestamptz,
      UNIQUE (run_id, mapping_id, no)
    );

    CREATE TABLE books (
      range_id bigint NOT NULL REFERENCES ranges,
      tenant_id integer NOT NULL, -- 0: the row named no tenant that is known
      read bigint NOT NULL DEFAULT 0,
      accepted bigint NOT NULL DEFAULT 0,
      unchanged bigint NOT NULL DEFAULT 0,
      waiting bigint NOT NULL DEFAULT 0,
      dead_lettered bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (range_id, tenant_id)
    );

    CREATE TABLE positions (
      mapping_id smallint PRIMARY KEY REFERENCES mappings,
      cursor text NOT NULL,
      key text[] NOT NULL,
      run_id bigint NOT NULL REFERENCES runs,
      moved_at timestamptz NOT NULL DEFAULT now()
    );

    -- intended: written before the POST; sent: the platform gave it an id; waiting: only dependencies are open;
    -- settled: every record has its outcome; released: given up, its records are sent anew. A batch in one of the
    -- first three states holds its records: nobody else may send them.
    CREATE TABLE batches (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      run_id bigint NOT NULL REFERENCES runs,
      range_id bigint NOT NULL REFERENCES ranges,
      mapping_id smallint NOT NULL REFERENCES mappings,
      tenant_id integer NOT NULL REFERENCES tenants,
      state text NOT NULL CHECK (state IN ('intended', 'sent', 'waiting', 'settled', 'released')),
      platform_batch_id text,
      records integer NOT NULL,
      -- When its rows were read, by the logical clock.
      read_stamp bigint NOT NULL,
      -- The records that are open still, and the content hashes that were sent (16 bytes each, in the same order):
      -- kept while the batch is open, so that another process can settle it; then dropped.
      external_ids json,
      content_hashes bytea,
      intended_at timestamptz NOT NULL DEFAULT now(),
      sent_at timestamptz,
      settled_at timestamptz
    );
    ALTER TABLE batches ALTER COLUMN external_ids SET STORAGE EXTERNAL, ALTER COLUMN content_hashes SET STORAGE EXTERNAL;
    CREATE INDEX batches_open ON batches (mapping_id, range_id) WHERE state IN ('intended', 'sent');
    CREATE INDEX batches_waiting ON batches (mapping_id) WHERE state = 'waiting';
    CREATE INDEX batches_sent ON batches (run_id) WHERE state = 'sent';

    -- What is known of each record, in blocks of neighbours (record-blocks.ts). The text is kept inline and not
    -- compressed: it is mostly hashes.
    CREATE TABLE record_blocks (
      mapping_id smallint NOT NULL,
      tenant_id integer NOT NULL,
      low bytea NOT NULL,
      accepted integer NOT NULL,
      records text NOT NULL,
      PRIMARY KEY (mapping_id, tenant_id, low)
    ) WITH (toast_tuple_target = 8160);
    ALTER TABLE record_blocks ALTER COLUMN records SET STORAGE EXTERNAL;

    -- Records with no final outcome yet: held by the platform for a parent (dependency, with batch_id), or to be
    -- read and sent again (resend): busy in another batch, read too early, expired, failed without a reason.
    CREATE TABLE waiting (
      mapping_id smallint NOT NULL REFERENCES mappings,
      tenant_id integer NOT NULL REFERENCES tenants,
      external_id text NOT NULL,
      source_key text[] NOT NULL,
      reason text NOT NULL CHECK (reason IN ('dependency', 'busy', 'expired', 'unclear')),
      batch_id bigint REFERENCES batches,
      range_id bigint NOT NULL REFERENCES ranges,
      -- What the batch was sent with, 32 hex digits.
      content_hash text,
      missing jsonb,
      expires_at timestamptz,
      -- When the row was read, by the logical clock: an outcome of an older reading does not end the waiting.
      read_stamp bigint NOT NULL,
      -- Whether the range's books count the record as waiting.
      booked boolean NOT NULL,
      -- The row changed while the platform held the record: read it again once it is free.
      changed boolean NOT NULL DEFAULT false,
      tries integer NOT NULL DEFAULT 0,
      due_at timestamptz NOT NULL DEFAULT now(),
      since timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (mapping_id, tenant_id, external_id)
    );
    CREATE INDEX waiting_by_batch ON waiting (batch_id) WHERE batch_id IS NOT NULL;
    CREATE INDEX waiting_due ON waiting (mapping_id, due_at) WHERE batch_id IS NULL;

    -- One letter a source row. No value of the row is kept, only the shape of the offending one.
    CREATE TABLE dead_letters (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      mapping_id smallint NOT NULL REFERENCES mappings,
      tenant_id integer NOT NULL,
      source_key text[] NOT NULL,
      external_id text,
      mapping_version text NOT NULL,
      code text NOT NULL,
      pointer text NOT NULL,
      rule text NOT NULL,
      reason text NOT NULL,
      shape text NOT NULL,
      run_id bigint NOT NULL REFERENCES runs,
      read_stamp bigint NOT NULL,
      times integer NOT NULL DEFAULT 1,
      first_seen timestamptz NOT NULL DEFAULT now(),
      last_seen timestamptz NOT NULL DEFAULT now(),
      UNIQUE (mapping_id, source_key)
    );
    CREATE INDEX dead_letters_by_record ON dead_letters (mapping_id, tenant_id, external_id);

    CREATE TABLE schema_definitions (
      platform text NOT NULL, -- base URL
      name text NOT NULL,
      platform_id text NOT NULL,
      definition_hash text NOT NULL,
      pushed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (platform, name)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE schema_definitions, dead_letters, waiting, record_blocks, batches, positions, books, ranges, sync_leases,
      runs, tenants, mappings;
    DROP SEQUENCE read_stamps;
  `);
}
