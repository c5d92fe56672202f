/** Small numbers for mappings and tenants, which are part of every key in the ledger. */
import type { Knex } from 'knex';
import { inTransaction } from '../database/statements.js';

export interface Ids {
  /** The number of a mapping, which gets one when it is first asked for. */
  mappingId(sync: string, mapping: string): Promise<number>;
  /**
   * Sets whether the mapping keeps records from now on (ADR 0020). If it stops, those that it has are deleted: once
   * they are out of date, a record that returned to its old content would be taken for unchanged.
   */
  keepRecords(mappingId: number, keep: boolean): Promise<void>;
  /** Records what the external ids of the mapping are made of from now on. */
  noteIdRule(mappingId: number, rule: string): Promise<void>;
  /** The name of the schema that each mapping of the sync has filled, by the mapping's name; those that no run has begun with are left out. */
  filledSchemas(sync: string): Promise<ReadonlyMap<string, string>>;
  /** Records which schema the mapping fills from now on. */
  noteSchema(mappingId: number, schema: string): Promise<void>;
  /** Records which mappings the sync has: nobody reads the others any more, so that they do not lag either. */
  keepMappings(sync: string, names: readonly string[]): Promise<void>;
  /**
   * The numbers of tenants by the platform's ids; each tenant gets one when it is first asked for. The map may have
   * other tenants, too.
   *
   * @param platformIds each id once
   */
  tenantIds(platformIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The platform's ids of tenants by their numbers; unknown numbers are left out. */
  tenantsByNumber(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** The methods that write nothing. */
export interface IdsView extends Pick<Ids, 'tenantIds' | 'tenantsByNumber'> {
  /** The number of a mapping that fills this schema. */
  mappingId(sync: string, mapping: string, schema: string): Promise<number>;
}

export function openIds(knex: Knex): Ids {
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
        // Only if it is not there, since an insert that conflicts uses up a number each time.
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
    tenantsByNumber: (ids) => tenantNames(knex, ids),
    async keepMappings(sync, names) {
      await knex('mappings')
        .where({ sync })
        .whereNotIn('name', [...names])
        .whereNotNull('read_until')
        .update({ read_until: null });
    },
    async noteIdRule(id, rule) {
      await knex.raw(
        `UPDATE mappings SET id_rule = :rule, ids_changed_at = CASE WHEN id_rule IS NOT NULL THEN now() END
         WHERE id = :id AND id_rule IS DISTINCT FROM :rule`,
        { id, rule },
      );
    },
    async filledSchemas(sync) {
      const rows = await knex('mappings')
        .where({ sync })
        .whereNotNull('schema_name')
        .select<{ name: string; schema_name: string }[]>('name', 'schema_name');
      return new Map(rows.map((row) => [row.name, row.schema_name]));
    },
    async noteSchema(id, schema) {
      await knex('mappings').where({ id }).update({ schema_name: schema });
    },
    keepRecords: (id, keep) =>
      inTransaction(knex, async (trx) => {
        await trx('mappings').where({ id, keeps_records: !keep }).update({ keeps_records: keep });
        if (!keep) await trx('record_blocks').where({ mapping_id: id }).delete();
      }),
  };
}

/**
 * Gives no new numbers: a mapping that no run has seen is 0, which no row has, and unknown tenants are left out. So is one that has filled
 * another schema until now: the next run forgets what is known of it.
 */
export const openIdsView = (knex: Knex): IdsView => ({
  async mappingId(sync, mapping, schema) {
    const known = await knex('mappings')
      .where({ sync, name: mapping })
      .whereRaw('coalesce(schema_name, ?) = ?', [schema, schema])
      .first<{ id: number } | undefined>('id');
    return known?.id ?? 0;
  },
  async tenantIds(platformIds) {
    const rows = await knex('tenants')
      .whereIn('platform_id', platformIds)
      .select<{ id: number; platform_id: string }[]>('id', 'platform_id');
    return new Map(rows.map((row) => [row.platform_id, row.id]));
  },
  tenantsByNumber: (ids) => tenantNames(knex, ids),
});

async function tenantNames(knex: Knex, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await knex('tenants')
    .whereIn('id', [...ids])
    .select<{ id: number; platform_id: string }[]>('id', 'platform_id');
  return new Map(rows.map((row) => [row.id, row.platform_id]));
}
