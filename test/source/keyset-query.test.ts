/** Keyset queries against a model of what they must return, on a PostgreSQL in this process: each bound, order and comparison. */
import { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReadBounds } from '../../src/domain/source/source.js';
import type { ColumnType, Dialect, Query } from '../../src/source/dialect.js';
import {
  byValuesQuery,
  countQuery,
  fromClause,
  pageQuery,
  queryOf,
  selectLimited,
  type KeysetColumn,
  type KeysetPlan,
} from '../../src/source/keyset-query.js';
import { mssql } from '../../src/source/mssql/mssql.js';
import { postgres } from '../../src/source/postgres/postgres.js';

let database: PGlite;
beforeAll(async () => {
  database = await PGlite.create();
  await database.exec(`
    CREATE TABLE "odd ""table" (id int, "Group" text COLLATE "C", price numeric, at int);
    CREATE TABLE other (id int)`);
});
afterAll(() => database.close());

/** A row as text; a price may be written in several ways that compare equal. */
type Row = Readonly<Record<'id' | 'Group' | 'price' | 'at', string | null>>;

const plain = (databaseType: string): ColumnType => ({ type: 'text', databaseType });
const asText = (name: string): string => `${name}::text`;
const COLUMNS: Readonly<Record<keyof Row, KeysetColumn>> = {
  id: { name: 'id', type: { ...plain('int4'), select: asText } },
  Group: { name: 'Group', type: plain('text') },
  // Equal prices that are written differently are told apart by their texts.
  price: {
    name: 'price',
    type: {
      ...plain('numeric'),
      select: asText,
      tieBreak: (sql) => `CAST(CAST(${sql} AS numeric) AS text) COLLATE "C"`,
    },
  },
  at: { name: 'at', type: { ...plain('int4'), select: asText } },
};
/** Each way to compare two values of a column; null if they are equal. */
const numbers = (a: string, b: string): number => Number(a) - Number(b);
const texts = (a: string, b: string): number => Number(a > b) - Number(a < b);
const COMPARISONS: Readonly<Record<keyof Row, (a: string, b: string) => number>> = {
  id: numbers,
  Group: texts,
  price: numbers,
  at: numbers,
};

const columnsOf = (names: readonly (keyof Row)[]): KeysetColumn[] => names.map((name) => COLUMNS[name]);
const planOf = (parts: Partial<KeysetPlan> = {}): KeysetPlan => ({
  relation: { table: '"odd ""table"' },
  columns: Object.values(COLUMNS),
  key: columnsOf(['id']),
  cursor: null,
  unique: true,
  distinct: false,
  ...parts,
});
const ALL: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

/** A dialect that cannot compare rows, such as that of SQL Server. */
const WITHOUT_ROWS: Dialect = { ...postgres, comparesRows: false };
const DIALECTS = [
  ['that compares rows', postgres],
  ['that compares columns', WITHOUT_ROWS],
] as const;

async function rowsOf({ sql, bindings }: Query): Promise<Row[]> {
  const values = bindings.map((value) => (value === null ? null : String(value)));
  return (await database.query<Row>(sql, values)).rows;
}

async function fill(rows: readonly Row[]): Promise<void> {
  await database.exec('TRUNCATE "odd ""table"');
  for (const { id, Group, price, at } of rows)
    await database.query('INSERT INTO "odd ""table" VALUES ($1, $2, $3, $4)', [id, Group, price, at]);
}

/** The columns by which a plan's rows are ordered, then their texts where equal values may differ. */
function orderOf({ key, cursor, unique }: KeysetPlan): (a: Row, b: Row) => number {
  const names = [...(cursor === null ? [] : [cursor]), ...key].map(({ name }) => name as keyof Row);
  return (a, b) => {
    for (const name of names) {
      const difference = COMPARISONS[name](a[name]!, b[name]!);
      if (difference !== 0) return difference;
    }
    return unique || !names.includes('price') ? 0 : texts(a.price!, b.price!);
  };
}

const positionOf = ({ key, cursor }: KeysetPlan, row: Row) => ({
  cursor: cursor === null ? null : row[cursor.name as keyof Row],
  key: key.map(({ name }) => row[name as keyof Row]!),
});

/** All rows within the bounds, page by page. */
async function pagesOf(dialect: Dialect, plan: KeysetPlan, bounds: ReadBounds, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  let { after } = bounds;
  while (true) {
    const page = await rowsOf(pageQuery(dialect, plan, { ...bounds, after }, limit));
    if (page.length === 0) return rows;
    expect(page.length).toBeLessThanOrEqual(limit);
    rows.push(...page);
    after = positionOf(plan, page.at(-1)!);
  }
}

const few = (most: number) => fc.integer({ min: 0, max: most }).map(String);
const row: fc.Arbitrary<Row> = fc.record({
  id: few(3),
  Group: fc.constantFrom('', 'A', 'a', "it's", 'ä'),
  price: fc.constantFrom('1', '1.0', '1.00', '2', '10'),
  at: few(3),
});
/** The whole row is its key. */
const WHOLE = ['at', 'Group', 'id', 'price'] as const;
const table = fc.uniqueArray(row, { maxLength: 12, selector: (each) => JSON.stringify(each) });
const maybe = (values: fc.Arbitrary<string>) => fc.option(values, { nil: null });

describe.each(DIALECTS)('a dialect %s', (_, dialect) => {
  const given = fc.record({
    rows: table,
    cursor: fc.constantFrom<('at' | 'id' | null)[]>(null, 'at', 'id'),
    limit: fc.integer({ min: 1, max: 5 }),
    cursorFrom: maybe(few(3)),
    cursorBefore: maybe(few(4)),
    throughKey: fc.option(row, { nil: null }),
    group: maybe(fc.constantFrom('A', "it's")),
  });

  it('reads each row within the bounds once and in one order, whatever the pages', async () => {
    await fc.assert(
      fc.asyncProperty(given, async ({ rows, cursor, limit, cursorFrom, cursorBefore, throughKey, group }) => {
        await fill(rows);
        const plan = planOf({
          key: columnsOf(WHOLE),
          cursor: cursor === null ? null : COLUMNS[cursor],
          unique: false,
        });
        const keyOrder = orderOf({ ...plan, cursor: null });
        const expected = rows
          .filter(
            (each) =>
              (cursor === null || cursorFrom === null || numbers(each[cursor]!, cursorFrom) >= 0) &&
              (cursor === null || cursorBefore === null || numbers(each[cursor]!, cursorBefore) < 0) &&
              (throughKey === null || keyOrder(each, throughKey) <= 0) &&
              (group === null || each.Group === group || (each.Group === 'a' && each.at === '2')),
          )
          .toSorted(orderOf(plan));
        const whereIn = { columns: ['Group', 'at'], values: [] as string[][] };
        for (const at of ['0', '1', '2', '3']) if (group !== null) whereIn.values.push([group, at]);
        if (group !== null) whereIn.values.push(['a', '2']);
        const bounds: ReadBounds = {
          after: null,
          cursorFrom,
          cursorBefore,
          throughKey: throughKey === null ? null : WHOLE.map((name) => throughKey[name]!),
          ...(group !== null && { whereIn }),
        };
        expect(await pagesOf(dialect, plan, bounds, limit)).toEqual(expected);
      }),
      { numRuns: 80, seed: 4711 },
    );
  });

  it('tells rows apart whose keys compare equal and are not identical, wherever a page ends', async () => {
    const rows = ['1', '1.0', '1.00', '2', '2.0'].map((price) => ({ id: '1', Group: 'A', price, at: '1' }));
    await fill(rows.toReversed());
    const plan = planOf({ key: columnsOf(['price', 'id']), unique: false });
    for (const limit of [1, 2, 3, 9]) expect(await pagesOf(dialect, plan, ALL, limit)).toEqual(rows);
    const through = { ...ALL, throughKey: ['1.0', '1'] };
    expect(await pagesOf(dialect, plan, through, 9)).toEqual(rows.slice(0, 2));
  });

  it('begins after a position that no row has any more', async () => {
    await fill(['1', '3', '5'].map((id) => ({ id, Group: 'A', price: '1', at: id })));
    const plan = planOf({ cursor: COLUMNS.at });
    const after = { cursor: '3', key: ['2'] };
    const ids = async (bounds: ReadBounds) =>
      (await rowsOf(pageQuery(dialect, plan, bounds, 9))).map(({ id }) => Number(id));
    expect(await ids({ ...ALL, after })).toEqual([3, 5]);
    expect(await ids({ ...ALL, after: { cursor: '3', key: ['3'] } })).toEqual([5]);
  });

  it('ignores the bounds of a cursor if there is none, and compares a unique key by its columns alone', async () => {
    await fill([{ id: '1', Group: 'A', price: '1', at: '1' }]);
    const { sql } = pageQuery(dialect, planOf({ key: columnsOf(['price']) }), { ...ALL, cursorFrom: '9' }, 9);
    expect(sql).not.toContain('WHERE');
    expect(sql).not.toContain('COLLATE');
  });

  it('reads a key that several rows have once, and rows without one not at all', async () => {
    const at = (id: string | null, Group: string | null) => ({ id, Group, price: '1', at: '1' });
    await fill([at('2', 'A'), at('1', 'A'), at('2', 'A'), at(null, 'A'), at('3', null)]);
    const plan = planOf({ key: columnsOf(['Group', 'id']), columns: columnsOf(['id', 'Group']), distinct: true });
    for (const limit of [1, 9])
      expect(await pagesOf(dialect, plan, ALL, limit)).toEqual([
        { id: '1', Group: 'A' },
        { id: '2', Group: 'A' },
      ]);
  });

  it('counts how many rows within the bounds have which value', async () => {
    const at = (id: string, Group: string | null) => ({ id, Group, price: '1', at: id });
    await fill([at('1', 'A'), at('2', 'A'), at('3', 'b'), at('4', null)]);
    const counts = async (bounds: ReadBounds) => {
      const { sql, bindings } = countQuery(dialect, planOf({ cursor: COLUMNS.at }), COLUMNS.Group, bounds);
      const { rows } = await database.query<{ Group: string; count: number }>(
        sql,
        bindings.map((value) => String(value)),
      );
      return Object.fromEntries(rows.map(({ Group, count }) => [Group, count]));
    };
    expect(await counts(ALL)).toEqual({ A: 2, b: 1, null: 1 });
    expect(await counts({ ...ALL, cursorFrom: '2', cursorBefore: '4' })).toEqual({ A: 1, b: 1 });
  });

  it('finds the rows that have one of several combinations of values, in the order of the key', async () => {
    const at = (id: string, Group: string) => ({ id, Group, price: '1', at: id });
    await fill([at('3', 'A'), at('1', 'b'), at('1', 'A'), at('2', 'A')]);
    const query = byValuesQuery(dialect, planOf({ key: columnsOf(['id', 'Group']) }), columnsOf(['Group', 'id']), [
      ['A', '3'],
      ['A', '1'],
      ['b', '2'],
    ]);
    expect((await rowsOf(query)).map(({ id, Group }) => `${id} ${Group}`)).toEqual(['1 A', '3 A']);
  });
});

it('begins the comparison of columns with one that finds the place in an index', () => {
  const plan = planOf({ key: columnsOf(['at', 'id']) });
  const { sql } = pageQuery(WITHOUT_ROWS, plan, { ...ALL, after: { cursor: null, key: ['1', '2'] } }, 9);
  expect(sql).toContain('WHERE q."at" >= $1 AND (q."at" > $2 OR (q."at" = $3 AND q."id" > $4)) ORDER BY');
  const through = pageQuery(WITHOUT_ROWS, plan, { ...ALL, throughKey: ['1', '2'] }, 9);
  expect(through.sql).toContain('WHERE q."at" <= $1 AND (q."at" < $2 OR (q."at" = $3 AND q."id" <= $4)) ORDER BY');
  const rows = pageQuery(postgres, plan, { ...ALL, after: { cursor: null, key: ['1', '2'] } }, 9);
  expect(rows.sql).toContain('WHERE (q."at", q."id") > ($1, $2) ORDER BY q."at", q."id" LIMIT $3');
  expect(rows.bindings).toEqual(['1', '2', 9]);
});

it('orders and compares a column as its type says, and selects it under its own name', () => {
  const odd: KeysetColumn = { name: 'o"dd', type: { ...plain('x'), order: (name) => `f(${name})`, select: asText } };
  const plan = planOf({ columns: [odd], key: [odd], cursor: odd });
  const { sql } = pageQuery(postgres, plan, { ...ALL, cursorBefore: '5', after: { cursor: '1', key: ['1'] } }, 9);
  expect(sql).toBe(
    `SELECT q."o""dd"::text AS "o""dd" FROM "odd ""table" q WHERE f(q."o""dd") > $1 AND f(q."o""dd") < $2 ORDER BY f(q."o""dd") LIMIT $3`,
  );
});

it('reads tables of schemas and queries, with or without a semicolon at their end', () => {
  expect(fromClause(postgres, { table: 'shop.customers' })).toBe('"shop"."customers" q');
  for (const query of ['SELECT 1 -- one', 'SELECT 1 -- one;  \n'])
    expect(fromClause(postgres, { query })).toBe('(SELECT 1 -- one\n) q');
  for (const query of ['SELECT 1; -- all', 'SELECT 1;-- all\n', 'SELECT 1; \n--\n  -- of them\n\n'])
    expect(fromClause(postgres, { query })).toBe('(SELECT 1\n) q');
  for (const query of [
    `SELECT ';' AS a`,
    `SELECT '; -- a'`,
    'SELECT 1 AS "; -- a"',
    'SELECT 1 /* ; -- a */',
    '/* ; -- a\n */ SELECT 1',
    'SELECT $a$; -- a$a$',
    'SELECT 1 AS `; -- a`',
    'SELECT 1 AS [; -- a]',
    'SELECT 1; -- a\nFROM b',
  ])
    expect(fromClause(postgres, { query })).toBe(`(${query}\n) q`);
});

it('writes the limit where the dialect has it, and numbers what is bound', () => {
  const limited = (dialect: Dialect) =>
    queryOf(dialect, (bind) => selectLimited(dialect, 'a', `t WHERE b = ${bind('x')}`, 7, bind));
  expect(limited(postgres)).toEqual({ sql: 'SELECT a FROM t WHERE b = $1 LIMIT $2', bindings: ['x', 7] });
  expect(limited(mssql)).toEqual({ sql: 'SELECT TOP (7) a FROM t WHERE b = ? ', bindings: ['x'] });
});
