/** Tenants, schema definitions, resources and their batches. */
export const INGESTION = `
create table sandbox.platform (
  only_row boolean primary key default true check (only_row),
  id uuid not null
);

create table sandbox.tenants (
  id text primary key,
  business_id uuid not null,
  name text not null,
  external_id text,
  created_at timestamptz not null default clock_timestamp()
);

-- "json", not "jsonb": the order of a schema's properties is kept.
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

-- No foreign keys: its batch names the tenant and the schema already, and a check for each row would cost
-- more than the row.
create table sandbox.resources (
  tenant_id text not null collate "C",
  schema_id uuid not null,
  external_id text not null collate "C",
  id uuid not null,
  data jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, schema_id, external_id)
);

-- started_at is committed together with the batch's outcome: null means not processed yet.
create table sandbox.batches (
  id uuid primary key,
  sequence bigint generated always as identity,
  tenant_id text not null references sandbox.tenants,
  schema_id uuid not null,
  on_conflict text not null check (on_conflict in ('upsert', 'reject')),
  ignore_unknown_fields boolean not null,
  wait_seconds integer not null,
  payload text,
  total integer not null,
  successful integer not null default 0,
  failed integer not null default 0,
  pending integer not null default 0,
  attempts integer not null default 0,
  retry_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  completed_at timestamptz
);
create index batches_unprocessed on sandbox.batches (sequence) where started_at is null;

create table sandbox.record_errors (
  batch_id uuid not null references sandbox.batches,
  record_index integer not null,
  external_id text,
  rule text not null,
  reason text not null,
  primary key (batch_id, record_index)
);

create table sandbox.pending_resources (
  id uuid primary key,
  sequence bigint generated always as identity,
  batch_id uuid not null references sandbox.batches,
  record_index integer not null,
  tenant_id text not null,
  schema_id uuid not null,
  external_id text not null,
  sent text not null,
  on_conflict text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index pending_resources_batch on sandbox.pending_resources (batch_id);
create index pending_resources_expiry on sandbox.pending_resources (expires_at);

-- By the schema's name: the parent's schema definition need not exist yet.
create table sandbox.missing_dependencies (
  pending_id uuid not null references sandbox.pending_resources on delete cascade,
  tenant_id text not null,
  schema_name text not null,
  external_id text not null,
  primary key (pending_id, schema_name, external_id)
);
create index missing_dependencies_parent on sandbox.missing_dependencies (tenant_id, schema_name, external_id);
`;
