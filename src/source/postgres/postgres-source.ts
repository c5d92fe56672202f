/** A PostgreSQL database as a {@link Source}: keyset pages in plain queries, never a stream, never a transaction. */
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { PartnerSyncError } from '../../domain/errors.js';
import type { SourceTable } from '../../domain/source-catalog.js';
import type { KeyRange, Page, ReadPlan, Relation, Source, SourceColumn, SourceRow } from '../../domain/source.js';
import type { SourceConfig } from '../../domain/sync.js';
import { tablesOf } from '../catalog.js';
import { inSource } from '../failure.js';
import { byValuesQuery, fromClause, pageQuery, quoteName, type Query } from '../keyset.js';
import { tableNameParts } from '../table-name.js';
import { COLUMNS_SQL, FOREIGN_KEYS_SQL, INDEXES_SQL, SERVER_SQL, TABLES_SQL } from './catalog.js';
import { FENCE_SQL } from './fence.js';
import { openSession, PAGE_OPTIONS } from './session.js';
import { sourceTypeOf } from './types.js';

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
  readonly dataTypeModifier: number;
}
interface RawResult {
  readonly rows: SourceRow[];
  readonly fields: readonly Field[];
}

const nameOf = (relation: Relation): string => ('table' in relation ? relation.table : 'the query');

export function openPostgres(config: SourceConfig): Source {
  const knex = openSession(config);
  const types = new Map<string, Pick<SourceColumn, 'type' | 'databaseType'>>();

  /** With a `name` the statement is prepared, once per connection; a name must stand for one text only. */
  const run = (what: string, query: Query, name?: string): Promise<RawResult> =>
    inSource(
      what,
      async () =>
        (await knex
          .raw(query.sql, query.bindings as Knex.RawBinding[])
          .options(name === undefined ? PAGE_OPTIONS : { ...PAGE_OPTIONS, name })) as RawResult,
    );

  /** Names the types of a result's fields; each (type, modifier) is asked for once. */
  const columnsOf = async (fields: readonly Field[]): Promise<SourceColumn[]> => {
    const key = (f: Field): string => `${f.dataTypeID}/${f.dataTypeModifier}`;
    const unknown = [...new Set(fields.map(key).filter((k) => !types.has(k)))];
    if (unknown.length > 0) {
      const { rows } = await run('reading the names of column types', {
        sql: `SELECT k.id, format_type(t.oid, k.modifier), t.typtype = 'e'
              FROM unnest(?::oid[], ?::int[], ?::text[]) AS k(oid, modifier, id) JOIN pg_type t ON t.oid = k.oid`,
        bindings: [unknown.map((k) => k.split('/')[0]!), unknown.map((k) => k.split('/')[1]!), unknown],
      });
      for (const [id, databaseType, isEnum] of rows)
        types.set(id!, { databaseType: databaseType!, type: sourceTypeOf(databaseType!, isEnum === 't') });
    }
    return fields.map((f) => ({ name: f.name, ...(types.get(key(f)) ?? { type: 'other', databaseType: 'unknown' }) }));
  };

  const page = async (what: string, query: Query, name?: string): Promise<Page> => {
    const { rows, fields } = await run(what, query, name);
    return { rows, columns: await columnsOf(fields) };
  };

  return {
    async describe(relation) {
      const from = fromClause(relation);
      return (
        await page(`describing ${nameOf(relation)}`, {
          sql: `SELECT q.* FROM ${from.sql} LIMIT 0`,
          bindings: from.bindings,
        })
      ).columns;
    },
    readPage: (plan, bounds, limit) => {
      const shape = Object.values(bounds).map((bound) => bound !== null);
      const name = `page_${createHash('md5')
        .update(JSON.stringify([plan, shape]))
        .digest('hex')}`;
      return page(`reading ${nameOf(plan.relation)}`, pageQuery(plan, bounds, limit), name);
    },
    readByValues: (plan, columns, values) =>
      values.length === 0
        ? Promise.resolve({ rows: [], columns: [] })
        : page(`reading keys of ${nameOf(plan.relation)}`, byValuesQuery(plan, columns, values)),
    async fence(plan) {
      if (plan.cursor === null) throw new PartnerSyncError('config_invalid', `${nameOf(plan.relation)} has no cursor`);
      const { rows } = await run('taking the fence', { sql: FENCE_SQL, bindings: [] });
      return rows[0]![0]!;
    },
    async hasNull(plan, column) {
      const from = fromClause(plan.relation);
      const { rows } = await run(`looking for NULL in ${column}`, {
        sql: `SELECT 1 FROM ${from.sql} WHERE q.${quoteName(column)} IS NULL LIMIT 1`,
        bindings: from.bindings,
      });
      return rows.length > 0;
    },
    async cursorMinus(plan, cursor, seconds) {
      const from = fromClause(plan.relation);
      const type = (
        await page('reading the type of the cursor', {
          sql: `SELECT q.${quoteName(plan.cursor!)} FROM ${from.sql} LIMIT 0`,
          bindings: from.bindings,
        })
      ).columns[0]!;
      if (type.type !== 'timestamp' && type.type !== 'timestamptz' && type.type !== 'date') return cursor;
      const { rows } = await run('moving the cursor back', {
        sql: `SELECT (?::${type.databaseType} - ? * interval '1 second')::${type.databaseType}`,
        bindings: [cursor, seconds],
      });
      return rows[0]![0]!;
    },
    splitKeys: (plan, rows) => splitKeys(plan, rows, run),
    async server() {
      const { rows } = await run('asking for the version', { sql: SERVER_SQL, bindings: [] });
      const [version, account, clock, timeZone, standby, sees] = rows[0]!;
      const seesOpenTransactions = sees === 't' && standby === 'f';
      return {
        product: 'PostgreSQL',
        version: version!,
        account: account!,
        clock: clock!,
        timeZone: timeZone!,
        standby: standby === 't',
        seesOpenTransactions,
        grantForOpenTransactions: sees === 't' ? null : `GRANT pg_read_all_stats TO ${quoteName(account!)}`,
      };
    },
    async tables(names) {
      const bare = names === undefined ? null : JSON.stringify(names.map((name) => tableNameParts(name).at(-1)!));
      const ask = async (sql: string): Promise<SourceRow[]> =>
        (await run('reading the catalogue', { sql, bindings: [bare, bare] })).rows;
      const found = tablesOf(
        {
          tables: await ask(TABLES_SQL),
          columns: await ask(COLUMNS_SQL),
          indexes: await ask(INDEXES_SQL),
          foreignKeys: await ask(FOREIGN_KEYS_SQL),
        },
        (databaseType, hint) => sourceTypeOf(databaseType, hint === 'enum'),
      );
      return names === undefined ? found : found.filter(isNamed(names));
    },
    close: () => knex.destroy(),
  };
}

/**
 * Even steps between the smallest and the largest key, where the key is one whole number: two index
 * look-ups instead of a scan. Gaps make ranges uneven, never wrong. Other keys are read as one range.
 */
async function splitKeys(
  plan: ReadPlan,
  rows: number,
  run: (what: string, query: Query) => Promise<RawResult>,
): Promise<KeyRange[]> {
  const whole: KeyRange[] = [{ after: null, through: null }];
  const [key, ...others] = plan.key;
  if (key === undefined || others.length > 0 || !('table' in plan.relation)) return whole;
  const from = fromClause(plan.relation);
  const name = `q.${quoteName(key)}`;
  const result = await run(`finding the bounds of ${nameOf(plan.relation)}`, {
    sql: `SELECT min(${name}), max(${name}), pg_typeof(min(${name}))::text FROM ${from.sql}`,
    bindings: from.bindings,
  });
  const [low, high, type] = result.rows[0]!;
  if (low == null || high == null || !['smallint', 'integer', 'bigint'].includes(type!)) return whole;
  const first = BigInt(low);
  const span = BigInt(high) - first + 1n;
  const estimate = await run(`estimating ${nameOf(plan.relation)}`, {
    sql: 'SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = to_regclass(?)',
    bindings: [tableNameParts(plan.relation.table).map(asIdentifier).join('.')],
  });
  const count = BigInt(estimate.rows[0]?.[0] ?? '0');
  const parts = count / BigInt(rows) < span ? count / BigInt(rows) : span;
  if (parts < 2n) return whole;
  const bounds = Array.from({ length: Number(parts) - 1 }, (_, i) =>
    String(first - 1n + (span * BigInt(i + 1)) / parts),
  );
  return [...bounds, null].map((bound, i) => ({
    after: i === 0 ? null : [bounds[i - 1]!],
    through: bound === null ? null : [bound],
  }));
}

/** A mapping may name a table with its schema or, where the search path finds it, without. */
const isNamed = (names: readonly string[]) => {
  const asked = new Set(names.map((name) => JSON.stringify(tableNameParts(name))));
  return ({ table, schema, name }: SourceTable): boolean =>
    asked.has(JSON.stringify(tableNameParts(table))) || asked.has(JSON.stringify([schema, name]));
};

/** For `to_regclass`, which reads the text of a name: no placeholders there. */
const asIdentifier = (part: string): string => `"${part.replaceAll('"', '""')}"`;
