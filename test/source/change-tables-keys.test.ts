/** The texts of keys from change tables: exactly those of pages, whatever the session of the writer. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createChangeTable, undisturbed } from './change-table-database.js';
import { here, TEST_DIALECTS, type TestDialectName } from './dialect-databases.js';
import { plan, readAll } from './reading.js';
import { groupsFrom } from './slot-server.js';

interface KeyCases {
  /** What a writer's session may have set. */
  readonly session: readonly string[];
  /** Values by the type of their column, as literals of SQL. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Types that no key of a change table can have. */
  readonly refused: readonly string[];
}

const CASES: Readonly<Record<TestDialectName, KeyCases>> = {
  PostgreSQL: {
    session: [
      `SET datestyle = 'German, DMY'`,
      `SET timezone = 'America/St_Johns'`,
      `SET intervalstyle = 'postgres_verbose'`,
      `SET bytea_output = 'escape'`,
      'SET extra_float_digits = -10',
    ],
    values: {
      bigint: ['-9223372036854775808', '9223372036854775807'],
      'numeric(30,10)': ['0.1000000000', '-12345678901234567890.5'],
      numeric: ['1.50', "'NaN'"],
      text: [`'it''s'`, `''`, `E'tab\\t"quoted" \\\\ back'`, `'{a,b}'`, `'NULL'`, `'Zoë 😀'`],
      'character(5)': [`'ab'`],
      boolean: ['true', 'false'],
      date: [`'2024-02-29'`, `'0044-03-15 BC'`, `'infinity'`],
      timestamptz: [`'2024-07-01 12:00:00.123456+02'`],
      timestamp: [`'2024-07-01 12:00:00.1'`],
      time: [`'23:59:59.5'`],
      interval: [`'1 year 2 days 03:04:05'`],
      uuid: [`'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'`],
      bytea: [`'\\x00ff5c27'`],
      'double precision': ['0.1', '1e300', '0.30000000000000004'],
      real: ['0.1'],
      inet: [`'192.168.0.1'`, `'10.0.0.0/8'`],
    },
    refused: ['integer[]', 'money'],
  },
  MariaDB: {
    session: [
      `SET time_zone = '-03:30'`,
      `SET NAMES latin1`,
      `SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'`,
    ],
    values: {
      'bigint unsigned': ['0', '18446744073709551615'],
      'int(8) zerofill': ['42'],
      'decimal(20,5)': ['1.50000', '-0.00001'],
      'varchar(40) character set latin1': [`'it''s "1"'`, `''`, `CHAR(92)`, `_utf8mb4 X'5A6FC3AB'`],
      'varchar(40) character set utf8mb4': [`_utf8mb4 X'F09F9880'`, `_utf8mb4 X'C384'`],
      'char(5)': [`'ab'`],
      date: [`'2024-02-29'`],
      'datetime(6)': [`'2024-07-01 12:00:00.120000'`],
      datetime: [`'2024-07-01 12:00:00'`],
      'time(3)': [`'-12:30:00.500'`],
      uuid: [`'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'`],
      'binary(4)': [`X'00ff5c27'`],
      'varbinary(8)': [`X''`, `X'5c22'`],
      "enum('x','y')": [`'y'`],
      year: ['2024'],
    },
    refused: ['double', 'float', 'timestamp', 'bit(8)'],
  },
  MySQL: {
    session: [
      `SET time_zone = '-03:30'`,
      `SET NAMES latin1`,
      `SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'`,
    ],
    values: {
      'bigint unsigned': ['0', '18446744073709551615'],
      'int(8) zerofill': ['42'],
      'decimal(20,5)': ['1.50000', '-0.00001'],
      'varchar(40) character set latin1': [`'it''s "1"'`, `''`, `CHAR(92)`, `_utf8mb4 X'5A6FC3AB'`],
      'varchar(40) character set utf8mb4': [`_utf8mb4 X'F09F9880'`, `_utf8mb4 X'C384'`],
      'varchar(40) character set utf8mb4 collate utf8mb4_0900_ai_ci': [`_utf8mb4 X'C384'`, `'b '`],
      'char(5)': [`'ab'`],
      date: [`'2024-02-29'`],
      'datetime(6)': [`'2024-07-01 12:00:00.120000'`],
      datetime: [`'2024-07-01 12:00:00'`],
      'time(3)': [`'-12:30:00.500'`],
      'binary(4)': [`X'00ff5c27'`],
      'varbinary(8)': [`X''`, `X'5c22'`],
      "enum('x','y')": [`'y'`],
      year: ['2024'],
    },
    refused: ['double', 'float', 'timestamp', 'bit(8)'],
  },
  SQLite: {
    session: [],
    values: {
      INTEGER: ['-9223372036854775808', '7'],
      TEXT: [`'it''s'`, `''`, `'a,b'`, `'NULL'`, `'X''00'''`, `'Zoë 😀'`, '42'],
      BLOB: [`X'00FF2C27'`, `X''`],
      REAL: ['0.1', '1e300', '2'],
      'DECIMAL(10,2)': ['1.5', '3'],
      BOOLEAN: ['1', '0'],
      DATETIME: [`'2024-07-01 12:00:00'`],
      // 1 beside '1' would be two rows with one key.
      '': ['1', `'2'`, '1.5', `X'31'`],
    },
    refused: [],
  },
};

/** A table with a key of two texts. */
const COLLATIONS: Readonly<Record<TestDialectName, string>> = {
  PostgreSQL: `CREATE COLLATION ignoring_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE names (a text COLLATE ignoring_case, b text COLLATE "C", no integer, PRIMARY KEY (a, b))`,
  MariaDB: `CREATE TABLE names (a varchar(20) CHARACTER SET latin1 COLLATE latin1_general_ci,
    b varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, no integer, PRIMARY KEY (a, b))`,
  MySQL: `CREATE TABLE names (a varchar(20) CHARACTER SET latin1 COLLATE latin1_general_ci,
    b varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci, no integer, PRIMARY KEY (a, b))`,
  SQLite: 'CREATE TABLE names (a text COLLATE NOCASE, b text, no integer, PRIMARY KEY (a, b))',
};

describe.each(here(TEST_DIALECTS))('keys of $name', (listed) => {
  const dialect = undisturbed(listed);
  const { session, values, refused } = CASES[listed.name];

  it("are those of pages, in a writer's session with other settings", async () => {
    const types = Object.entries(values);
    const tableOf = (index: number): string => `keys_${index}`;
    const tables = types.map(
      ([type], i) => `CREATE TABLE ${tableOf(i)} (k ${type} NOT NULL PRIMARY KEY, note varchar(20))`,
    );
    const database = await createChangeTable(
      dialect,
      tables.join(';\n'),
      Object.fromEntries(types.map((_, i) => [tableOf(i), ['k']])),
    );
    const { feed, source } = database;
    const start = await feed.begin();
    const writer = await database.connect();
    onTestFinished(() => writer.end());
    for (const setting of session) await writer.run(setting);
    for (const [i, [, literals]] of types.entries())
      for (const literal of literals) await writer.run(`INSERT INTO ${tableOf(i)} VALUES (${literal}, NULL)`);

    const rows = (await groupsFrom(feed, start)).flatMap((group) => group.rows);
    for (const [i, [type, literals]] of types.entries()) {
      const told = rows
        .filter(({ table }) => table.name === tableOf(i))
        .flatMap(({ keys }) => keys.map(([key]) => key));
      const read = await readAll(source, plan(tableOf(i), ['k']), 100);
      expect([type, told.toSorted()]).toEqual([type, read.toSorted()]);
      expect(told).toHaveLength(literals.length);
    }
  });

  it('are told when a value changes in its letters only, and both of them', async () => {
    const { feed, run } = await createChangeTable(
      dialect,
      'CREATE TABLE codes (code varchar(20) NOT NULL PRIMARY KEY)',
      { codes: ['code'] },
    );
    await run(`INSERT INTO codes VALUES ('a')`);
    const start = await feed.begin();
    await run(`UPDATE codes SET code = 'A'`);
    const keys = (await groupsFrom(feed, start)).flatMap(({ rows }) =>
      rows.flatMap((of) => of.keys.map(([key]) => key)),
    );
    expect(new Set(keys)).toEqual(new Set(['a', 'A']));
  });

  it('may be of columns with different collations, some of which ignore case', async () => {
    const { feed, run } = await createChangeTable(dialect, COLLATIONS[listed.name], { names: ['a', 'b'] });
    await run(`INSERT INTO names VALUES ('a', 'b', 1)`);
    const start = await feed.begin();
    await run(`UPDATE names SET a = 'A'`);
    await run(`UPDATE names SET b = 'B'`);
    const keys = (await groupsFrom(feed, start)).flatMap(({ rows }) => rows.flatMap((of) => of.keys.map(String)));
    expect(new Set(keys)).toEqual(new Set(['a,b', 'A,b', 'A,B']));
  });

  it('are of tables and columns with any name', async () => {
    const [table, column] = [`it's a "table" \\ x`, 'the "key" `of` it'].map(dialect.quote) as [string, string];
    const { feed, run } = await createChangeTable(
      dialect,
      `CREATE TABLE ${table} (${column} integer NOT NULL PRIMARY KEY)`,
      { [`it's a "table" \\ x`]: ['the "key" `of` it'] },
    );
    const start = await feed.begin();
    await run(`INSERT INTO ${table} VALUES (1)`);
    expect((await groupsFrom(feed, start)).flatMap(({ rows }) => rows)).toMatchObject([
      { table: { name: `it's a "table" \\ x` }, columns: ['the "key" `of` it'], keys: [['1']] },
    ]);
  });

  it.each(refused)('of the type %s are refused', async (type) => {
    const { feed, planned } = await createChangeTable(dialect, `CREATE TABLE t (k ${type} NOT NULL, id integer)`, {});
    const { findings } = await feed.installation(await planned({ t: ['k'] }));
    expect(findings.filter(({ blocks }) => blocks)).toMatchObject([{ kind: 'key-type', table: { name: 't' } }]);
  });

  it('with NULL, which no mapping has, harm nobody', async () => {
    const { feed, run } = await createChangeTable(dialect, 'CREATE TABLE t (a integer, b integer)', { t: ['a', 'b'] });
    const start = await feed.begin();
    await run('INSERT INTO t VALUES (1, NULL), (1, 2)');
    await run('UPDATE t SET a = 3');
    await run('DELETE FROM t');
    const keys = (await groupsFrom(feed, start)).flatMap(({ rows }) => rows.flatMap((of) => of.keys.map(String)));
    expect(new Set(keys)).toEqual(new Set(['1,2', '3,2']));
  });
});
