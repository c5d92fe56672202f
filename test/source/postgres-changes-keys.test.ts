/** Keys as a slot reports them: the same texts as in the pages of the table. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALL, plan } from './reading.js';
import { createSlot, groupsFrom, keysOf, startSlotServer, type Slot, type SlotServer } from './slot-server.js';

let server: SlotServer;

beforeAll(async () => {
  server = await startSlotServer();
});
afterAll(() => server.stop());

/** Type of the key, and values of it as SQL. Each row is inserted, changed and deleted. */
const TYPES: readonly (readonly [type: string, ...values: string[]])[] = [
  ['int', '-1', '2147483647'],
  ['bigint', '9007199254740993'],
  ['numeric', '1.10', '12345678901234567890.123456789'],
  ['numeric(8,2)', '1.1'],
  ['text', `''`, `'ä''"|\\'`, `E'a\\nb'`, `'😀'`],
  ['varchar(5)', `'ab '`],
  ['char(5)', `'ab'`],
  ['uuid', `'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'`],
  ['timestamptz', `'2024-05-01 12:00:00.000001+05:30'`, `'infinity'`, `'0044-03-15 BC'`],
  ['timestamp', `'2024-05-01 12:00:00.5'`],
  ['date', `'2024-05-01'`],
  ['time', `'12:00:00.1'`],
  ['interval', `'1 month 2 days 03:04:05'`],
  ['bytea', `'\\x00ff5c'`],
  ['boolean', 'true', 'false'],
  ['double precision', '0.1', `'NaN'`, '1e300'],
  ['real', '0.1'],
  ['inet', `'10.0.0.1/24'`],
  ['mood', `'happy'`],
  ['positive', '7'],
  ['jsonb', `'{"a": 1}'`],
];

async function pageOf(slot: Slot, table: string, key: string): Promise<string[]> {
  const { rows } = await slot.source.readPage(plan(table, [key]), ALL, 100);
  return [...rows].map(([value]) => value!);
}

it.each(TYPES)('are those of a page: %s', async (type, ...values) => {
  const slot = await createSlot(
    server,
    `CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN positive AS int CHECK (value > 0);
     CREATE TABLE things (k ${type} PRIMARY KEY, note text)`,
    { things: 'k' },
  );
  const start = await slot.feed.begin();
  // The partner's application may use other settings.
  await slot.query(
    `SET datestyle = 'SQL, DMY'; SET timezone = 'Asia/Kolkata'; SET bytea_output = 'escape'; SET intervalstyle = 'postgres_verbose'`,
  );
  for (const value of values) await slot.query(`INSERT INTO things VALUES (${value})`);
  const page = await pageOf(slot, 'things', 'k');
  await slot.query(`UPDATE things SET note = 'x'`);
  await slot.query('DELETE FROM things');

  const keys = (await groupsFrom(slot.feed, start)).flatMap(({ rows }) => rows.flatMap((each) => each.keys));

  expect(page).toHaveLength(values.length);
  expect(keys.map(([value]) => value!).toSorted()).toEqual([...page, ...page, ...page].toSorted());
});

it('have several columns in the order of the table, whichever columns are between them', async () => {
  const slot = await createSlot(
    server,
    `CREATE TABLE lines (note text, line int, order_no text, extra bytea, PRIMARY KEY (order_no, line));
     CREATE SCHEMA "Odd ""schema"; CREATE TABLE "Odd ""schema"."Odd.table" ("Odd "" key" int PRIMARY KEY)`,
    { lines: 'line, order_no', '"Odd ""schema"."Odd.table"': '"Odd "" key"' },
  );
  const start = await slot.feed.begin();
  await slot.query(`INSERT INTO lines VALUES ('n', 1, 'A'), ('n', 2, 'A')`);
  await slot.query('UPDATE lines SET line = line + 10');
  await slot.query('INSERT INTO "Odd ""schema"."Odd.table" VALUES (1)');

  const groups = await groupsFrom(slot.feed, start);

  expect(keysOf(groups)).toEqual([
    'lines:1|A',
    'lines:2|A',
    'lines:1|A',
    'lines:11|A',
    'lines:2|A',
    'lines:12|A',
    'Odd.table:1',
  ]);
  expect(groups[0]!.rows.map(({ columns }) => columns)).toEqual([['line', 'order_no'], ['Odd " key']]);
  expect(groups[0]!.rows[1]!.table).toEqual({ schema: 'Odd "schema', name: 'Odd.table' });
});

it('are complete if they are so long that the server stores them apart from the row', async () => {
  const slot = await createSlot(server, 'CREATE TABLE long_keys (k text PRIMARY KEY, n int, pad text)', {
    long_keys: 'k',
  });
  await slot.query('ALTER TABLE long_keys ALTER k SET STORAGE EXTERNAL');
  const start = await slot.feed.begin();
  const key = Array.from({ length: 2400 }, (_, i) => String.fromCharCode(97 + ((i * i * 7 + i) % 26))).join('');
  await slot.query('INSERT INTO long_keys VALUES ($1, 1, $2)', [key, 'p'.repeat(500)]);
  await slot.query('UPDATE long_keys SET n = 2');

  expect(keysOf(await groupsFrom(slot.feed, start))).toEqual([`long_keys:${key}`, `long_keys:${key}`]);
});

it('are those of the primary key although REPLICA IDENTITY FULL takes every column for one', async () => {
  const slot = await createSlot(server, 'CREATE TABLE orders (id int PRIMARY KEY, note text)', {
    orders: 'id',
  });
  // A publication that names columns would make the updates fail.
  await slot.query(`ALTER PUBLICATION ${slot.name} SET TABLE orders`);
  await slot.query('ALTER TABLE orders REPLICA IDENTITY FULL');
  const start = await slot.feed.begin();
  await slot.query(`INSERT INTO orders VALUES (1, 'secret')`);
  await slot.query(`UPDATE orders SET note = 'other'`);
  await slot.query(`UPDATE orders SET id = 2`);

  expect(keysOf(await groupsFrom(slot.feed, start))).toEqual(['orders:1', 'orders:1', 'orders:1', 'orders:2']);
});

it('are none where nothing identifies a row, or where their text is another one than in a page', async () => {
  const slot = await createSlot(server, 'CREATE TABLE loose (n int); CREATE TABLE paid (amount money PRIMARY KEY)', {
    loose: 'n',
    paid: 'amount',
  });
  const start = await slot.feed.begin();
  const client = await slot.connect();
  await client.query('INSERT INTO paid VALUES (1)');
  await client.query('INSERT INTO loose VALUES (1)');
  await client.end();
  // Only the reader knows whether anybody needs them.
  const groups = await groupsFrom(slot.feed, start);
  expect(groups.flatMap(({ rows }) => rows)).toMatchObject([
    {
      table: { name: 'paid' },
      keys: [],
      problem: expect.stringMatching(/public\.paid, because a key with money \(amount\)/) as string,
    },
    {
      table: { name: 'loose' },
      keys: [],
      problem: expect.stringMatching(/nothing in them that identifies them/) as string,
    },
  ]);
});

it('are not known of a partition that identifies its rows otherwise than its table', async (context) => {
  if (server.version < 13) context.skip('partitioned tables can be published since PostgreSQL 13');
  const slot = await createSlot(
    server,
    `CREATE TABLE lines (id int, day int, order_no int NOT NULL, PRIMARY KEY (id, day)) PARTITION BY LIST (day);
     CREATE UNIQUE INDEX by_order ON lines (order_no, id, day);
     CREATE TABLE lines_1 PARTITION OF lines FOR VALUES IN (1);
     ALTER TABLE lines REPLICA IDENTITY USING INDEX by_order`,
    { lines: 'order_no' },
  );
  await slot.query('ALTER PUBLICATION ' + slot.name + ' SET TABLE lines');
  await slot.query('INSERT INTO lines VALUES (1, 1, 7)');
  const start = await slot.feed.begin();
  await slot.query('DELETE FROM lines');
  expect((await groupsFrom(slot.feed, start)).flatMap(({ unnamed }) => unnamed)).toMatchObject([{ name: 'lines' }]);
});
