/** The segments of tenants: what people they choose, as AND-joined groups of conditions. */
export const SEGMENTS = `
create table sandbox.segments (
  tenant_id text not null references sandbox.tenants,
  id text not null,
  name text not null,
  description text not null,
  condition_groups json not null,
  library_item_id uuid references sandbox.library_items,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);
`;
