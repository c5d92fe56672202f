/**
 * Names and values in statements: whatever a mapping calls its table and columns, and whatever stands in a key, the statement has the
 * same tokens as one about harmless names. The rules by which each database splits a text into tokens are written here once
 * more, from its documentation. `test/source/dialects/names.ts` reads such names from real databases.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadBounds } from '../../src/domain/source/source.js';
import type { ColumnType, Dialect } from '../../src/source/dialect.js';
import { byValuesQuery, countQuery, pageQuery, type KeysetPlan } from '../../src/source/keyset-query.js';
import { mssql } from '../../src/source/mssql/mssql.js';
import { mysql } from '../../src/source/mysql/mysql.js';
import { postgres } from '../../src/source/postgres/postgres.js';
import { sqlite } from '../../src/source/sqlite/sqlite.js';
import { tableName } from '../../src/source/table-name.js';

/** How a database quotes names, and a type of text as it knows it. */
const DIALECTS: readonly {
  dialect: Dialect;
  quotes: readonly [string, string];
  backslash: boolean;
  text: ColumnType;
}[] = [
  { dialect: postgres, quotes: ['"', '"'], backslash: false, text: { type: 'text', databaseType: 'text' } },
  { dialect: mysql, quotes: ['`', '`'], backslash: true, text: { type: 'text', databaseType: 'varchar(600)' } },
  { dialect: mssql, quotes: ['[', ']'], backslash: false, text: { type: 'text', databaseType: 'nvarchar(600)' } },
  { dialect: sqlite, quotes: ['"', '"'], backslash: false, text: { type: 'text', databaseType: 'TEXT' } },
];

const ENDS = [
  '"',
  '""',
  '`',
  '``',
  ']',
  ']]',
  '[',
  "'",
  "''",
  '\\',
  "\\'",
  '\\"',
  '\\`',
  '$1',
  '?',
  ':name',
  '??',
  '/*',
  '*/',
  '--',
  '#',
  ';',
  '\n',
  ')',
  '(',
];
const TAILS = [' OR 1=1', '; DROP TABLE people; --', ' UNION SELECT password FROM accounts', ' AS x, secret'];
/** Names, and the same texts as values. */
const HOSTILE: readonly string[] = [
  ...ENDS,
  ...['"', '`', ']', "'", '\\', '*/', ')'].flatMap((end) => TAILS.map((tail) => `id${end}${tail}`)),
  '*',
  'q.*',
  'count(*)',
  'id as x',
  'select',
  'NULL',
  '__proto__',
  '\u00a0',
  '\u2019',
  '\uff07',
  '\u02bc',
  '\ud83d\ude00',
  'x'.repeat(200),
];

const ALL: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

/** Statements of each kind about a table, its columns and values. */
function statements({ dialect, text }: (typeof DIALECTS)[number], name: string, value: string): string[] {
  const [id, cursor] = [name, `${name}2`].map((each) => ({ name: each, type: text }));
  const plan: KeysetPlan = {
    relation: { table: tableName('shop', name) },
    columns: [id!, cursor!],
    key: [id!],
    cursor: cursor!,
    unique: true,
    distinct: false,
  };
  const bounds = { ...ALL, after: { cursor: value, key: [value] }, cursorBefore: value, throughKey: [value] };
  return [
    pageQuery(dialect, plan, bounds, 10),
    pageQuery(dialect, plan, { ...ALL, whereIn: { columns: [name], values: [[value], [value]] } }, 10),
    pageQuery(
      dialect,
      { ...plan, cursor: null, key: plan.columns, distinct: true },
      { ...ALL, throughKey: [value, value] },
      10,
    ),
    countQuery(dialect, plan, cursor!, bounds),
    byValuesQuery(dialect, plan, [id!], [[value], [value]]),
  ].map(({ sql }) => sql);
}

/** The statement with every quoted name as N, and every text and row of hexadecimal digits as T. Throws if one does not end. */
function tokens(sql: string, { quotes: [open, close], backslash }: (typeof DIALECTS)[number]): string {
  let shown = '';
  for (let i = 0; i < sql.length; i++) {
    const [end, kind] = sql[i] === open ? [close, 'N'] : sql[i] === "'" ? ["'", 'T'] : [undefined, sql[i]!];
    shown += kind;
    if (end === undefined) continue;
    for (i++; sql[i] !== end || sql[i + 1] === end; i++) {
      if (i >= sql.length) throw new Error(`${kind} does not end: ${sql}`);
      if (sql[i] === end || (backslash && kind === 'T' && sql[i] === '\\')) i++;
    }
  }
  return shown.replaceAll(/0x[0-9a-f]*/g, 'T');
}

describe.each(DIALECTS)('$dialect.name', (one) => {
  const harmless = statements(one, 'id', 'value').map((sql) => tokens(sql, one));

  it.each(HOSTILE)('takes %j for nothing but a name, and for nothing but a value', (text) => {
    expect(statements(one, text, 'value').map((sql) => tokens(sql, one))).toEqual(harmless);
    expect(statements(one, 'id', text).map((sql) => tokens(sql, one))).toEqual(harmless);
  });

  it('does so with any text', () => {
    const parts = fc.array(fc.constantFrom(...ENDS, 'a', ' ', '.', '\u0000'), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(parts, parts, (name, value) => {
        const sql = statements(one, name.join(''), value.join(''));
        expect(sql.map((each) => tokens(each, one))).toEqual(harmless);
      }),
      { numRuns: 500 },
    );
  });
});

it('would notice a name that is not quoted, and one whose quotes are not doubled', () => {
  const [one] = DIALECTS;
  const careless = (quote: (name: string) => string) => ({ ...one!, dialect: { ...postgres, quote } });
  const differ = (quote: (name: string) => string): boolean =>
    HOSTILE.some((name) => {
      try {
        const harmless = statements(careless(quote), 'id', 'v').map((sql) => tokens(sql, one!));
        return statements(careless(quote), name, 'v').some((sql, i) => tokens(sql, one!) !== harmless[i]);
      } catch {
        return true;
      }
    });
  expect(differ((name) => name)).toBe(true);
  expect(differ((name) => `"${name}"`)).toBe(true);
  expect(differ((name) => postgres.quote(name))).toBe(false);
});
