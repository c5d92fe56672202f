/** Builds keyset queries: names are quoted, values are always bound, OFFSET is never used. */
import type { ReadBounds, ReadPlan, Relation } from '../domain/source.js';
import { tableNameParts } from './table-name.js';

export interface Query {
  readonly sql: string;
  readonly bindings: readonly (string | number | null | readonly string[])[];
}

/** Quotes one name. Not by Knex's `??`, which takes a dot, an asterisk and ` as ` in a name for syntax. */
export const quoteName = (name: string): string => `"${escapeMarks(name.replaceAll('"', '""'))}"`;

/** A query stands as it is, in brackets. */
export function fromClause(relation: Relation): Query {
  if ('table' in relation)
    return { sql: `${tableNameParts(relation.table).map(quoteName).join('.')} AS q`, bindings: [] };
  // The mapping's author wrote it; it runs in a read-only session (see session.ts).
  return { sql: `(${escapeMarks(relation.query.replace(/;\s*$/, ''))}\n) AS q`, bindings: [] };
}

/** Question marks of the partner's own SQL and names are no placeholders of ours. */
const escapeMarks = (sql: string): string => sql.replaceAll('?', '\\?');

const columnList = (columns: readonly string[]): string => columns.map((column) => `q.${quoteName(column)}`).join(', ');

/** One page after `bounds.after`, in reading order, for databases that compare row values. */
export function pageQuery(plan: ReadPlan, bounds: ReadBounds, limit: number): Query {
  const order = plan.cursor === null ? plan.key : [plan.cursor, ...plan.key.filter((k) => k !== plan.cursor)];
  const conditions: Query[] = [];
  const compare = (columns: readonly string[], operator: string, values: readonly string[]): void => {
    const marks = values.map(() => '?').join(', ');
    conditions.push({ sql: `(${columnList(columns)}) ${operator} (${marks})`, bindings: values });
  };
  if (bounds.after !== null) {
    const { cursor, key } = bounds.after;
    if (plan.cursor === null) compare(plan.key, '>', key);
    else compare(order, '>', [cursor!, ...key.filter((_, i) => plan.key[i] !== plan.cursor)]);
  }
  if (plan.cursor !== null && bounds.cursorFrom !== null) compare([plan.cursor], '>=', [bounds.cursorFrom]);
  if (plan.cursor !== null && bounds.cursorBefore !== null) compare([plan.cursor], '<', [bounds.cursorBefore]);
  if (bounds.throughKey !== null) compare(plan.key, '<=', bounds.throughKey);
  const from = fromClause(plan.relation);
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.map((c) => c.sql).join(' AND ')}`;
  return {
    sql: `SELECT ${columnList(plan.columns)} FROM ${from.sql}${where} ORDER BY ${columnList(order)} LIMIT ?`,
    bindings: [...from.bindings, ...conditions.flatMap((c) => c.bindings), limit],
  };
}

/** The rows whose `columns` equal one of `values`. */
export function byValuesQuery(
  plan: ReadPlan,
  columns: readonly string[],
  values: readonly (readonly string[])[],
): Query {
  const from = fromClause(plan.relation);
  const one = `(${columns.map((column) => `q.${quoteName(column)} = ?`).join(' AND ')})`;
  return {
    sql: `SELECT ${columnList(plan.columns)} FROM ${from.sql} WHERE ${values.map(() => one).join(' OR ')} ORDER BY ${columnList(plan.key)}`,
    bindings: [...from.bindings, ...values.flatMap((v) => columns.map((_, i) => v[i]!))],
  };
}
