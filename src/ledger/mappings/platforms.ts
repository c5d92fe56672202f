/** The platform that each sync delivers to: what the ledger knows of records, batches and schema definitions is of that one. */
import type { Knex } from 'knex';
import type { Actor } from '../../domain/run/audit.js';
import { writeAudit } from '../audit.js';
import { inTransaction } from '../database/statements.js';

export interface PlatformsView {
  /** The address of the platform that the sync delivers to; null while the ledger knows nothing that any platform has of it. */
  ofSync(sync: string): Promise<string | null>;
  /** The syncs that deliver to each platform, by its address; both in order. */
  known(): Promise<ReadonlyMap<string, readonly string[]>>;
}

export interface Platforms extends PlatformsView {
  /**
   * The run is to deliver to this platform. Returns the address of the one that its sync delivers to, which is another one if
   * {@link ofSync} or another active run says so.
   */
  claim(run: { readonly id: string; readonly sync: string }, address: string): Promise<string>;
  /** The platform at `from` is to be found at `to` from now on. Returns the syncs that deliver to it. */
  relocate(from: string, to: string, actor: Actor): Promise<readonly string[]>;
}

export const openPlatforms = (knex: Knex): Platforms => ({
  async ofSync(sync) {
    const noted = await knex('sync_platforms').where({ sync }).first<Noted | undefined>('address');
    return noted !== undefined && (await hasDelivered(knex, sync)) ? noted.address : null;
  },
  async known() {
    const rows = await knex('sync_platforms')
      .orderBy(['address', 'sync'])
      .select<{ sync: string; address: string }[]>('sync', 'address');
    const syncs = new Map<string, string[]>();
    for (const { sync, address } of rows) syncs.set(address, [...(syncs.get(address) ?? []), sync]);
    return syncs;
  },
  claim: ({ id, sync }, address) =>
    inTransaction(knex, async (trx) => {
      await trx('sync_platforms').insert({ sync, address }).onConflict('sync').ignore();
      // Of two runs that ask at the same time, one sees what the other one was told.
      const { address: noted } = await trx('sync_platforms').where({ sync }).forUpdate().first<Noted>('address');
      if (noted !== address) {
        if ((await isUsedElsewhere(trx, sync, address)) || (await hasDelivered(trx, sync))) return noted;
        // Somebody has corrected an address to which nothing could be delivered.
        await trx('sync_platforms').where({ sync }).update({ address });
      }
      await trx('runs').where({ id }).update({ platform: address });
      return address;
    }),
  relocate: (from, to, actor) =>
    inTransaction(knex, async (trx) => {
      const rows = await trx('sync_platforms')
        .where({ address: from })
        .update({ address: to })
        .returning<{ sync: string }[]>('sync');
      await trx('runs').where({ platform: from, ended_at: null }).update({ platform: to });
      // What was pushed to the new address already is newer.
      await trx.raw(
        `UPDATE schema_definitions d SET platform = :to WHERE platform = :from
           AND NOT EXISTS (SELECT 1 FROM schema_definitions o WHERE o.platform = :to AND o.name = d.name)`,
        { from, to },
      );
      const syncs = rows.map(({ sync }) => sync).sort();
      for (const sync of syncs)
        await writeAudit(trx, { sync, action: 'platform_relocated', actor, subject: { from, to } });
      return syncs;
    }),
});

interface Noted {
  readonly address: string;
}

/** Whether a run is active that delivers to another platform. */
const isUsedElsewhere = async (knex: Knex, sync: string, address: string): Promise<boolean> =>
  (await knex('runs').where({ sync, ended_at: null }).whereNot({ platform: address }).first('id')) !== undefined;

/**
 * Whether the ledger knows anything that a platform has, and that `forget` would remove. A batch that nobody has answered for does not
 * count: it may have gone to an address where there is no platform.
 */
async function hasDelivered(knex: Knex, sync: string): Promise<boolean> {
  const { rows } = await knex.raw<{ rows: [{ known: boolean }] }>(
    `WITH own AS (SELECT id FROM mappings WHERE sync = :sync)
     SELECT EXISTS (SELECT FROM record_blocks WHERE mapping_id IN (SELECT id FROM own))
       OR EXISTS (SELECT FROM positions WHERE mapping_id IN (SELECT id FROM own))
       OR EXISTS (SELECT FROM fed_mappings WHERE mapping_id IN (SELECT id FROM own) AND (loaded OR load_run_id IS NOT NULL))
       OR EXISTS (SELECT FROM waiting WHERE mapping_id IN (SELECT id FROM own))
       OR EXISTS (SELECT FROM batches WHERE mapping_id IN (SELECT id FROM own) AND state IN ('sent', 'pending'))
       OR EXISTS (SELECT FROM doubts WHERE mapping_id IN (SELECT id FROM own)) AS known`,
    { sync },
  );
  return rows[0].known;
}
