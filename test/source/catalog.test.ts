/** The catalog of a source: tables, keys, comments, privileges, server. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SourceTable } from '../../src/domain/source/source-catalog.js';
import type { Source } from '../../src/domain/source/source.js';
import { openSource } from '../../src/source/open-source.js';
import { createDatabase, type Database } from '../pipeline/shop.js';

let database: Database;
let source: Source;
const open = (url: string): Source => openSource({ connection: url, poolMax: 2, statementTimeout: 10 });

beforeAll(async () => {
  database = await createDatabase();
  source = open(database.url);
  await database.query(`
    CREATE SCHEMA crm;
    CREATE TYPE crm.level AS ENUM ('gold', 'silver');
    CREATE TABLE crm.customers (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email varchar(200) NOT NULL, country char(2) DEFAULT 'GB',
      level crm.level, net numeric(12,2), gross numeric GENERATED ALWAYS AS (net * 1.2) STORED,
      updated_at timestamptz NOT NULL DEFAULT now(), CONSTRAINT one_mail UNIQUE (email) INCLUDE (country), UNIQUE (country, email));
    COMMENT ON TABLE crm.customers IS 'People who bought';
    COMMENT ON COLUMN crm.customers.email IS 'As they typed it';
    CREATE INDEX by_change ON crm.customers (updated_at, id);
    CREATE INDEX by_lower ON crm.customers (lower(email));
    CREATE INDEX few ON crm.customers (net) WHERE net > 100;
    CREATE VIEW crm.gold AS SELECT * FROM crm.customers WHERE level = 'gold';
    CREATE TABLE "a.b" (k text PRIMARY KEY, dropped int, customer bigint REFERENCES crm.customers (id));
    ALTER TABLE "a.b" DROP COLUMN dropped;
    CREATE TABLE parted (id int, day date, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
    CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
    CREATE TABLE lines (day date, id int, FOREIGN KEY (day, id) REFERENCES parted (day, id));
    INSERT INTO parted SELECT i, '2020-05-05' FROM generate_series(1, 500) i;`);
  await database.query('ANALYZE');
});
afterAll(async () => {
  await source.close();
  await database.drop();
});

const only = async (name: string): Promise<SourceTable> => {
  const tables = await source.tables([name]);
  expect(tables).toHaveLength(1);
  return tables[0]!;
};

describe('the catalogue', () => {
  it('lists tables and views as a mapping writes them, without system schemas and partitions', async () => {
    const tables = await source.tables();
    expect(tables.map((t) => `${t.kind} ${t.table}`)).toEqual([
      'table crm.customers',
      'view crm.gold',
      'table "a.b"',
      'table lines',
      'table parted',
    ]);
    for (const { table } of tables) expect((await source.describe({ table })).length).toBeGreaterThan(0);
  });

  it('lists columns with type, default, generated values and comments', async () => {
    const { comment, columns } = await only('crm.customers');
    expect(comment).toBe('People who bought');
    expect(columns.map((c) => [c.name, c.type, c.databaseType, c.nullable, c.generated])).toEqual([
      ['id', 'integer', 'bigint', false, false],
      ['email', 'text', 'character varying(200)', false, false],
      ['country', 'text', 'character(2)', true, false],
      ['level', 'text', 'crm.level', true, false],
      ['net', 'decimal', 'numeric(12,2)', true, false],
      ['gross', 'decimal', 'numeric', true, true],
      ['updated_at', 'timestamptz', 'timestamp with time zone', false, false],
    ]);
    expect(columns.find((c) => c.name === 'email')!.comment).toBe('As they typed it');
    expect(columns.find((c) => c.name === 'updated_at')!.default).toBe('now()');
  });

  it('lists the columns that identify a row, and the indexed ones', async () => {
    const { primaryKey, uniqueKeys, indexes } = await only('crm.customers');
    expect(primaryKey).toEqual(['id']);
    // (country, email) is no key: two rows may both have no country.
    expect(uniqueKeys).toEqual([['id'], ['email']]);
    expect(indexes.map((i) => [i.name, i.columns])).toEqual([
      ['customers_pkey', ['id']],
      ['by_change', ['updated_at', 'id']],
      ['by_lower', [null]],
      ['customers_country_email_key', ['country', 'email']],
      ['one_mail', ['email']],
    ]);
    expect((await only('parted')).primaryKey).toEqual(['day', 'id']);
    expect((await only('crm.gold')).uniqueKeys).toEqual([]);
  });

  it('lists foreign keys with the parent, column by column', async () => {
    expect((await only('lines')).foreignKeys).toEqual([
      { name: 'lines_day_id_fkey', columns: ['day', 'id'], table: 'parted', parentColumns: ['day', 'id'] },
    ]);
    expect((await only('"a.b"')).foreignKeys[0]).toMatchObject({ table: 'crm.customers', parentColumns: ['id'] });
  });

  it('estimates rows, also of a partitioned table, and of no view', async () => {
    expect((await only('parted')).estimatedRows).toBe(500);
    expect((await only('lines')).estimatedRows).toBe(0);
    expect((await only('crm.gold')).estimatedRows).toBeNull();
  });

  it('finds a table with and without its schema, and leaves out what does not exist', async () => {
    expect((await only('public.lines')).table).toBe('lines');
    expect(await source.tables(['nope', 'crm.lines'])).toEqual([]);
  });

  it('reports what the account may do beyond reading, and what it may not read', async () => {
    const role = `reader_${database.url.split('/').at(-1)!}`;
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'r'; GRANT USAGE ON SCHEMA crm TO ${role};
      GRANT SELECT ON crm.gold TO ${role}; GRANT SELECT (id) ON crm.customers TO ${role};
      GRANT SELECT (day, id), INSERT, UPDATE ON lines TO ${role}`);
    const reader = open(Object.assign(new URL(database.url), { username: role, password: 'r' }).href);
    onTestFinished(async () => {
      await reader.close();
      await database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    });
    const rights = (await reader.tables()).map((t) => [t.table, t.readable, t.writes]);
    expect(rights).toEqual([
      ['crm.customers', false, []],
      ['crm.gold', true, []],
      ['"a.b"', false, []],
      ['lines', true, ['INSERT', 'UPDATE']],
      ['parted', false, []],
    ]);
    expect(await reader.server()).toMatchObject({
      account: role,
      seesOpenTransactions: false,
      grantForOpenTransactions: `GRANT pg_read_all_stats TO "${role}"`,
    });
  });
});

it('reports server, version and clock', async () => {
  const server = await source.server();
  expect(server).toMatchObject({ product: 'PostgreSQL', standby: false, seesOpenTransactions: true });
  expect(server.version).toMatch(/^\d+/);
  expect(server.clock).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  expect(server.grantForOpenTransactions).toBeNull();
});
