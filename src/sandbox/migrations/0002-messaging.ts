/** What tenants send with: automations, numbers, domains and accounts; what they have sent; the library. */
export const MESSAGING = `
alter table sandbox.tenants add column onboarded_at timestamptz;

-- The library and the integrations belong to the platform account, so no tenant is in their keys.
create table sandbox.library_items (
  id uuid primary key,
  type text not null check (type in ('automation', 'segment')),
  content json not null
);

create table sandbox.channel_integrations (
  id uuid primary key,
  sequence bigint generated always as identity unique,
  name text not null,
  channel_provider text not null,
  channel_integration_type text not null check (channel_integration_type in ('email', 'sms')),
  metadata json not null,
  created_at timestamptz not null default clock_timestamp()
);

-- Columns for what is counted or decided by; "content" is the rest of the answer.
create table sandbox.automations (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  status text not null,
  automation_type text not null,
  trigger_type text not null,
  content json not null,
  library_item_id uuid references sandbox.library_items,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);

create table sandbox.communication_groups (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  content json not null,
  library_item_id uuid references sandbox.library_items,
  primary key (tenant_id, id)
);

create table sandbox.phone_numbers (
  tenant_id text not null references sandbox.tenants,
  number text not null,
  sms boolean not null,
  voice boolean not null,
  primary key (tenant_id, number)
);

-- sequence: in the order of the commits, so that all pages of one list can count what the first one did.
create table sandbox.sends (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  channel text not null check (channel in ('email', 'sms')),
  messages integer not null check (messages > 0),
  sent_at timestamptz not null,
  sequence bigint generated always as identity,
  primary key (tenant_id, id)
);

create table sandbox.calls (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  started_at timestamptz not null,
  duration_secs integer not null check (duration_secs >= 0),
  transferred boolean not null,
  cost_cents numeric not null check (cost_cents >= 0),
  sentiment text check (sentiment in ('positive', 'negative', 'neutral')),
  primary key (tenant_id, id)
);

create table sandbox.sms_registrations (
  tenant_id text primary key references sandbox.tenants,
  id text not null,
  status text not null,
  application json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
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
  dkim_private_key text not null,
  dns_records json not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id),
  constraint sending_domains_name_unique unique (tenant_id, apex_domain, subdomain)
);

-- domain_prefix: empty where the channel has no domain.
create table sandbox.channel_accounts (
  tenant_id text not null references sandbox.tenants,
  id uuid not null,
  channel_integration_id uuid not null references sandbox.channel_integrations,
  name text not null,
  domain_prefix text not null,
  metadata json not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id),
  constraint channel_accounts_prefix_unique unique (tenant_id, channel_integration_id, domain_prefix)
);

create table sandbox.library_jobs (
  tenant_id text not null references sandbox.tenants,
  id uuid not null,
  results json not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);

-- For taking old batches away, with what is told of their records.
create index batches_completed on sandbox.batches (completed_at) where completed_at is not null;
alter table sandbox.record_errors
  drop constraint record_errors_batch_id_fkey,
  add foreign key (batch_id) references sandbox.batches on delete cascade;
`;
