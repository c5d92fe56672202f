/** How each sync has told the tenants of its rows: a row of a moved tenant has not changed itself, and has to be read again. */
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { TenantRule } from '../../domain/sync/sync.js';
import { inTransaction } from '../database/statements.js';

export interface TenantListsView {
  /**
   * How often a sync has changed how it tells tenants, so that rows which were sent belong to another one: a value of the column stands
   * for another tenant, or another column tells it. New values move nothing. Includes the change to `rule`.
   */
  moves(sync: string, rule: TenantRule): Promise<number>;
}

export interface TenantLists extends TenantListsView {
  /**
   * How the run tells tenants, from its beginning to its end and in all processes, whatever they would read: as `read` gave it to the
   * first that has asked. Its {@link TenantListsView.moves} are as of then.
   */
  ofRun(runId: string, sync: string, read: () => Promise<TenantRule>): Promise<TenantsOfRun>;
}

export interface TenantsOfRun {
  readonly rule: TenantRule;
  readonly moves: number;
}

/** A rule as it is kept. */
interface KeptList {
  /** null: all rows belong to one tenant. */
  readonly column: string | null;
  /** Platform tenant ids by the values of the column. */
  readonly tenants: Readonly<Record<string, string>>;
}

export const openTenantLists = (knex: Knex): TenantLists => {
  const keptFor = async (runId: string): Promise<TenantsOfRun | null> => {
    const kept = await knex('run_tenants').where({ run_id: runId }).first<ListRow | undefined>('list', 'moves');
    return kept === undefined ? null : { rule: ruleOf(kept.list), moves: kept.moves };
  };
  const moves: TenantListsView['moves'] = async (sync, rule) => {
    const known = await knex('tenant_lists').where({ sync }).first<ListRow | undefined>();
    return known === undefined ? 0 : movesWith(listOf(rule), known);
  };
  return {
    moves,
    async ofRun(runId, sync, read) {
      const kept = await keptFor(runId);
      if (kept !== null) return kept;
      const rule = await read();
      const list = listOf(rule);
      await inTransaction(knex, async (trx) => {
        const { rows } = await trx.raw<{ rows: object[] }>(
          `INSERT INTO run_tenants (run_id, list, moves) SELECT id, ?, 0 FROM runs WHERE id = ? AND ended_at IS NULL
           ON CONFLICT DO NOTHING RETURNING run_id`,
          [JSON.stringify(list), runId],
        );
        // Only what runs go by is noted: of two processes that have read different lists, one decides.
        if (rows.length > 0)
          await trx('run_tenants')
            .where({ run_id: runId })
            .update({ moves: await note(trx, sync, list) });
      });
      // An attempt that has outlived its run writes nothing that counts.
      return (await keptFor(runId)) ?? { rule, moves: await moves(sync, rule) };
    },
  };
};

interface ListRow {
  readonly list: KeptList;
  readonly moves: number;
}

/** Notes that the sync tells tenants in this way now, and returns its moves. Values that are not listed any more are remembered. */
async function note(trx: Knex, sync: string, list: KeptList): Promise<number> {
  const hash = createHash('sha256').update(JSON.stringify(list)).digest('hex').slice(0, 32);
  const same = await trx('tenant_lists').where({ sync, hash }).first<Pick<ListRow, 'moves'> | undefined>('moves');
  if (same !== undefined) return same.moves;
  await trx('tenant_lists')
    .insert({ sync, hash, list: JSON.stringify(list) })
    .onConflict('sync')
    .ignore();
  const before = await trx('tenant_lists').where({ sync }).forUpdate().first<ListRow>();
  const moves = movesWith(list, before);
  const tenants = before.list.column === list.column ? { ...before.list.tenants, ...list.tenants } : list.tenants;
  await trx('tenant_lists')
    .where({ sync })
    .update({ hash, list: JSON.stringify({ column: list.column, tenants }), moves });
  return moves;
}

const listOf = (rule: TenantRule): KeptList =>
  rule.kind === 'constant'
    ? { column: null, tenants: { '': rule.tenant } }
    : { column: rule.column, tenants: Object.fromEntries(rule.values) };

const ruleOf = ({ column, tenants }: KeptList): TenantRule =>
  column === null
    ? { kind: 'constant', tenant: tenants['']! }
    : { kind: 'column', column, values: new Map(Object.entries(tenants)) };

function movesWith(list: KeptList, { list: before, moves }: ListRow): number {
  const hasMoved =
    list.column !== before.column ||
    Object.entries(list.tenants).some(([value, tenant]) => (tenantOf(before, value) ?? tenant) !== tenant);
  return hasMoved ? moves + 1 : moves;
}

/** Values come from the source, and may be named as what every object has. */
const tenantOf = ({ tenants }: KeptList, value: string): string | undefined =>
  Object.hasOwn(tenants, value) ? tenants[value] : undefined;
