/** Reading PostgreSQL: every row once, in the database's own order, whatever happens meanwhile. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { ReadPlan, Source } from '../../src/domain/source/source.js';
import { createDatabase, eventually, type Database } from '../pipeline/shop.js';
import { readRowsByValues } from '../../src/reading/read-rows-by-values.js';
import { ALL, codeOf, open, plan, readAll } from './reading.js';

let database: Database;
let source: Source;

beforeAll(async () => {
  database = await createDatabase();
  source = open(database.url);
});
afterAll(async () => {
  await source.close();
  await database.drop();
});

describe('pages', () => {
  const keys: Readonly<Record<string, { ddl: string; key: string[]; cursor: string | null; fill: string }>> = {
    'ties of stamps that differ by microseconds': {
      ddl: 'id int, at timestamptz(6)',
      key: ['id'],
      cursor: 'at',
      fill: `SELECT i, timestamptz '2020-01-01 00:00:00.000001+00' + (i / 7) * interval '1 microsecond' FROM generate_series(1, 97) i`,
    },
    'a composite key of text and number': {
      ddl: 'a text, b bigint',
      key: ['a', 'b'],
      cursor: null,
      fill: `SELECT chr(97 + i % 5), 9007199254740990 + i FROM generate_series(1, 97) i`,
    },
    "text in the database's own collation": {
      ddl: 'k text',
      key: ['k'],
      cursor: null,
      fill: `SELECT k FROM unnest(ARRAY['a','A','b','B','ä','z','Z','-a','a-b','a b','ab','1','10','2','😀','ﬀ','ß','ss','_','''','\\','%','É','e']) k`,
    },
    'text in a collation of its own': {
      ddl: 'k text COLLATE "und-x-icu"',
      key: ['k'],
      cursor: null,
      fill: `SELECT k FROM unnest(ARRAY['a','A','b','B','ä','z','Z','-a','a-b','a b','ab','1','10','2','😀','ﬀ','ß','ss','_']) k`,
    },
    'uuids, by a date that may be infinite': {
      ddl: 'u uuid, d date',
      key: ['u'],
      cursor: 'd',
      fill: `SELECT md5(i::text)::uuid, CASE i % 4 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE '2020-01-01' END::date FROM generate_series(1, 60) i`,
    },
    'a key that is its own cursor': {
      ddl: 'n numeric',
      key: ['n'],
      cursor: 'n',
      fill: `SELECT i / 3.0 FROM generate_series(1, 60) i`,
    },
  };
  for (const [what, { ddl, key, cursor, fill }] of Object.entries(keys))
    it(`contain each row once, in order, at every page size: ${what}`, async () => {
      const table = `t${Object.keys(keys).indexOf(what)}`;
      await database.query(`CREATE TABLE ${table} (${ddl}); `);
      await database.query(`INSERT INTO ${table} ${fill}`);
      const read = plan(table, key, cursor);
      const order = cursor === null || key.includes(cursor) ? key : [cursor, ...key];
      const whole = (
        await database.query<{ row: string }>(
          `SELECT concat_ws('|', ${read.columns.map((c) => (c === 'at' ? `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')` : `${c}::text`)).join(', ')}) AS row FROM ${table} ORDER BY ${order.join(', ')}`,
        )
      ).map((r) => r.row);

      for (let size = 1; size <= 50; size++)
        expect(
          (await readAll(source, read, size)).map((row) =>
            row.replace(/\+00$/, '').replace(/(\.\d+)$/, (f) => (read.columns.includes('at') ? f.padEnd(7, '0') : f)),
          ),
          `pages of ${size}`,
        ).toEqual(whole);
    });

  it('skip no row of a table that inherits from the one that is read: the primary key does not cover it', async () => {
    await database.query(`CREATE TABLE heard (id int PRIMARY KEY); CREATE TABLE heard_of () INHERITS (heard)`);
    await database.query(`INSERT INTO heard VALUES (1), (2)`);
    await database.query(`INSERT INTO heard_of VALUES (2), (3)`);
    expect((await source.tables(['heard']))[0]).toMatchObject({ primaryKey: ['id'], uniqueKeys: [] });
    for (const size of [2, 3])
      expect(await codeOf(readAll(source, plan('heard', ['id']), size))).toBe('source_key_unusable');

    await database.query(`DROP TABLE heard_of`);
    expect((await source.tables(['heard']))[0]!.uniqueKeys).toEqual([['id']]);
  });

  it('continue past rows that are deleted, updated and inserted behind the position', async () => {
    await database.query(`CREATE TABLE moving (id int PRIMARY KEY, name text)`);
    await database.query(`INSERT INTO moving SELECT i * 10, 'n' FROM generate_series(1, 50) i`);

    const rows = await readAll(source, plan('moving', ['id'], null, ['name']), 5, ALL, async (page) => {
      const behind = (page + 1) * 50;
      await database.query(`DELETE FROM moving WHERE id = ${behind}`);
      await database.query(`INSERT INTO moving VALUES (${behind - 5}, 'late')`);
      await database.query(`UPDATE moving SET name = 'changed' WHERE id > ${behind}`);
    });

    expect(rows.map((row) => Number(row.split('|')[0]))).toEqual(Array.from({ length: 50 }, (_, i) => (i + 1) * 10));
    expect(rows.at(-1)).toBe('500|changed');
  });

  it('respect their bounds: from inclusive, to exclusive, through key inclusive', async () => {
    await database.query(`CREATE TABLE bounded AS SELECT i AS id, i AS at FROM generate_series(1, 20) i`);
    const byCursor = plan('bounded', ['id'], 'at');
    expect(await readAll(source, byCursor, 3, { ...ALL, cursorFrom: '5', cursorBefore: '9' })).toEqual([
      '5|5',
      '6|6',
      '7|7',
      '8|8',
    ]);
    expect(await readAll(source, plan('bounded', ['id']), 3, { ...ALL, throughKey: ['3'] })).toEqual(['1', '2', '3']);
  });

  it('contain every value as the text that the database writes', async () => {
    const values = `SELECT 1 AS id, 9223372036854775807::bigint AS big, 1.10::numeric AS price, 'NaN'::float8 AS nan, 0.1::float8 + 0.2 AS sum,
      '2020-06-01 12:00:00.123456+02'::timestamptz AS at, '0044-03-15 BC'::date AS bc, 'infinity'::timestamp AS never, true AS yes,
      '\\xff00'::bytea AS bytes, '{"a":1.50}'::json AS j, NULL::text AS nothing, '' AS empty`;
    const read: ReadPlan = {
      relation: { query: values },
      columns: ['id', 'big', 'price', 'nan', 'sum', 'at', 'bc', 'never', 'yes', 'bytes', 'j', 'nothing', 'empty'],
      key: ['id'],
      cursor: null,
    };
    const page = await source.readPage(read, ALL, 10);
    expect([...page.rows]).toEqual([
      [
        '1',
        '9223372036854775807',
        '1.10',
        'NaN',
        '0.30000000000000004',
        '2020-06-01 10:00:00.123456+00',
        '0044-03-15 BC',
        'infinity',
        't',
        '\\xff00',
        '{"a":1.50}',
        null,
        '',
      ],
    ]);
    expect(page.columns.map((c) => c.type).slice(0, 8)).toEqual([
      'integer',
      'integer',
      'decimal',
      'float',
      'float',
      'timestamptz',
      'date',
      'timestamp',
    ]);
  });
});

describe('names and queries', () => {
  it('reads tables and columns with quotes, capitals, blanks and reserved words', async () => {
    await database.query(`CREATE SCHEMA "Odd Schema"`);
    await database.query(
      `CREATE TABLE "Odd Schema"."select ""quoted""" ("Order" int PRIMARY KEY, "group by" text, "q?" text, "ünï" text)`,
    );
    await database.query(`INSERT INTO "Odd Schema"."select ""quoted""" VALUES (1, 'a', 'b', 'c')`);
    const read = plan('Odd Schema.select "quoted"', ['Order'], null, ['group by', 'q?', 'ünï']);

    expect(await readAll(source, read, 1)).toEqual(['1|a|b|c']);
    expect((await source.describe(read.relation)).map((c) => c.name)).toEqual(['Order', 'group by', 'q?', 'ünï']);
    expect((await source.readByValues(read, ['Order'], [['1'], ['2']])).rows).toEqual([['1', 'a', 'b', 'c']]);
    expect(await source.splitKeys(read, 10)).toEqual([{ after: null, through: null }]);
  });

  it('keeps question marks, comments and a final semicolon of a query', async () => {
    await database.query(`CREATE TABLE marks AS SELECT 1 AS id, '{"a":1}'::jsonb AS j`);
    const read: ReadPlan = {
      relation: { query: `SELECT id, 'why?' AS q, j ? 'a' AS has, j ?| array['b'] AS any FROM marks -- really?\n;` },
      columns: ['id', 'q', 'has', 'any'],
      key: ['id'],
      cursor: null,
    };
    expect(await readAll(source, read, 1)).toEqual(['1|why?|t|f']);
    expect((await source.readByValues(read, ['id'], [['1']])).rows).toHaveLength(1);
  });

  it('binds values, whatever they hold', async () => {
    await database.query(`CREATE TABLE hostile (k text PRIMARY KEY)`);
    const odd = [`'; DROP TABLE hostile; --`, '$1', '?', '\\', '{"a"}', 'x'.repeat(5000)];
    for (const k of odd) await database.query('INSERT INTO hostile VALUES ($1)', [k]);
    const read = plan('hostile', ['k']);
    expect((await readAll(source, read, 1)).sort()).toEqual([...odd].sort());
    expect(
      (
        await source.readByValues(
          read,
          ['k'],
          odd.map((k) => [k]),
        )
      ).rows,
    ).toHaveLength(odd.length);
  });

  it('tells a value that no row can have from a row that the query cannot compute', async () => {
    await database.query('CREATE TABLE ratios AS SELECT i AS id, i - 2 AS divisor FROM generate_series(1, 3) i');
    const relation = { query: 'SELECT id, 10 / divisor AS ratio FROM ratios' };
    const read: ReadPlan = { relation, columns: ['id', 'ratio'], key: ['id'], cursor: null };
    const found = async (...ids: string[]) =>
      [
        ...(
          await readRowsByValues(
            source,
            read,
            ['id'],
            ids.map((id) => [id]),
          )
        ).rows,
      ].map(([id]) => id);
    expect(await found('1', 'x', '3', '99999999999')).toEqual(['1', '3']);
    await expect(found('1', '2')).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(found('2')).rejects.toMatchObject({ code: 'config_invalid' });
    // As for the rows that a change of another table affects.
    const affected = { ...ALL, whereIn: { columns: ['id'], values: [['2']] } };
    await expect(source.readPage(read, affected, 10)).rejects.toMatchObject({ details: { unfitValue: false } });
  });

  it('refuses a query with a parameter, which would be given a value of ours', async () => {
    await database.query('CREATE TABLE numbered AS SELECT i AS id FROM generate_series(1, 9) i');
    const relation = { query: 'SELECT id FROM numbered WHERE id > $1' };
    const read: ReadPlan = { relation, columns: ['id'], key: ['id'], cursor: null };
    const refused = {
      code: 'config_invalid',
      message:
        'source: describing the query failed (it has a parameter, such as $1, which nothing fills: write the value itself)',
    };
    await expect(source.describe(relation)).rejects.toMatchObject(refused);
    await expect(source.readPage(read, ALL, 3)).rejects.toMatchObject(refused);
    await expect(source.readByValues(read, ['id'], [['1']])).rejects.toMatchObject(refused);
    const text = { query: `SELECT id, '$1' AS a, $$ $1 $$ AS b FROM numbered -- $1` };
    expect(await readAll(source, { ...read, relation: text }, 5)).toHaveLength(9);
  });

  it('writes nothing, even if a query tries to', async () => {
    await database.query('CREATE TABLE guarded AS SELECT 1 AS id');
    await database.query(
      `CREATE FUNCTION write_guarded() RETURNS int LANGUAGE sql AS 'INSERT INTO guarded VALUES (2) RETURNING id'`,
    );
    for (const query of [
      'SELECT write_guarded() AS id',
      'INSERT INTO guarded VALUES (3) RETURNING id',
      'SELECT 1 AS id) AS q; SET default_transaction_read_only = off; SELECT 1 FROM (SELECT 1 AS id',
      'SELECT 1 AS id) AS q; COMMIT; SET transaction_read_only = off; INSERT INTO guarded VALUES (4); SELECT q.id FROM (SELECT 1 AS id',
    ]) {
      const read: ReadPlan = { relation: { query }, columns: ['id'], key: ['id'], cursor: null };
      expect(await codeOf(source.readPage(read, ALL, 1)), query).toBe('config_invalid');
      await codeOf(source.describe(read.relation));
      await codeOf(source.cursorMinus({ ...read, cursor: 'id' }, '1', 1));
      await codeOf(source.readPage({ ...read, relation: { query: 'SELECT write_guarded() AS id' } }, ALL, 1));
    }
    expect(await database.query('SELECT id FROM guarded')).toEqual([{ id: 1 }]);
  });
});

describe('faults', () => {
  it('reads a page again when its session is killed in the middle of it', async () => {
    const slow: ReadPlan = {
      relation: { query: `SELECT i AS id, pg_sleep(0.05)::text AS s FROM generate_series(1, 30) i` },
      columns: ['id', 's'],
      key: ['id'],
      cursor: null,
    };
    const reading = source.readPage(slow, ALL, 1000);
    const killed = async (): Promise<boolean> =>
      (
        await database.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
            AND query LIKE '%pg_sleep(0.05)%ORDER BY%' AND pid <> pg_backend_pid() AND state = 'active'`,
        )
      ).length > 0;
    await eventually('the session is killed', killed);

    expect([...(await reading).rows].map(([id]) => Number(id))).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });

  const cases: readonly (readonly [string, () => Promise<unknown>, string])[] = [
    ['a missing table', () => source.readPage(plan('no_such_table', ['id']), ALL, 1), 'source_relation_missing'],
    ['a missing column', () => source.readPage(plan('moving', ['nope']), ALL, 1), 'source_relation_missing'],
    ['a syntax error in a query', () => source.describe({ query: 'SELEC 1' }), 'config_invalid'],
    [
      'a bound that is not a value of the column',
      () => source.readPage(plan('bounded', ['id'], 'at'), { ...ALL, cursorFrom: 'soon' }, 1),
      'config_invalid',
    ],
    [
      'a division by zero',
      () =>
        source.readPage(
          { relation: { query: 'SELECT 1/0 AS id' }, columns: ['id'], key: ['id'], cursor: null },
          ALL,
          1,
        ),
      'config_invalid',
    ],
  ];
  for (const [what, work, code] of cases)
    it(`reports ${what} as ${code}`, async () => {
      expect(await codeOf(work())).toBe(code);
    });

  it('reports a query that took too long, and remains usable', async () => {
    const hasty = open(database.url, 1);
    onTestFinished(() => hasty.close());
    const read: ReadPlan = {
      relation: { query: 'SELECT 1 AS id, pg_sleep(5)::text AS s' },
      columns: ['id', 's'],
      key: ['id'],
      cursor: null,
    };
    expect(await codeOf(hasty.readPage(read, ALL, 1))).toBe('source_query_failed');
    expect((await hasty.readPage(plan('moving', ['id']), ALL, 1)).rows).toHaveLength(1);
  });

  for (const [what, change, code] of [
    ['no server listens', (url: URL) => (url.port = '1'), 'source_unreachable'],
    ['the password is wrong', (url: URL) => (url.username = 'nobody'), 'config_invalid'],
    ['the database is unknown', (url: URL) => (url.pathname = '/nope'), 'config_invalid'],
  ] as const)
    it(`reports that ${what}, without the connection string`, async () => {
      const url = new URL(database.url);
      url.password = 'hunter2';
      change(url);
      const closed = open(url.href);
      onTestFinished(() => closed.close());
      const error = (await closed.describe({ table: 'moving' }).catch((e: unknown) => e)) as PartnerSyncError;
      expect(error).toBeInstanceOf(PartnerSyncError);
      expect(error.code).toBe(code);
      expect(error.message).not.toMatch(/hunter2|nobody|nope/);
    });
});

it('reads nothing of a page with bytes that are not UTF-8, which a database without an encoding may contain, and says so', async () => {
  const name = `bytes_${process.pid}`;
  const [server] = await database.query<{ provided: string }>(
    `SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN 'LOCALE_PROVIDER libc' ELSE '' END AS provided`,
  );
  await database.query(
    `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' ${server!.provided}`,
  );
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  const writer = new pg.Client({ connectionString: url.href });
  await writer.connect();
  const latin = open(url.href);
  onTestFinished(async () => {
    await Promise.all([latin.close(), writer.end()]);
    await database.query(`DROP DATABASE ${name}`);
  });
  await writer.query(
    `CREATE TABLE latin AS SELECT * FROM (VALUES (1, 'Jörg'), (2, convert_from('\\x4af67267', 'SQL_ASCII'))) v (id, name)`,
  );

  await expect(latin.readPage(plan('latin', ['id'], null, ['name']), ALL, 10)).rejects.toThrow(
    'reading latin failed (SQLSTATE 22021: a text has bytes that are not UTF-8)',
  );
});

it('splits a table into key ranges that cover every row exactly once, also with gaps and odd bounds', async () => {
  await database.query(`CREATE TABLE gaps (id bigint PRIMARY KEY)`);
  await database.query(
    `INSERT INTO gaps SELECT CASE WHEN i < 500 THEN -i ELSE i * 1000 END FROM generate_series(0, 999) i ON CONFLICT DO NOTHING`,
  );
  await database.query(`INSERT INTO gaps VALUES (9223372036854775806), (-9223372036854775808)`);
  await database.query('ANALYZE gaps');
  const read = plan('gaps', ['id']);

  const ranges = await source.splitKeys(read, 100);

  expect(ranges.length).toBeGreaterThan(5);
  const ids: string[] = [];
  for (const { after, through } of ranges)
    ids.push(
      ...(await readAll(source, read, 64, {
        ...ALL,
        after: after === null ? null : { cursor: null, key: after },
        throughKey: through,
      })),
    );
  expect(ids).toHaveLength(1002);
  expect(new Set(ids).size).toBe(1002);
});

it('leaves no transaction and no lock open between two pages', async () => {
  await source.readPage(plan('moving', ['id']), ALL, 1);
  const rows = await database.query(
    `SELECT state FROM pg_stat_activity WHERE application_name = 'partner-sync' AND datname = current_database() AND state <> 'idle'`,
  );
  expect(rows).toEqual([]);
});
