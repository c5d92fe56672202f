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

/** How many records of a tenant are accepted, and not marked as deleted. */
export type TenantRecords = Pick<TenantCounts, 'tenant' | 'accepted'>;

export interface TenantCountsView {
  /** Up to `limit` tenants whose id begins with `search`: those with the most dead letters and waiting records first, then by id. */
  of(sync: string, page: { readonly search: string; readonly limit: number }): Promise<readonly TenantCounts[]>;
  /** The same of one tenant for each mapping that has records of it; none if the sync has none. */
  ofTenant(sync: string, tenant: string): Promise<readonly (TenantCounts & { readonly mapping: string })[]>;
  /** The tenants of which records are accepted that are not among these; those with the most records first. */
  ofOthers(sync: string, tenants: readonly string[]): Promise<readonly TenantRecords[]>;
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
    const { rows } = await knex.raw<{ rows: TenantRecords[] }>(
      `SELECT t.platform_id AS tenant, sum(b.accepted)::float8 AS accepted FROM record_blocks b JOIN tenants t ON t.id = b.tenant_id
       WHERE b.mapping_id IN (SELECT id FROM mappings WHERE sync = :sync) AND b.accepted > 0
         AND t.platform_id <> ALL (CAST(:tenants AS text[]))
       GROUP BY 1 ORDER BY 2 DESC, 1`,
      { sync, tenants: [...tenants] },
    );
    return rows;
  },
});
