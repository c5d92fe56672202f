/** Small numbers for long names: mappings and tenants are keys of every ledger row. */
import type { Knex } from 'knex';
import { inTransaction } from './transaction.js';

export interface Catalog {
  mappingId(sync: string, mapping: string): Promise<number>;
  /**
   * Whether the mapping keeps records from now on. One that does not forgets what it has: it would grow old, and a
   * record that came back to it would be taken for unchanged.
   */
  keepRecords(mappingId: number, keep: boolean): Promise<void>;
  /** Ids of tenants, made on first sight; call it with distinct ids. */
  tenantIds(platformIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The platform's ids of tenants, by ours. */
  tenantNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** What looking needs of it. */
export type CatalogView = Omit<Catalog, 'keepRecords'>;

export function openCatalog(knex: Knex): Catalog {
  const mappings = new Map<string, number>();
  const tenants = new Map<string, number>();
  return {
    async mappingId(sync, mapping) {
      const key = `${sync}/${mapping}`;
      const known = mappings.get(key);
      if (known !== undefined) return known;
      const find = () => knex('mappings').where({ sync, name: mapping }).first<{ id: number } | undefined>('id');
      let row = await find();
      if (row === undefined) {
        // Looked up first: an insert that meets a conflict uses up a number each time.
        await knex('mappings').insert({ sync, name: mapping }).onConflict(['sync', 'name']).ignore();
        row = await find();
      }
      mappings.set(key, row!.id);
      return row!.id;
    },
    async tenantIds(platformIds) {
      const missing = platformIds.filter((id) => !tenants.has(id)).sort();
      if (missing.length > 0) {
        await knex.raw(
          `INSERT INTO tenants (platform_id)
           SELECT given FROM unnest(?::text[]) AS given WHERE NOT EXISTS (SELECT FROM tenants WHERE platform_id = given)
           ON CONFLICT (platform_id) DO NOTHING`,
          [missing],
        );
        const rows = await knex('tenants')
          .whereIn('platform_id', missing)
          .select<{ id: number; platform_id: string }[]>();
        for (const row of rows) tenants.set(row.platform_id, row.id);
      }
      return tenants;
    },
    tenantNames: (ids) => tenantNames(knex, ids),
    keepRecords: (id, keep) =>
      inTransaction(knex, async (trx) => {
        await trx('mappings').where({ id, keeps_records: !keep }).update({ keeps_records: keep });
        if (!keep) await trx('record_blocks').where({ mapping_id: id }).delete();
      }),
  };
}

/** Writes nothing: a mapping that no run has seen has the id 0, which no row carries; unknown tenants have none. */
export const openCatalogView = (knex: Knex): CatalogView => ({
  async mappingId(sync, mapping) {
    return (await knex('mappings').where({ sync, name: mapping }).first<{ id: number } | undefined>('id'))?.id ?? 0;
  },
  async tenantIds(platformIds) {
    const rows = await knex('tenants')
      .whereIn('platform_id', platformIds)
      .select<{ id: number; platform_id: string }[]>('id', 'platform_id');
    return new Map(rows.map((row) => [row.platform_id, row.id]));
  },
  tenantNames: (ids) => tenantNames(knex, ids),
});

async function tenantNames(knex: Knex, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await knex('tenants')
    .whereIn('id', [...ids])
    .select<{ id: number; platform_id: string }[]>('id', 'platform_id');
  return new Map(rows.map((row) => [row.id, row.platform_id]));
}
