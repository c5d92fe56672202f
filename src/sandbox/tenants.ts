/** The tenants of the platform. They come from the fixture and never go, so a found one is kept in memory. */
import type pg from 'pg';

export interface Tenant {
  readonly id: string;
  readonly businessId: string;
}

export type TenantLookup = (id: string) => Promise<Tenant | undefined>;

export function createTenantLookup(pool: pg.Pool): TenantLookup {
  const known = new Map<string, Tenant>();
  return async (id) => {
    const cached = known.get(id);
    if (cached !== undefined) return cached;
    const { rows } = await pool.query<{ id: string; business_id: string }>(
      'select id, business_id from sandbox.tenants where id = $1',
      [id],
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    const tenant = { id: row.id, businessId: row.business_id };
    known.set(id, tenant);
    return tenant;
  };
}
