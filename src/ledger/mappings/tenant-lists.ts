/** How each sync has told the tenants of its rows: a row of a moved tenant has not changed itself, and has to be read again. */
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { TenantRule } from '../../domain/sync/sync.js';
import { inTransaction } from '../database/statements.js';

export interface TenantListsView {
  /**
   * How often rows have moved to another tenant by how the sync tells it: a value of the column stands for another tenant than before,
   * or another column tells it. New values move nothing, as no row with them was sent. Includes what `rule` moves.
   */
  moves(sync: string, rule: TenantRule): Promise<number>;
}

export interface TenantLists extends TenantListsView {
  /** The same; notes that the sync tells tenants by `rule` now. */
  note(sync: string, rule: TenantRule): Promise<number>;
}

/** A rule as it is kept. */
interface KeptList {
  /** null: all rows belong to one tenant. */
  readonly column: string | null;
  /** Platform tenant ids by the values of the column; also of values that are not listed any more. */
  readonly tenants: Readonly<Record<string, string>>;
}

export const openTenantLists = (knex: Knex): TenantLists => ({
  async moves(sync, rule) {
    const known = await knex('tenant_lists').where({ sync }).first<ListRow | undefined>();
    return known === undefined ? 0 : movesWith(listOf(rule), known);
  },
  async note(sync, rule) {
    const list = listOf(rule);
    const hash = createHash('sha256').update(JSON.stringify(list)).digest('hex').slice(0, 32);
    // A live run asks each few seconds, and there may be thousands of tenants.
    const same = await knex('tenant_lists').where({ sync, hash }).first<Pick<ListRow, 'moves'> | undefined>('moves');
    if (same !== undefined) return same.moves;
    return inTransaction(knex, async (trx) => {
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
    });
  },
});

interface ListRow {
  readonly list: KeptList;
  readonly moves: number;
}

const listOf = (rule: TenantRule): KeptList =>
  rule.kind === 'constant'
    ? { column: null, tenants: { '': rule.tenant } }
    : { column: rule.column, tenants: Object.fromEntries(rule.values) };

function movesWith(list: KeptList, { list: before, moves }: ListRow): number {
  const hasMoved =
    list.column !== before.column ||
    Object.entries(list.tenants).some(([value, tenant]) => (tenantOf(before, value) ?? tenant) !== tenant);
  return hasMoved ? moves + 1 : moves;
}

/** Values come from the source, and may be named as what every object has. */
const tenantOf = ({ tenants }: KeptList, value: string): string | undefined =>
  Object.hasOwn(tenants, value) ? tenants[value] : undefined;
