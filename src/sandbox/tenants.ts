/** Looks up tenants. They come from the fixture and are never removed, so a tenant once found stays in memory. */
import type pg from 'pg';

/** The tenant that a request is about. */
export interface Tenant {
  readonly id: string;
  /** A uuid, which the resource records of section 2 carry as `businessId`. */
  readonly businessId: string;
}

/** Finds a tenant by its id; undefined if there is none. */
export type TenantLookup = (id: string) => Promise<Tenant | undefined>;

/** Creates a caching lookup on the table `sandbox.tenants`. */
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
