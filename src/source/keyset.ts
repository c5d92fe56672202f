/** Builds keyset queries: identifiers are quoted by Knex, values are always bound, OFFSET is never used. */
import type { ReadBounds, ReadPlan, Relation } from '../domain/source.js';

export interface Query {
  readonly sql: string;
  readonly bindings: readonly (string | number | readonly string[])[];
}

/** `??` quotes each part of `schema.table`; a query stands as it is, in brackets. */
export function fromClause(relation: Relation): Query {
  if ('table' in relation) return { sql: '?? AS q', bindings: [escapeMarks(relation.table)] };
  // The mapping's author wrote it; it runs in a read-only session (see session.ts).
  return { sql: `(${escapeMarks(relation.query.replace(/;\s*$/, ''))}\n) AS q`, bindings: [] };
}

/** Question marks of the partner's own SQL and names are no placeholders of ours. */
const escapeMarks = (sql: string): string => sql.replaceAll('?', '\\?');

const columnList = (columns: readonly string[]): Query => ({
  sql: columns.map(() => 'q.??').join(', '),
  bindings: columns.map(escapeMarks),
});

/** One page after `bounds.after`, in reading order, for databases that compare row values. */
export function pageQuery(plan: ReadPlan, bounds: ReadBounds, limit: number): Query {
  const order = plan.cursor === null ? plan.key : [plan.cursor, ...plan.key.filter((k) => k !== plan.cursor)];
  const conditions: Query[] = [];
  const compare = (columns: readonly string[], operator: string, values: readonly string[]): void => {
    const names = columns.map(() => 'q.??').join(', ');
    const marks = values.map(() => '?').join(', ');
    conditions.push({ sql: `(${names}) ${operator} (${marks})`, bindings: [...columns.map(escapeMarks), ...values] });
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
  const columns = columnList(plan.columns);
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.map((c) => c.sql).join(' AND ')}`;
  const by = columnList(order);
  return {
    sql: `SELECT ${columns.sql} FROM ${from.sql}${where} ORDER BY ${by.sql} LIMIT ?`,
    bindings: [...columns.bindings, ...from.bindings, ...conditions.flatMap((c) => c.bindings), ...by.bindings, limit],
  };
}

/** The rows whose `columns` equal one of `values`. */
export function byValuesQuery(
  plan: ReadPlan,
  columns: readonly string[],
  values: readonly (readonly string[])[],
): Query {
  const from = fromClause(plan.relation);
  const selected = columnList(plan.columns);
  const one = `(${columns.map(() => 'q.?? = ?').join(' AND ')})`;
  const by = columnList(plan.key);
  return {
    sql: `SELECT ${selected.sql} FROM ${from.sql} WHERE ${values.map(() => one).join(' OR ')} ORDER BY ${by.sql}`,
    bindings: [
      ...selected.bindings,
      ...from.bindings,
      ...values.flatMap((v) => columns.flatMap((column, i) => [escapeMarks(column), v[i]!])),
      ...by.bindings,
    ],
  };
}
