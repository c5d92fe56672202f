/** Runs: what they read, how far they have come, and the batches that they have sent. */
export const RUN_TABLES = `
  CREATE TABLE mappings (
    id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sync text NOT NULL,
    name text NOT NULL,
    -- Whether the mapping's records are in record_blocks (docs/adr/0020-ledger-off.md).
    keeps_records boolean NOT NULL DEFAULT true,
    -- What its external ids are made of, as the last run knew it, and since when they have been made in another way than
    -- before; NULL if they never were, or all records have been looked through since, and those with earlier ids marked.
    id_rule text,
    ids_changed_at timestamptz,
    -- The name of the schema definition that its records were sent to; NULL before a run has begun with it.
    schema_name text,
    -- What the source had by this moment was read, and each row of it has an outcome, by a run that has ended; NULL before
    -- the first one.
    read_until timestamptz,
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
    -- The files that it uses (sync_files), which are removed after its end; NULL if it failed before it had any.
    files_id bigint,
    -- The address of the platform that it delivers to; NULL before that was looked at.
    platform text,
    workflow_id text NOT NULL,
    first_execution_run_id text NOT NULL,
    -- How many runs the workflow had ended before this one: one in mode live makes a report each day.
    runs_before integer NOT NULL DEFAULT 0,
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
    -- While it works: the code with which a step failed last, since when steps have been failing, and when one failed last.
    retrying_code text,
    retrying_since timestamptz,
    last_retry_at timestamptz,
    -- While it works: the mappings that it leaves out, [{"mapping", "code", "message"}]; NULL before that is known.
    skipped json,
    -- What it reported: counts and names, no value of a row.
    report json,
    UNIQUE (first_execution_run_id, runs_before)
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
  CREATE INDEX runs_refused ON runs (sync, ended_at) WHERE failure_code = 'run_in_progress';
  CREATE INDEX runs_scheduled ON runs (sync, started_at)
    WHERE trigger = 'schedule' AND ended_at IS NOT NULL AND failure_code IS DISTINCT FROM 'run_in_progress';
  -- Each claim asks which runs have not ended.
  CREATE INDEX runs_open ON runs (id) WHERE ended_at IS NULL;

  -- The files of syncs as runs began with them, without secrets, while open runs use them.
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

  -- One run of a sync at a time, whichever trigger started it; one in mode live counts apart.
  CREATE TABLE sync_leases (
    sync text NOT NULL,
    is_live boolean NOT NULL,
    run_id bigint NOT NULL UNIQUE REFERENCES runs,
    taken_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (sync, is_live)
  );

  -- What a run reads of a mapping in one piece.
  CREATE TABLE partitions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id bigint NOT NULL REFERENCES runs,
    mapping_id smallint NOT NULL REFERENCES mappings,
    -- See PartitionKind in src/ledger/runs/resume-point.ts.
    kind text NOT NULL CHECK (kind IN ('planned', 'first_pass', 'dead_letters', 'changed_rows', 'small_tenants', 'by_key',
      'removals')),
    -- The order among the partitions of one kind.
    no integer NOT NULL DEFAULT 0,
    by_cursor boolean NOT NULL,
    moves_position boolean NOT NULL,
    -- If it moves the position: positions.reads.
    reads text,
    -- What is read: cursor_from <= cursor < cursor_before, after_key < key <= through_key (of dead letters: their ids;
    -- of changed rows: their seq), or these external ids.
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
    -- About how many rows of the mapping the run will read, by the source's statistics. Only one of the run's partitions
    -- of the mapping has the number.
    expected_rows bigint,
    -- What mappings.read_until becomes if the run has read all of its planned partitions of the mapping when it ends.
    read_until timestamptz,
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

  -- What became of the rows of a partition, and how long it took, period by period: a period is from a second to five
  -- minutes long, the longer its run has lasted (src/ledger/runs/periods.ts). The sums over all periods are the counts of the partition.
  CREATE TABLE partition_periods (
    partition_id bigint NOT NULL REFERENCES partitions,
    begins_at timestamptz NOT NULL,
    read bigint NOT NULL,
    accepted bigint NOT NULL,
    unchanged bigint NOT NULL,
    waiting bigint NOT NULL, -- negative: more rows got another outcome than began to wait
    dead_lettered bigint NOT NULL,
    -- How long its chunks took: to be read and mapped, to be sent and settled, and in the ledger. Chunks overlap.
    reading_ms bigint NOT NULL,
    sending_ms bigint NOT NULL,
    ledger_ms bigint NOT NULL,
    PRIMARY KEY (partition_id, begins_at)
  );
  -- The requests to the platform that ended in a period, and how long they took together. Those since the last checkpoint
  -- of a worker that was killed are missing.
  CREATE TABLE partition_requests (
    partition_id bigint NOT NULL REFERENCES partitions,
    begins_at timestamptz NOT NULL,
    operation text NOT NULL,
    -- none: without a complete response
    status text NOT NULL CHECK (status IN ('2xx', '3xx', '4xx', '5xx', 'none')),
    requests integer NOT NULL,
    ms bigint NOT NULL,
    PRIMARY KEY (partition_id, begins_at, operation, status)
  );

  -- The runs of a sync that ended on a day (UTC), by outcome, without those that were refused with run_in_progress; and what
  -- became of the rows that they read. For the trend of weeks, long after the runs themselves were removed.
  CREATE TABLE sync_days (
    sync text NOT NULL,
    day date NOT NULL,
    complete integer NOT NULL,
    complete_with_dead_letters integer NOT NULL,
    incomplete integer NOT NULL,
    failed integer NOT NULL,
    read bigint NOT NULL,
    accepted bigint NOT NULL,
    unchanged bigint NOT NULL,
    waiting bigint NOT NULL,
    dead_lettered bigint NOT NULL,
    PRIMARY KEY (sync, day)
  );

  -- How far incremental runs have read a mapping.
  CREATE TABLE positions (
    mapping_id smallint PRIMARY KEY REFERENCES mappings,
    cursor text NOT NULL,
    -- What the cursor is a value of: a hash of table or query, column, type and zone (src/delivery/cursor-position.ts).
    reads text NOT NULL,
    run_id bigint NOT NULL REFERENCES runs
  );
  -- Retention deletes runs and partitions. Without an index, the check of each foreign key would read its whole table
  -- for every deleted row.
  CREATE INDEX positions_by_run ON positions (run_id);

  -- How far the change feeds of a sync have been read.
  CREATE TABLE change_feeds (
    sync text NOT NULL,
    -- As the files name it: the slot, or the table.
    name text NOT NULL,
    -- NULL: it has not begun. What the texts mean is known to the source alone.
    origin text,
    position text,
    -- What the source keeps of the last confirmation; NULL: nothing.
    confirmed text,
    -- Up to when all changes are noted.
    read_at timestamptz,
    -- Raised by each attempt that reads the feed: an older attempt that was frozen cannot write any more.
    fencing_token integer NOT NULL DEFAULT 1,
    -- As the source said when it was last looked at: bytes that it keeps for the feed, those of them that nobody has read,
    -- how many more it will keep, and why the feed cannot be read.
    seen_at timestamptz,
    kept_bytes bigint,
    unread_bytes bigint,
    bytes_left bigint,
    problem text,
    -- What the files allow the source to keep.
    max_bytes bigint,
    -- Why the feed was given up, until it begins anew.
    given_up text,
    PRIMARY KEY (sync, name)
  );
  -- Mappings whose changed rows a feed tells.
  CREATE TABLE fed_mappings (
    mapping_id smallint PRIMARY KEY REFERENCES mappings,
    feed text NOT NULL,
    -- The table and its key columns, as JSON: what was loaded of others says nothing about these.
    reads text NOT NULL,
    -- Whether every row has been read since the feed began.
    loaded boolean NOT NULL DEFAULT false,
    -- The run that is reading every row.
    load_run_id bigint,
    -- Whether rows may have been deleted without a word of the feed: then the records are looked through.
    missed_deletes boolean NOT NULL DEFAULT true,
    -- The run that has begun to read every row since rows were last deleted like that: those of its own records are there, or the
    -- feed tells that they are gone.
    trusted_run_id bigint,
    -- The removal plan for which they are being looked through.
    search_plan_id bigint
  );
  -- The rows that a feed has named, until they are delivered, or their records removed.
  CREATE SEQUENCE changed_rows_seq;
  CREATE TABLE changed_rows (
    mapping_id smallint NOT NULL REFERENCES mappings,
    -- SHA-256 of the key as JSON: a key may be too long for an index.
    key_hash bytea NOT NULL,
    key text[] NOT NULL,
    -- Grows each time that the row is named: what is settled is one naming.
    seq bigint NOT NULL DEFAULT nextval('changed_rows_seq'),
    recorded_at timestamptz NOT NULL DEFAULT now(),
    -- The removal plan that its record is in.
    plan_id bigint,
    -- The row was delivered, but runs up to this one may have read it as it was before: it is looked at again afterwards.
    after_run bigint,
    PRIMARY KEY (mapping_id, key_hash)
  );
  CREATE INDEX changed_rows_in_order ON changed_rows (mapping_id, seq);

  -- The states, and what moves a batch between them: src/ledger/batches/close-batches.ts. The ledger has a record in one
  -- open batch at most; the platform may still apply one that was given up (docs/guarantees.md).
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

  -- Records that were sent without a response: until then the platform may apply what was sent, with these content hashes
  -- (16 bytes each, in the order of the ids). Meanwhile no other content of theirs is claimed.
  CREATE TABLE doubts (
    run_id bigint NOT NULL,
    mapping_id smallint NOT NULL REFERENCES mappings,
    tenant_id integer NOT NULL REFERENCES tenants,
    external_ids json NOT NULL,
    content_hashes bytea NOT NULL,
    -- As those of batches.
    low bytea NOT NULL,
    high bytea NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    until timestamptz NOT NULL
  );
  CREATE INDEX doubts_by_end ON doubts (mapping_id, until);
`;
