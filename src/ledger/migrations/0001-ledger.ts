/** The tables of the ledger (docs/architecture.md, "The tables of the ledger"). */
import type { Knex } from 'knex';

export const name = '0001-ledger';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE mappings (
      id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      sync text NOT NULL,
      name text NOT NULL,
      -- Whether the mapping's records are in record_blocks (docs/adr/0020-ledger-off.md).
      keeps_records boolean NOT NULL DEFAULT true,
      UNIQUE (sync, name)
    );
    -- The platform's customers.
    CREATE TABLE tenants (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      platform_id text NOT NULL UNIQUE
    );
    -- Orders readings without clocks: a number is drawn before and after each reading. A record whose reading ended
    -- with number n may only be replaced by a reading that began after n.
    CREATE SEQUENCE read_sequence;

    CREATE TABLE runs (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      sync text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('sync', 'backfill')),
      mode text NOT NULL,
      input jsonb NOT NULL,
      mapping_version text NOT NULL,
      -- The files that it goes by (sync_files), which are removed after its end; NULL if it failed before it had any.
      files_id bigint,
      workflow_id text NOT NULL,
      first_execution_run_id text NOT NULL UNIQUE,
      -- How it was started: by a schedule, a command, or something else, such as the Web UI; and by which schedule or
      -- whom, if that is known.
      trigger text NOT NULL CHECK (trigger IN ('schedule', 'cli', 'other')),
      started_by text,
      started_at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz,
      outcome text CHECK (outcome IN ('complete', 'complete_with_dead_letters', 'incomplete', 'failed')),
      -- Why it failed: the workflow that knows may be deleted by then.
      failure_code text,
      failure_message text,
      -- While it works: the code with which a step failed last, and since when steps have been failing.
      trouble_code text,
      trouble_since timestamptz,
      trouble_at timestamptz,
      -- What it reported: counts and names, no value of a row.
      report json
    );
    CREATE INDEX runs_by_sync ON runs (sync, id);
    -- Retention takes the runs that ended first; the report of a schedule's runs looks for its last good one.
    CREATE INDEX runs_by_end ON runs (sync, ended_at) WHERE ended_at IS NOT NULL;
    CREATE INDEX runs_by_schedule ON runs (started_by, id) WHERE trigger = 'schedule';
    -- What a sync is judged by (views/sync-state.ts), however many runs it has had.
    CREATE INDEX runs_successes ON runs (sync, ended_at)
      WHERE kind = 'sync' AND mode <> 'sample' AND outcome IN ('complete', 'complete_with_dead_letters');
    CREATE INDEX runs_bad ON runs (sync, ended_at) WHERE kind = 'sync' AND mode <> 'sample'
      AND outcome IN ('failed', 'incomplete') AND failure_code IS DISTINCT FROM 'run_in_progress';
    CREATE INDEX runs_scheduled ON runs (sync, started_at)
      WHERE trigger = 'schedule' AND ended_at IS NOT NULL AND failure_code IS DISTINCT FROM 'run_in_progress';
    -- Each claim asks which runs have not ended.
    CREATE INDEX runs_open ON runs (id) WHERE ended_at IS NULL;

    -- The files of syncs as runs began with them, without secrets, while open runs go by them.
    CREATE TABLE sync_files (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      sync text NOT NULL,
      -- SHA-256 of the files.
      hash text NOT NULL,
      -- As they are parsed, with variables as they are written: json, not jsonb, so that the keys stay in their order.
      files json NOT NULL,
      -- When a run last began with them.
      begun_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (sync, hash)
    );

    -- One run of a sync at a time, whichever trigger started it.
    CREATE TABLE sync_leases (
      sync text PRIMARY KEY,
      run_id bigint NOT NULL UNIQUE REFERENCES runs,
      taken_at timestamptz NOT NULL DEFAULT now()
    );

    -- What a run reads of a mapping in one piece.
    CREATE TABLE partitions (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      run_id bigint NOT NULL REFERENCES runs,
      mapping_id smallint NOT NULL REFERENCES mappings,
      -- planned: rows to read, in order; first_pass: the same rows, in the first of two passes; retries: rows that are
      -- read again by their keys; removals: records whose rows have vanished.
      kind text NOT NULL CHECK (kind IN ('planned', 'first_pass', 'retries', 'removals')),
      -- The order among the partitions of one kind.
      no integer NOT NULL DEFAULT 0,
      by_cursor boolean NOT NULL,
      moves_position boolean NOT NULL,
      -- What is read: cursor_from <= cursor < cursor_before, after_key < key <= through_key, or these external ids.
      cursor_from text,
      cursor_before text,
      after_key text[],
      through_key text[],
      external_ids text[],
      -- The resume point: up to where the rows have their outcomes; only a checkpoint moves it. The key is that of the
      -- last row; how many of the external ids are done; the id of the last dead letter (of a replay); tenant and
      -- external id of the last record (of removals).
      resume_cursor text,
      resume_key text[],
      -- Rows of dead letters that were looked for and are gone; their dead letters were closed.
      rows_gone bigint NOT NULL DEFAULT 0,
      done boolean NOT NULL DEFAULT false,
      -- Raised by each attempt that takes the partition over: an older attempt that was frozen cannot write any more.
      fencing_token integer NOT NULL DEFAULT 0,
      -- About how many rows the run will have read of the mapping, as far as the source's statistics say; in one of its
      -- partitions.
      expected_rows bigint,
      started_at timestamptz,
      updated_at timestamptz,
      UNIQUE (run_id, mapping_id, kind, no)
    );
    CREATE INDEX partitions_by_mapping ON partitions (mapping_id, run_id);

    -- What became of the rows of a partition; read is the sum of the others.
    CREATE TABLE partition_counts (
      partition_id bigint NOT NULL REFERENCES partitions,
      tenant_id integer NOT NULL, -- 0: rows that named no known tenant
      read bigint NOT NULL DEFAULT 0,
      accepted bigint NOT NULL DEFAULT 0,
      unchanged bigint NOT NULL DEFAULT 0,
      waiting bigint NOT NULL DEFAULT 0,
      dead_lettered bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (partition_id, tenant_id)
    );

    -- How far incremental runs have read a mapping.
    CREATE TABLE positions (
      mapping_id smallint PRIMARY KEY REFERENCES mappings,
      cursor text NOT NULL,
      key text[] NOT NULL,
      run_id bigint NOT NULL REFERENCES runs,
      moved_at timestamptz NOT NULL DEFAULT now()
    );
    -- Retention deletes runs and partitions. Without an index, the check of each foreign key would read its whole table
    -- for every deleted row.
    CREATE INDEX positions_by_run ON positions (run_id);

    -- intended: written before the POST; sent: the platform gave it an id; pending: the platform keeps some of its
    -- records until their parents arrive; settled: every record has an outcome; superseded: split or given up, its
    -- records are sent again in other batches. Records of a batch in one of the first three states are in no other batch.
    CREATE TABLE batches (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      -- That of the partition, whose foreign key stands for this one: a second would need an index of its own.
      run_id bigint NOT NULL,
      partition_id bigint NOT NULL REFERENCES partitions,
      mapping_id smallint NOT NULL REFERENCES mappings,
      tenant_id integer NOT NULL REFERENCES tenants,
      state text NOT NULL CHECK (state IN ('intended', 'sent', 'pending', 'settled', 'superseded')),
      platform_batch_id text,
      records integer NOT NULL,
      -- The read sequence number drawn after its rows had been read.
      read_seq bigint NOT NULL,
      -- The records without an outcome, and the content hashes that were sent (16 bytes each, in the same order). They
      -- are kept while the batch is open, so that another process can settle it.
      external_ids json,
      content_hashes bytea,
      -- The lowest and the highest of its external ids, in the form of record_blocks.low: a claim reads only batches
      -- that its own records may be in.
      low bytea,
      high bytea,
      intended_at timestamptz NOT NULL DEFAULT now(),
      sent_at timestamptz,
      settled_at timestamptz
    );
    ALTER TABLE batches ALTER COLUMN external_ids SET STORAGE EXTERNAL, ALTER COLUMN content_hashes SET STORAGE EXTERNAL;
    CREATE INDEX batches_open ON batches (mapping_id, partition_id) WHERE state IN ('intended', 'sent');
    CREATE INDEX batches_pending ON batches (mapping_id) WHERE state = 'pending';
    CREATE INDEX batches_sent ON batches (run_id) WHERE state = 'sent';
    CREATE INDEX batches_by_partition ON batches (partition_id);
    CREATE INDEX batches_by_end ON batches (mapping_id, settled_at) WHERE settled_at IS NOT NULL;

    -- What is known of each record that was sent, in blocks of neighbours (src/ledger/record-index). The text is stored
    -- inline and uncompressed: it is mostly hashes.
    CREATE TABLE record_blocks (
      mapping_id smallint NOT NULL,
      tenant_id integer NOT NULL,
      -- The block covers the external ids from this one up to the next block's (in the order of record-key.ts).
      low bytea NOT NULL,
      -- How many of the records have an accepted hash.
      accepted integer NOT NULL,
      -- JSON: SELECT records::json.
      records text NOT NULL,
      PRIMARY KEY (mapping_id, tenant_id, low)
    ) WITH (toast_tuple_target = 8160);
    ALTER TABLE record_blocks ALTER COLUMN records SET STORAGE EXTERNAL;

    -- Records without a final outcome. Those with a batch_id are pending: the platform keeps them until their parents
    -- arrive. The others are queued: their rows are read and sent again.
    CREATE TABLE waiting (
      mapping_id smallint NOT NULL REFERENCES mappings,
      tenant_id integer NOT NULL REFERENCES tenants,
      external_id text NOT NULL,
      source_key text[] NOT NULL,
      reason text NOT NULL CHECK (reason IN (
        -- Pending: its parent may come, or will not as things are.
        'dependency', 'parent_missing', 'parent_filtered', 'parent_rejected', 'parent_in_other_tenant', 'parent_unknown',
        -- Queued: it was in another batch; the platform has let go of it, or rejected it, while it lacked a parent; it
        -- cannot be told whether the platform has accepted it.
        'busy', 'lacks_parent', 'unknown')),
      batch_id bigint REFERENCES batches,
      partition_id bigint NOT NULL REFERENCES partitions,
      -- What the batch was sent with, 32 hex digits.
      content_hash text,
      -- The parents that it waits for, [{"schemaName", "externalId"}].
      missing jsonb,
      -- The platform's message (masked), if it rejected the record for anything but the missing parent.
      rejection text,
      -- When the platform lets the record go, if it has said so.
      expires_at timestamptz,
      -- The read sequence number drawn after the row had been read: an older reading does not end this wait.
      read_seq bigint NOT NULL,
      -- Whether the counts of the partition have the record as waiting.
      counted boolean NOT NULL,
      -- The row has changed while the record was pending: it is read and sent again once the record is free.
      changed boolean NOT NULL DEFAULT false,
      -- How often the record was sent in vain; a first sending counts if its outcome was unknown.
      tries integer NOT NULL DEFAULT 0,
      -- When it is sent again; a pending record even if the platform still lists it then.
      due_at timestamptz NOT NULL DEFAULT now(),
      since timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (mapping_id, tenant_id, external_id)
    );
    CREATE INDEX waiting_by_partition ON waiting (partition_id);
    CREATE INDEX waiting_by_batch ON waiting (batch_id) WHERE batch_id IS NOT NULL;
    CREATE INDEX waiting_by_age ON waiting (mapping_id, since);
    CREATE INDEX waiting_due ON waiting (mapping_id, due_at) WHERE batch_id IS NULL;

    -- One dead letter for each source row that could not be delivered. No value of the row is kept, only the shape of
    -- the offending one. There are no foreign keys: they would be checked row by row. Mappings are never deleted, and
    -- retention keeps the runs of dead letters.
    CREATE TABLE dead_letters (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      mapping_id smallint NOT NULL,
      tenant_id integer NOT NULL,
      source_key text[] NOT NULL,
      -- SHA-256 of the key as JSON: a key may be too long for an index.
      key_hash bytea NOT NULL,
      external_id text,
      mapping_version text NOT NULL,
      code text NOT NULL,
      pointer text NOT NULL,
      rule text NOT NULL,
      reason text NOT NULL,
      shape text NOT NULL,
      -- The parents that were not delivered when it was written, [{"schemaName", "externalId"}]; NULL where none was
      -- missing.
      missing jsonb,
      run_id bigint NOT NULL,
      read_seq bigint NOT NULL,
      times integer NOT NULL DEFAULT 1,
      first_seen timestamptz NOT NULL DEFAULT now(),
      last_seen timestamptz NOT NULL DEFAULT now(),
      UNIQUE (mapping_id, key_hash)
    );
    CREATE INDEX dead_letters_by_record ON dead_letters (mapping_id, tenant_id, external_id);
    CREATE INDEX dead_letters_by_run ON dead_letters (run_id);
    CREATE INDEX dead_letters_by_code ON dead_letters (mapping_id, code, id);
    CREATE INDEX dead_letters_lacking_parents ON dead_letters (mapping_id, id) WHERE missing IS NOT NULL;

    -- What a guarded run has done to the records of a mapping, and what it is on hold for.
    CREATE TABLE guards (
      run_id bigint NOT NULL REFERENCES runs,
      mapping_id smallint NOT NULL REFERENCES mappings,
      -- Records of the mapping that the platform had accepted when the run began with it.
      accepted bigint NOT NULL,
      -- Those of them that the run has claimed with other content.
      changed bigint NOT NULL DEFAULT 0,
      -- Counts, and keys of some of the rows.
      hold json,
      examples text[],
      hold_at timestamptz,
      approved_at timestamptz,
      PRIMARY KEY (run_id, mapping_id)
    );
    -- The records of a mapping whose rows a mirror run found vanished.
    CREATE TABLE removal_plans (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      run_id bigint NOT NULL REFERENCES runs,
      mapping_id smallint NOT NULL REFERENCES mappings,
      -- What is sent for each record, except its id: an approval is for this action only.
      action text NOT NULL,
      -- finding: the records are looked through; awaiting_approval: a person has to approve it; empty: nothing is done,
      -- because the source has no row at all; due: to be carried out; done: carried out; replaced: by a later plan.
      state text NOT NULL DEFAULT 'finding'
        CHECK (state IN ('finding', 'awaiting_approval', 'empty', 'due', 'done', 'replaced')),
      -- While the state is finding: the records before this place have been looked at.
      next_tenant integer NOT NULL DEFAULT 0,
      next_id text NOT NULL DEFAULT '',
      -- Counted when all records are looked through: those of the plan, and all accepted ones of the mapping.
      records bigint NOT NULL DEFAULT 0,
      accepted bigint NOT NULL DEFAULT 0,
      approved_at timestamptz,
      UNIQUE (run_id, mapping_id)
    );
    CREATE INDEX removal_plans_by_mapping ON removal_plans (mapping_id, id);
    -- The records of a plan; deleted when it is done.
    CREATE TABLE removals (
      plan_id bigint NOT NULL REFERENCES removal_plans,
      tenant_id integer NOT NULL REFERENCES tenants,
      external_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (plan_id, tenant_id, external_id)
    );

    -- The columns that a mapping's table or query had when a run last accepted them.
    CREATE TABLE seen_columns (
      mapping_id smallint PRIMARY KEY REFERENCES mappings,
      -- The table or query that they are of: columns of another one are not compared.
      relation text NOT NULL,
      columns json NOT NULL,
      seen_at timestamptz NOT NULL DEFAULT now()
    );

    -- The processes that send requests for a sync now. Rows that are no longer seen are those of dead processes.
    CREATE TABLE senders (
      sync text NOT NULL,
      process uuid NOT NULL,
      -- The account of the platform: its base URL, and what tells a tenant's own token from another's.
      account text NOT NULL,
      joined_at timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (sync, process)
    );
    -- Limits that were set at run time, instead of those in sync.yaml; NULL: as sync.yaml says.
    CREATE TABLE sync_rates (
      sync text PRIMARY KEY,
      at_once integer CHECK (at_once >= 1),
      per_second double precision CHECK (per_second > 0)
    );
    -- Until when the platform wants nothing to be sent with an account (Retry-After).
    CREATE TABLE platform_busy (
      account text PRIMARY KEY,
      until timestamptz NOT NULL,
      -- Since when it has been so again and again.
      since timestamptz NOT NULL DEFAULT now()
    );
    -- What is wrong with a sync, or was: one row for each kind of problem, by which a change is noticed.
    CREATE TABLE alerts (
      sync text NOT NULL,
      problem text NOT NULL,
      -- A sentence of names and counts, as it was last true.
      what text NOT NULL,
      since timestamptz NOT NULL DEFAULT now(),
      -- NULL while it is wrong.
      ended_at timestamptz,
      -- Raised by each change that people are told of: it begins, it has lasted for another day, it is over.
      version integer NOT NULL DEFAULT 1,
      -- The version with which it last began.
      opened_version integer NOT NULL DEFAULT 1,
      changed_at timestamptz NOT NULL DEFAULT now(),
      looked_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (sync, problem)
    );
    -- When a sync was first looked at that had not run by then: nothing else says for how long it should have.
    CREATE TABLE awaited_syncs (
      sync text PRIMARY KEY,
      since timestamptz NOT NULL DEFAULT now()
    );
    -- Which version a target knows. It is written after the notice has arrived, so one may arrive twice, and none is lost.
    CREATE TABLE alert_deliveries (
      sync text NOT NULL,
      problem text NOT NULL,
      -- A hash of the target's address, which is a secret.
      target text NOT NULL,
      told_version integer NOT NULL,
      told_at timestamptz,
      PRIMARY KEY (sync, problem, target),
      FOREIGN KEY (sync, problem) REFERENCES alerts
    );

    -- Schema definitions that were pushed.
    CREATE TABLE schema_definitions (
      platform text NOT NULL, -- base URL
      name text NOT NULL,
      platform_id text NOT NULL,
      definition_hash text NOT NULL, -- empty: the platform had the name before us
      -- What was pushed: json, not jsonb, so that the keys stay in their order.
      definition json,
      pushed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (platform, name)
    );

    -- What people and commands have done, besides what the runs of schedules do. Counts, names and causes, and no id of
    -- a record.
    CREATE TABLE audit (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now(),
      sync text NOT NULL,
      action text NOT NULL,
      -- As they name themselves, such as an account and a machine; NULL where nobody has said.
      who text,
      -- cli: a command; temporal: the Web UI or another client; worker: a run, by itself.
      origin text NOT NULL CHECK (origin IN ('cli', 'temporal', 'worker')),
      subject jsonb NOT NULL DEFAULT '{}'
    );
    CREATE INDEX audit_by_sync ON audit (sync, at);
    -- Rights would not do: the program owns its tables.
    CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $body$
      BEGIN
        IF TG_OP = 'DELETE' AND current_setting('partner_sync.prunes_audit', true) = 'on' THEN RETURN NULL; END IF;
        RAISE EXCEPTION 'the audit is append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
      END
    $body$;
    CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit EXECUTE FUNCTION keep_audit();
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE audit, platform_busy, sync_rates, senders, schema_definitions, awaited_syncs, alert_deliveries, alerts, seen_columns,
      removals, removal_plans, guards, dead_letters, waiting, record_blocks, batches, positions, partition_counts, partitions,
      sync_leases, sync_files, runs, tenants, mappings;
    DROP FUNCTION keep_audit();
    DROP SEQUENCE read_sequence;
  `);
}
