/** Builds keyset queries: names are quoted, values are bound or escaped by the dialect, OFFSET is never used. */
import type { ReadBounds, Relation, SourceKey } from '../domain/source/source.js';
import type { Bind, Binding, ColumnType, Dialect, Query } from './dialect.js';
import { tableNameParts } from './table-name.js';

/** A column of the relation with its type; `name` is unquoted. */
export interface KeysetColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** What is read from a relation, and in which order: a read plan with the types of its columns. */
export interface KeysetPlan {
  readonly relation: Relation;
  readonly columns: readonly KeysetColumn[];
  readonly key: readonly KeysetColumn[];
  readonly cursor: KeysetColumn | null;
  /** Whether the key identifies a row: columns that are ordered as they are need no tie-break then. */
  readonly unique: boolean;
  /** Whether a key that several rows have is read once, and rows without one are left out. */
  readonly distinct: boolean;
}

/** One expression of ORDER BY, and the same expression applied to a bound. */
interface Term {
  readonly sql: string;
  readonly value: (text: string, bind: Bind) => string;
  /** The index of its value in a bound. */
  readonly index: number;
}

/** The relation as an item of FROM with the alias `q`. */
export function fromClause(dialect: Dialect, relation: Relation): string {
  if ('table' in relation)
    return `${tableNameParts(relation.table)
      .map((part) => dialect.quote(part))
      .join('.')} q`;
  // The query comes from the mapping's author and runs in a read-only session.
  return `(${relation.query.replace(END_OF_QUERY, '')}\n) q`;
}

/** A last semicolon, with comments after it that contain nothing by which a text, a name or a comment around it could end. */
const END_OF_QUERY = /;\s*(?:--[^'"`\]$*\n]*(?:\n\s*|$))*$/;

/** The query whose text `write` returns, with what it binds meanwhile. */
export function queryOf(dialect: Dialect, write: (bind: Bind) => string): Query {
  const bindings: Binding[] = [];
  const sql = write((value) => dialect.placeholder(bindings.push(value)));
  return { sql, bindings };
}

/** `SELECT list FROM rest`, limited to `rows` rows. */
export const selectLimited = (dialect: Dialect, list: string, rest: string, rows: number, bind: Bind): string =>
  `SELECT ${dialect.top?.(rows) ?? ''}${list} FROM ${rest} ${dialect.limit(rows, bind)}`;

/** One page of at most `limit` rows within `bounds`, ordered by cursor and key. */
export function pageQuery(dialect: Dialect, plan: KeysetPlan, bounds: ReadBounds, limit: number): Query {
  const order = termsOf(dialect, readingOrder(plan), plan.unique);
  return queryOf(dialect, (bind) => {
    const by = order.map((term) => term.sql).join(', ');
    return selectLimited(
      dialect,
      selectList(dialect, plan.columns),
      `${fromClause(dialect, plan.relation)}${where(dialect, plan, bounds, bind)}${grouping(dialect, plan)} ORDER BY ${by}`,
      limit,
      bind,
    );
  });
}

/** Not DISTINCT, with which columns could be ordered only by what is selected of them. Keys that compare as equal are groups of their own. */
function grouping(dialect: Dialect, { distinct, key }: KeysetPlan): string {
  if (!distinct) return '';
  const terms = termsOf(dialect, key, false).map(({ sql }) => sql);
  return ` GROUP BY ${[...new Set([...key.map((column) => columnSql(dialect, column)), ...terms])].join(', ')}`;
}

/** How many rows within `bounds` have which value in the column: two columns, the value and the number. */
export const countQuery = (dialect: Dialect, plan: KeysetPlan, column: KeysetColumn, bounds: ReadBounds): Query =>
  queryOf(
    dialect,
    (bind) =>
      `SELECT ${selectList(dialect, [column])}, count(*) FROM ${fromClause(dialect, plan.relation)}${where(dialect, plan, bounds, bind)} GROUP BY ${columnSql(dialect, column)}`,
  );

/** The columns by which the plan's rows are ordered. */
export const readingOrder = ({ key, cursor }: KeysetPlan): readonly KeysetColumn[] =>
  cursor === null ? key : [cursor, ...key.filter((k) => k.name !== cursor.name)];

/** The WHERE clause of the bounds, with a blank before it; empty if there are none. */
function where(dialect: Dialect, plan: KeysetPlan, bounds: ReadBounds, bind: Bind): string {
  const { key, cursor } = plan;
  const columns = readingOrder(plan);
  const conditions: string[] = [];
  if (bounds.after !== null) {
    const { after } = bounds;
    const values = columns.map((column) =>
      cursor !== null && column.name === cursor.name ? after.cursor! : after.key[key.indexOf(column)]!,
    );
    conditions.push(...compare(dialect, termsOf(dialect, columns, plan.unique), '>', values, bind));
  }
  const bound = (text: string | null, operator: string): void => {
    if (cursor === null || text === null) return;
    conditions.push(`${expression(dialect, cursor)} ${operator} ${dialect.value(cursor.type, text, bind)}`);
  };
  bound(bounds.cursorFrom, '>=');
  bound(bounds.cursorBefore, '<');
  if (bounds.throughKey !== null)
    conditions.push(...compare(dialect, termsOf(dialect, key, plan.unique), '<=', bounds.throughKey, bind));
  if (bounds.whereIn !== undefined) {
    const { whereIn } = bounds;
    const compared = whereIn.columns.map((name) => plan.columns.find((column) => column.name === name)!);
    conditions.push(`(${anyOf(whereIn.values.map((value) => equals(dialect, compared, value, bind)))})`);
  }
  if (plan.distinct) conditions.push(...key.map((column) => `${columnSql(dialect, column)} IS NOT NULL`));
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

/** The rows whose `columns` equal one of `values`, in key order. */
export function byValuesQuery(
  dialect: Dialect,
  plan: KeysetPlan,
  columns: readonly KeysetColumn[],
  values: readonly SourceKey[],
): Query {
  return queryOf(dialect, (bind) => {
    const by = plan.key.map((column) => expression(dialect, column)).join(', ');
    return `SELECT ${selectList(dialect, plan.columns)} FROM ${fromClause(dialect, plan.relation)} WHERE ${anyOf(values.map((value) => equals(dialect, columns, value, bind)))} ORDER BY ${by}`;
  });
}

/** Fails like {@link byValuesQuery} if a column cannot hold one of the values, and computes no row. */
export const valuesQuery = (
  dialect: Dialect,
  relation: Relation,
  columns: readonly KeysetColumn[],
  values: readonly SourceKey[],
): Query =>
  queryOf(dialect, (bind) => {
    const wanted = anyOf(values.map((value) => equals(dialect, columns, value, bind)));
    return selectLimited(dialect, '1', `${fromClause(dialect, relation)} WHERE ${wanted}`, 0, bind);
  });

/** For SQLite, each OR of a chain is nested in the next one, and it refuses a thousand of them: so long chains are grouped. */
const CONDITIONS_IN_A_ROW = 100;

function anyOf(conditions: readonly string[]): string {
  if (conditions.length <= CONDITIONS_IN_A_ROW) return conditions.join(' OR ');
  const groups = Array.from({ length: Math.ceil(conditions.length / CONDITIONS_IN_A_ROW) }, (_, i) =>
    conditions.slice(i * CONDITIONS_IN_A_ROW, (i + 1) * CONDITIONS_IN_A_ROW),
  );
  return groups.map((group) => `(${group.join(' OR ')})`).join(' OR ');
}

const equals = (dialect: Dialect, columns: readonly KeysetColumn[], value: SourceKey, bind: Bind): string =>
  `(${columns.map((c, i) => `${expression(dialect, c)} = ${dialect.value(c.type, value[i]!, bind)}`).join(' AND ')})`;

const columnSql = (dialect: Dialect, { name }: KeysetColumn): string => `q.${dialect.quote(name)}`;

/** The expression by which a column is compared and ordered. */
function expression(dialect: Dialect, column: KeysetColumn): string {
  const name = columnSql(dialect, column);
  return column.type.order?.(name) ?? name;
}

const selectList = (dialect: Dialect, columns: readonly KeysetColumn[]): string =>
  columns
    .map((column) => {
      const name = columnSql(dialect, column);
      return column.type.select === undefined ? name : `${column.type.select(name)} AS ${dialect.quote(column.name)}`;
    })
    .join(', ');

function termsOf(dialect: Dialect, columns: readonly KeysetColumn[], unique: boolean): Term[] {
  const value = (column: KeysetColumn) => (text: string, bind: Bind) => dialect.value(column.type, text, bind);
  const plain = columns.map((column, index): Term => ({
    sql: expression(dialect, column),
    value: value(column),
    index,
  }));
  const ties = columns.flatMap((column, index): Term[] => {
    const { tieBreak, order } = column.type;
    // Values that a unique key tells apart may be equal in the expression that orders them.
    if (tieBreak === undefined || (unique && order === undefined)) return [];
    return [
      { sql: tieBreak(columnSql(dialect, column)), value: (text, bind) => tieBreak(value(column)(text, bind)), index },
    ];
  });
  return [...plain, ...ties];
}

/** The conditions of `(terms) operator (values)`, compared as SQL compares rows: the first difference decides. */
function compare(
  dialect: Dialect,
  terms: readonly Term[],
  operator: '>' | '<=',
  values: readonly string[],
  bind: Bind,
): string[] {
  const valueOf = (term: Term): string => term.value(values[term.index]!, bind);
  const [first, ...rest] = terms as [Term, ...Term[]];
  if (rest.length === 0) return [`${first.sql} ${operator} ${valueOf(first)}`];
  if (dialect.comparesRows)
    return [`(${terms.map((t) => t.sql).join(', ')}) ${operator} (${terms.map(valueOf).join(', ')})`];
  const strict = operator === '>' ? '>' : '<';
  const expanded = ([term, ...others]: readonly Term[]): string =>
    others.length === 0
      ? `${term!.sql} ${operator} ${valueOf(term!)}`
      : `(${term!.sql} ${strict} ${valueOf(term!)} OR (${term!.sql} = ${valueOf(term!)} AND ${expanded(others)}))`;
  // With the first condition by itself, planners start at the right place in the index.
  return [`${first.sql} ${strict}= ${valueOf(first)}`, expanded(terms)];
}
