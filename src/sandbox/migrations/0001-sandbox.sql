-- The sandbox's tables: the platform account and its tenants; schema definitions, resources and the batches that upload
-- them; automations, segments and the library; channels; what tenants have sent, and their calls. Columns hold the
-- fields of the same name in sections 2 and 4 unless a comment says otherwise.

-- The platform account and its tenants ------------------------------------------------------------------------------

-- A single row: the platform account that this database belongs to.
create table sandbox.platform (
  only_row boolean primary key default true check (only_row),
  id uuid not null
);

-- Tenants come from the fixture and are never deleted.
create table sandbox.tenants (
  id text primary key,
  business_id uuid not null,
  name text not null,
  -- The tenant's id in the partner's own system.
  external_id text,
  created_at timestamptz not null default clock_timestamp(),
  -- When the tenant finished the onboarding wizard (4.1).
  onboarded_at timestamptz
);

-- Schema definitions, resources and batches ---------------------------------------------------------------------------

-- json instead of jsonb: it preserves the order of a schema's properties.
create table sandbox.schema_definitions (
  id uuid primary key,
  platform_id uuid not null,
  name text not null,
  plural_name text not null,
  description text,
  category text not null,
  version_number integer not null,
  reference_schemas text[] not null,
  schema json not null,
  external_id_field text not null,
  fields_to_expose json,
  expose_name_json_path text,
  display_metadata json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint schema_definitions_name_unique unique (platform_id, name)
);

-- No foreign keys: the batch already names the tenant and the schema, and checking them for each row would cost more
-- than the row itself.
create table sandbox.resources (
  tenant_id text not null collate "C",
  schema_id uuid not null,
  external_id text not null collate "C",
  id uuid not null,
  -- The record's fields, with references as plain external ids.
  data jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, schema_id, external_id)
);

create table sandbox.batches (
  id uuid primary key,
  -- The order of acceptance.
  sequence bigint generated always as identity,
  tenant_id text not null references sandbox.tenants,
  schema_id uuid not null,
  on_conflict text not null check (on_conflict in ('upsert', 'reject')),
  ignore_unknown_fields boolean not null,
  -- dependencyWaitTimeout (4.8).
  wait_seconds integer not null,
  -- The body of the upload as received, since json and jsonb refuse some valid JSON; null once it is processed.
  payload text,
  -- Numbers of records.
  total integer not null,
  successful integer not null default 0,
  failed integer not null default 0,
  pending integer not null default 0,
  -- Internal failures so far, and when the next attempt may begin.
  attempts integer not null default 0,
  retry_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  -- Committed together with the batch's outcomes: null means that the batch has not been processed yet.
  started_at timestamptz,
  -- Null while records are pending.
  completed_at timestamptz
);
create index batches_unprocessed on sandbox.batches (sequence) where started_at is null;
-- Used to delete old batches; their errors go with them.
create index batches_completed on sandbox.batches (completed_at) where completed_at is not null;

-- The failed records of a batch.
create table sandbox.record_errors (
  batch_id uuid not null references sandbox.batches on delete cascade,
  -- Position in the upload, from 0.
  record_index integer not null,
  -- Null if the record has no usable one.
  external_id text,
  -- What the record violates: a keyword of JSON Schema, or a rule of the sandbox such as missing_dependency.
  rule text not null,
  reason text not null,
  primary key (batch_id, record_index)
);

-- Records that wait for a parent (section 3).
create table sandbox.pending_resources (
  id uuid primary key,
  -- The order in which records became pending, which is the order in which they are applied.
  sequence bigint generated always as identity,
  batch_id uuid not null references sandbox.batches,
  -- Position in the upload, from 0.
  record_index integer not null,
  tenant_id text not null,
  schema_id uuid not null,
  external_id text not null,
  -- The record as sent, in JSON.
  sent text not null,
  on_conflict text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index pending_resources_batch on sandbox.pending_resources (batch_id);
create index pending_resources_expiry on sandbox.pending_resources (expires_at);

-- The parents that a pending record still lacks: by the schema's name, since the parent's schema definition need not
-- exist yet.
create table sandbox.missing_dependencies (
  pending_id uuid not null references sandbox.pending_resources on delete cascade,
  -- The pending record's tenant, repeated here for the index by parent.
  tenant_id text not null,
  schema_name text not null,
  external_id text not null,
  primary key (pending_id, schema_name, external_id)
);
create index missing_dependencies_parent on sandbox.missing_dependencies (tenant_id, schema_name, external_id);

-- Automations, segments and the library -------------------------------------------------------------------------------

-- Automation templates and segment definitions of the platform account, which 4.6 copies into tenants.
create table sandbox.library_items (
  id uuid primary key,
  type text not null check (type in ('automation', 'segment')),
  -- The item without its id, as the fixture has it.
  content json not null
);

create table sandbox.automations (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  status text not null,
  automation_type text not null,
  trigger_type text not null,
  -- The fields of the answer without a column of their own; queries filter or count by the others.
  content json not null,
  -- The library item that this is a copy of; null for the tenant's own. The same in the next two tables.
  library_item_id uuid references sandbox.library_items,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);

create table sandbox.communication_groups (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  -- The answer of 4.15 without its id.
  content json not null,
  library_item_id uuid references sandbox.library_items,
  primary key (tenant_id, id)
);

-- Segments of people.
create table sandbox.segments (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  name text not null,
  description text not null,
  -- AND-joined groups of conditions (section 2).
  condition_groups json not null,
  library_item_id uuid references sandbox.library_items,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);

-- The results of each library sync (4.6); id is its job id.
create table sandbox.library_jobs (
  tenant_id text not null references sandbox.tenants,
  id uuid not null,
  results json not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);

-- Channels and sending domains ----------------------------------------------------------------------------------------

-- They belong to the platform account, so no tenant is in the key.
create table sandbox.channel_integrations (
  id uuid primary key,
  -- The order of the list (4.12).
  sequence bigint generated always as identity unique,
  name text not null,
  channel_provider text not null,
  channel_integration_type text not null check (channel_integration_type in ('email', 'sms')),
  -- channel_integration_metadata.
  metadata json not null,
  created_at timestamptz not null default clock_timestamp()
);

create table sandbox.channel_accounts (
  tenant_id text not null references sandbox.tenants,
  id uuid not null,
  channel_integration_id uuid not null references sandbox.channel_integrations,
  name text not null,
  -- Empty if the channel has no domain, so that the constraint below covers it.
  domain_prefix text not null,
  -- channelAccountMetadata.
  metadata json not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id),
  constraint channel_accounts_prefix_unique unique (tenant_id, channel_integration_id, domain_prefix)
);

create table sandbox.sending_domains (
  tenant_id text not null references sandbox.tenants,
  id uuid not null,
  apex_domain text not null,
  subdomain text not null,
  user_part text not null,
  email_from_name text not null,
  email_reply_to text,
  make_default_when_verified boolean not null,
  dkim_selector text not null,
  -- PKCS #8 in PEM.
  dkim_private_key text not null,
  dns_records json not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id),
  constraint sending_domains_name_unique unique (tenant_id, apex_domain, subdomain)
);

create table sandbox.phone_numbers (
  tenant_id text not null references sandbox.tenants,
  -- In the form of E.164.
  number text not null,
  -- Whether it sends text messages.
  sms boolean not null,
  -- Whether it takes calls.
  voice boolean not null,
  primary key (tenant_id, number)
);

create table sandbox.sms_registrations (
  tenant_id text primary key references sandbox.tenants,
  id text not null,
  status text not null,
  application json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- What the reports count ----------------------------------------------------------------------------------------------

create table sandbox.sends (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  channel text not null check (channel in ('email', 'sms')),
  -- How many people it went to.
  messages integer not null check (messages > 0),
  sent_at timestamptz not null,
  -- The order of commits, since fixture loads are serialized. All pages of a usage list (4.1) count the sends up to the
  -- newest one of its first page.
  sequence bigint generated always as identity,
  primary key (tenant_id, id)
);

create table sandbox.calls (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  started_at timestamptz not null,
  duration_secs integer not null check (duration_secs >= 0),
  -- Whether it was put through to a person.
  transferred boolean not null,
  cost_cents numeric not null check (cost_cents >= 0),
  sentiment text check (sentiment in ('positive', 'negative', 'neutral')),
  primary key (tenant_id, id)
);
