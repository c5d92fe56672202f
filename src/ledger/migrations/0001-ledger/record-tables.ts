/** What is known of records: accepted hashes, waiting records, dead letters, and removals. */
export const RECORD_TABLES = `
  -- What is known of each record that was sent, in blocks of neighbours (src/ledger/record-index). The text is stored
  -- inline and uncompressed: it is mostly hashes. With room in its pages, most updates stay in place: with 500 changed rows a
  -- second, the table takes two times the length of its texts instead of four.
  CREATE TABLE record_blocks (
    mapping_id smallint NOT NULL,
    tenant_id integer NOT NULL,
    -- The block covers the external ids from this one up to the next block's (in the order of record-key.ts).
    low bytea NOT NULL,
    -- How many of the records the platform has accepted, and not as marked as deleted.
    accepted integer NOT NULL,
    -- JSON: SELECT records::json.
    records text NOT NULL,
    PRIMARY KEY (mapping_id, tenant_id, low)
  ) WITH (toast_tuple_target = 8160, fillfactor = 70);
  ALTER TABLE record_blocks ALTER COLUMN records SET STORAGE EXTERNAL;

  -- Records without a final outcome. Those with a batch_id are pending: the platform keeps them until their parents
  -- arrive. The others are queued: their rows are read and sent again. What moves between these states:
  -- src/ledger/waiting/index.ts.
  CREATE TABLE waiting (
    mapping_id smallint NOT NULL REFERENCES mappings,
    tenant_id integer NOT NULL REFERENCES tenants,
    external_id text NOT NULL,
    source_key text[] NOT NULL,
    reason text NOT NULL CHECK (reason IN (
      -- Pending: its parent may come, or will not as things are.
      'dependency', 'parent_missing', 'parent_filtered', 'parent_rejected', 'parent_in_other_tenant', 'parent_unknown',
      -- Queued: another reading of its row was sent or was pending; the platform has dropped it, or rejected it, while it
      -- lacked a parent; it cannot be told whether the platform has accepted it.
      'contended', 'lacks_parent', 'unknown')),
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
    -- Of a pending record: its row may have changed, so it is read and sent again once the record is not pending any more.
    read_again boolean NOT NULL DEFAULT false,
    -- How often the record was sent in vain; a first sending counts if its outcome was unknown.
    tries integer NOT NULL DEFAULT 0,
    -- How often in a row, since it was sent last, it was postponed instead of being sent again.
    waits integer NOT NULL DEFAULT 0,
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
    -- Why it is on hold now: counts, and keys of some of the rows.
    hold json,
    examples text[],
    hold_at timestamptz,
    -- The causes for which somebody has let it go on.
    approved text[] NOT NULL DEFAULT '{}',
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
    -- Whether all records are looked through for it, rather than those of changed rows alone.
    searched boolean NOT NULL DEFAULT false,
    -- While the state is finding: the records before this place have been looked at.
    next_tenant integer NOT NULL DEFAULT 0,
    next_id text NOT NULL DEFAULT '',
    -- Counted when all records are looked through: those of the plan, and all accepted ones of the mapping.
    records bigint NOT NULL DEFAULT 0,
    accepted bigint NOT NULL DEFAULT 0,
    -- The limit for which a person has to approve it.
    exceeded json,
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
`;
