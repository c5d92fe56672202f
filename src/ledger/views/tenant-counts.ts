/** Questions about the tenants of a sync: what has become of their records. */
import type { Knex } from 'knex';

/** How many records of a tenant are in which state now. */
export interface TenantCounts {
  /** The id that the platform knows it by. */
  readonly tenant: string;
  readonly accepted: number;
  readonly waiting: number;
  readonly deadLettered: number;
}

export interface TenantCountsView {
  /** Up to `limit` tenants whose id begins with `search`: those with the most dead letters and waiting records first, then by id. */
  of(sync: string, page: { readonly search: string; readonly limit: number }): Promise<readonly TenantCounts[]>;
  /** The same of one tenant for each mapping that has records of it; none if the sync has none. */
  ofTenant(sync: string, tenant: string): Promise<readonly (TenantCounts & { readonly mapping: string })[]>;
  /**
   * Records that are accepted, and not marked as deleted, in tenants that are not among these, by tenant and mapping. Those of another
   * sync that delivers to the same schema definition of the tenant are left out.
   */
  ofOthers(
    sync: string,
    tenants: readonly string[],
  ): Promise<readonly { readonly tenant: string; readonly mapping: string; readonly accepted: number }[]>;
  /** The other syncs that have records of the tenant in this schema definition. */
  otherSyncsWith(sync: string, tenant: string, schema: string): Promise<readonly string[]>;
}

/** A row for each mapping, tenant and table, to be summed up. Rows whose tenant is not known have the id 0. */
const COUNTED = `
  SELECT mapping_id, tenant_id, sum(accepted) AS accepted, 0 AS waiting, 0 AS dead FROM record_blocks
  WHERE mapping_id IN (SELECT id FROM mappings WHERE sync = :sync) GROUP BY 1, 2
  UNION ALL
  SELECT mapping_id, tenant_id, 0, count(*), 0 FROM waiting
  WHERE mapping_id IN (SELECT id FROM mappings WHERE sync = :sync) GROUP BY 1, 2
  UNION ALL
  SELECT mapping_id, tenant_id, 0, 0, count(*) FROM dead_letters
  WHERE mapping_id IN (SELECT id FROM mappings WHERE sync = :sync) GROUP BY 1, 2`;

const SUMS = `t.platform_id AS tenant, sum(c.accepted)::float8 AS accepted, sum(c.waiting)::float8 AS waiting,
  sum(c.dead)::float8 AS "deadLettered"`;

export const openTenantCounts = (knex: Knex): TenantCountsView => ({
  async of(sync, { search, limit }) {
    const { rows } = await knex.raw<{ rows: TenantCounts[] }>(
      `SELECT ${SUMS} FROM (${COUNTED}) c JOIN tenants t ON t.id = c.tenant_id
       WHERE starts_with(t.platform_id, :search)
       GROUP BY t.platform_id ORDER BY sum(c.dead + c.waiting) DESC, t.platform_id LIMIT :limit`,
      { sync, search, limit },
    );
    return rows;
  },
  async ofTenant(sync, tenant) {
    const { rows } = await knex.raw<{ rows: (TenantCounts & { mapping: string })[] }>(
      `SELECT m.name AS mapping, ${SUMS} FROM (${COUNTED}) c
         JOIN tenants t ON t.id = c.tenant_id JOIN mappings m ON m.id = c.mapping_id
       WHERE t.platform_id = :tenant GROUP BY t.platform_id, m.id, m.name ORDER BY m.id`,
      { sync, tenant },
    );
    return rows;
  },
  async ofOthers(sync, tenants) {
    const { rows } = await knex.raw<{ rows: { tenant: string; mapping: string; accepted: number }[] }>(
      `WITH own AS (
         SELECT t.id AS tenant_id, t.platform_id AS tenant, m.name AS mapping, m.schema_name, sum(b.accepted)::float8 AS accepted
         FROM record_blocks b JOIN mappings m ON m.id = b.mapping_id JOIN tenants t ON t.id = b.tenant_id
         WHERE m.sync = :sync AND b.accepted > 0 AND t.platform_id <> ALL (CAST(:tenants AS text[])) GROUP BY 1, 2, 3, 4)
       SELECT tenant, mapping, accepted FROM own
       WHERE NOT EXISTS (SELECT FROM mappings o JOIN record_blocks b ON b.mapping_id = o.id
                         WHERE o.sync <> :sync AND o.schema_name = own.schema_name AND b.tenant_id = own.tenant_id AND b.accepted > 0)
       ORDER BY tenant, mapping`,
      { sync, tenants: [...tenants] },
    );
    return rows;
  },
  async otherSyncsWith(sync, tenant, schema) {
    const { rows } = await knex.raw<{ rows: { sync: string }[] }>(
      `SELECT DISTINCT m.sync FROM mappings m JOIN record_blocks b ON b.mapping_id = m.id AND b.accepted > 0
         JOIN tenants t ON t.id = b.tenant_id
       WHERE m.sync <> :sync AND m.schema_name = :schema AND t.platform_id = :tenant ORDER BY 1`,
      { sync, tenant, schema },
    );
    return rows.map((row) => row.sync);
  },
});
