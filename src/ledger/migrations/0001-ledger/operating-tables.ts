/** What running for years takes: schema drift, limits of the fleet, alerts, definitions, the audit. */
export const OPERATING_TABLES = `
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
    -- Its requests that have no response yet: whoever joins leaves room for them.
    under_way integer NOT NULL DEFAULT 0,
    joined_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    -- Of a limit below the number of senders: since when this one has had its turn, or has been waiting for it.
    turn_since timestamptz,
    waiting_since timestamptz,
    PRIMARY KEY (sync, process)
  );
  -- Limits that were set at run time, instead of those in sync.yaml; NULL: as sync.yaml says.
  CREATE TABLE sync_rates (
    sync text PRIMARY KEY,
    at_once integer CHECK (at_once >= 1),
    per_second double precision CHECK (per_second > 0)
  );
  -- Until when the platform's Retry-After holds all requests of an account.
  CREATE TABLE platform_retry_after (
    account text PRIMARY KEY,
    until timestamptz NOT NULL,
    -- When the first of several Retry-Afters in close succession was named.
    since timestamptz NOT NULL DEFAULT now()
  );
  -- What is wrong with a sync, or was: one row for each kind of problem, by which a change is detected.
  CREATE TABLE alerts (
    sync text NOT NULL,
    problem text NOT NULL,
    -- A sentence of names and counts, as it was last true.
    what text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    -- NULL while it is wrong.
    ended_at timestamptz,
    -- Raised by each change that leads to a notification: it begins, it has lasted for another day, it is over.
    version integer NOT NULL DEFAULT 1,
    -- The version with which it last began.
    opened_version integer NOT NULL DEFAULT 1,
    changed_at timestamptz NOT NULL DEFAULT now(),
    evaluated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (sync, problem)
  );
  -- Since when runs of a sync are expected, whether it has run or not: when its schedules were first applied, or its
  -- alerts evaluated.
  CREATE TABLE awaited_syncs (
    sync text PRIMARY KEY,
    since timestamptz NOT NULL DEFAULT now()
  );
  -- The schedules of syncs, as they were seen in Temporal.
  CREATE TABLE schedules (
    -- In Temporal.
    id text PRIMARY KEY,
    sync text NOT NULL,
    name text NOT NULL,
    -- When it was first seen to be paused; NULL while it is not.
    paused_since timestamptz,
    -- What Temporal has as the note of a paused one: why, and by whom; NULL if nobody has said.
    note text,
    -- Runs that it has not started since it was created: because one was active, and because an outage lasted too long.
    skipped integer NOT NULL DEFAULT 0,
    missed integer NOT NULL DEFAULT 0,
    -- When one of the two was last seen to have grown; NULL if both are 0.
    not_started_at timestamptz,
    seen_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX schedules_by_sync ON schedules (sync);
  -- Which version a target has got. It is written after the delivery, so one may arrive twice, and none is lost.
  CREATE TABLE alert_deliveries (
    sync text NOT NULL,
    problem text NOT NULL,
    -- A hash of the target's address, which is a secret.
    target text NOT NULL,
    delivered_version integer NOT NULL,
    delivered_at timestamptz,
    PRIMARY KEY (sync, problem, target),
    FOREIGN KEY (sync, problem) REFERENCES alerts
  );

  -- The platform that a sync delivers to: what is known of its records is of that one.
  CREATE TABLE sync_platforms (
    sync text PRIMARY KEY,
    address text NOT NULL
  );

  -- How a sync tells the tenants of rows, and how often that has moved rows to another one (mappings/tenant-lists.ts).
  CREATE TABLE tenant_lists (
    sync text PRIMARY KEY,
    hash text NOT NULL, -- of what was noted last
    list json NOT NULL, -- also with values that are not listed any more
    moves integer NOT NULL DEFAULT 0
  );

  -- How a run tells them, until it ends: all its processes go by this.
  CREATE TABLE run_tenants (
    run_id bigint PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    list json NOT NULL,
    moves integer NOT NULL
  );

  -- Schema definitions that were pushed.
  CREATE TABLE schema_definitions (
    platform text NOT NULL, -- its address
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
    subject jsonb NOT NULL DEFAULT '{}',
    -- What an Update is told apart by, which is carried out once more if its answer is lost; NULL where the action has a
    -- key of its own.
    key text
  );
  CREATE INDEX audit_by_sync ON audit (sync, at);
  CREATE UNIQUE INDEX audit_keys ON audit (key) WHERE key IS NOT NULL;
  -- Rights would not do: the program owns its tables.
  CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      IF TG_OP = 'DELETE' AND current_setting('partner_sync.prunes_audit', true) = 'on' THEN RETURN NULL; END IF;
      RAISE EXCEPTION 'the audit is append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
    END
  $body$;
  CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit EXECUTE FUNCTION keep_audit();
`;
