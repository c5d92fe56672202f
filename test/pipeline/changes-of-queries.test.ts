/** Mappings that read queries, told of changes by the tables that they name: on each kind of database, and by a slot. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { undisturbed } from '../source/change-table-database.js';
import { here, TEST_DIALECTS } from '../source/dialect-databases.js';
import { dropSlot, startSlotServer, type SlotServer } from '../source/slot-server.js';
import { eventually, openShop, reportOf, SYNC, type Shop } from './shop.js';
import { filesOf } from './shop-files.js';

/** Customers in segments, and what each has bought: a line has no customer, but an order. */
const SCHEMA = [
  `CREATE TABLE segments (segment_id integer NOT NULL PRIMARY KEY, label varchar(40))`,
  `CREATE TABLE customers (id integer NOT NULL PRIMARY KEY, shop varchar(10) NOT NULL, name varchar(40), segment_id integer)`,
  `CREATE TABLE orders (no integer NOT NULL PRIMARY KEY, customer_id integer)`,
  `CREATE TABLE order_lines (order_no integer NOT NULL, line integer NOT NULL, sku varchar(40), PRIMARY KEY (order_no, line))`,
];

const QUERY =
  'SELECT c.id, c.shop, c.name, s.label, (SELECT max(l.sku) FROM orders o JOIN order_lines l ON l.order_no = o.no ' +
  'WHERE o.customer_id = c.id) AS best FROM customers c JOIN segments s ON s.segment_id = c.segment_id';

const TABLES = `
    customers: id
    segments: { columns: segment_id, through: { table: customers } }
    orders: { columns: no, through: { query: 'SELECT no, customer_id AS id FROM orders' } }
    order_lines: { columns: { order_no: no }, through: { query: 'SELECT no, customer_id AS id FROM orders' } }`;

function files(feed: string, tables = TABLES): Record<string, string> {
  const { 'sync.yaml': sync } = filesOf({ changes: feed });
  return {
    'sync.yaml': sync!,
    'customers.mapping.yaml': `schema: customer
source:
  query: "${QUERY}"
key: [id]
changes:
  tables:${tables}
deletes: { action: { set: { status: gone }, clear: [name] } }
fields: { customerId: id, name: name, label: label, best: best, status: { constant: active } }
`,
    'customer.schema.json': JSON.stringify({
      name: 'customer',
      category: 'custom_schema',
      externalIdField: 'customerId',
      schema: {
        type: 'object',
        properties: Object.fromEntries(
          ['customerId', 'name', 'label', 'best', 'status'].map((n) => [n, { type: 'string' }]),
        ),
        required: ['customerId'],
        additionalProperties: false,
      },
    }),
  };
}

/** Customers with odd numbers are the south's. */
const stored = (shop: Shop, id: number) => shop.stored('customer', String(id), id % 2 === 0 ? 'north' : 'south');

type Write = (sql: string) => Promise<void>;

/** What each change of a table has to do to which customer. */
async function follow(shop: Shop, run: Write): Promise<void> {
  const delivered = async (...sql: string[]) => {
    for (const statement of sql) await run(statement);
    const report = await shop.run();
    expect(report).toMatchObject({ outcome: 'complete' });
    return report.total.read;
  };
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 60 } });
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 0 } });

  expect(await delivered(`UPDATE customers SET name = 'Anna' WHERE id = 7`)).toBe(1);
  expect(await stored(shop, 7)).toMatchObject({ name: 'Anna', label: 'L1', best: 'sku-7' });

  // Every third customer is in segment 2.
  expect(await delivered(`UPDATE segments SET label = 'new' WHERE segment_id = 2`)).toBe(20);
  expect(await stored(shop, 8)).toMatchObject({ label: 'new' });

  expect(await delivered(`UPDATE order_lines SET sku = 'z' WHERE order_no = 105 AND line = 1`)).toBe(1);
  expect(await stored(shop, 5)).toMatchObject({ best: 'z' });
  expect(await delivered('DELETE FROM order_lines WHERE order_no = 105')).toBe(1);
  expect(await stored(shop, 5)).not.toHaveProperty('best', 'z');

  // The customer goes with its segment, and comes back with it.
  await delivered('DELETE FROM segments WHERE segment_id = 0');
  expect(await stored(shop, 3)).toMatchObject({ status: 'gone' });
  await delivered(`INSERT INTO segments VALUES (0, 'again')`);
  expect(await stored(shop, 3)).toMatchObject({ label: 'again' });

  await delivered('DELETE FROM customers WHERE id = 10', 'UPDATE customers SET id = 501 WHERE id = 11');
  expect(await stored(shop, 10)).toMatchObject({ status: 'gone' });
  expect(await stored(shop, 11)).toMatchObject({ status: 'gone' });
  expect(await stored(shop, 501)).toMatchObject({ label: 'new' });
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 0 } });
}

const rows = (numbers: (count: number) => string): string[] => [
  `INSERT INTO segments VALUES (0, 'L0'), (1, 'L1'), (2, 'L2')`,
  `INSERT INTO customers SELECT i, CASE i % 2 WHEN 0 THEN 'n' ELSE 's' END, 'Customer', i % 3 FROM ${numbers(60)}`,
  `INSERT INTO orders SELECT 100 + i, i FROM ${numbers(60)}`,
  `INSERT INTO order_lines VALUES (107, 1, 'sku-7'), (105, 1, 'sku-5'), (105, 2, 'sku-4')`,
];

describe.each(here(TEST_DIALECTS))('a query that goes by a change table of $name', (listed) => {
  const dialect = undisturbed(listed);
  it('is told by each table that it names which of its rows have changed, or are gone', async () => {
    const database = await dialect.create();
    onTestFinished(() => database.drop());
    for (const sql of SCHEMA) await database.run(sql);
    const load = () => Promise.resolve();
    const shop = await openShop({
      sourceUrl: database.url,
      other: { files: files('{ table: partner_changes }'), load },
    });
    onTestFinished(() => shop.close());
    expect(await runInProcess(['check', SYNC], shop.env)).toMatchObject({ code: 0 });
    expect(await runInProcess(['changes', 'install', SYNC, '--apply'], shop.env)).toMatchObject({ code: 0 });
    for (const sql of rows(dialect.numbers)) await database.run(sql);
    await shop.work();
    await follow(shop, (sql) => database.run(sql));
  });
});

describe('a query that goes by a slot', () => {
  let server: SlotServer;
  beforeAll(async () => void (server = await startSlotServer()));
  afterAll(() => server.stop());

  async function fed(tables?: string) {
    const slot = `queries_${Math.random().toString(36).slice(2, 10)}`;
    const load = () => Promise.resolve();
    const other = { files: files(`{ slot: ${slot}, publication: ${slot} }`, tables), load };
    const shop = await openShop({ sourceServer: server.url('postgres'), other });
    for (const sql of SCHEMA) await shop.source.query(sql);
    onTestFinished(async () => {
      await shop.rest();
      await dropSlot(shop.source, slot);
      await shop.close();
    });
    const call = (...args: string[]) => runInProcess(args, shop.env);
    return { shop, call, run: async (sql: string) => void (await shop.source.query(sql)) };
  }
  const numbers = (count: number): string => `generate_series(1, ${count}) AS n(i)`;

  it('is told by each table that it names which of its rows have changed, or are gone', async () => {
    const { shop, call, run } = await fed();
    expect(await call('check', SYNC)).toMatchObject({ code: 0 });
    expect(await call('changes', 'install', SYNC, '--apply')).toMatchObject({ code: 0 });
    for (const sql of rows(numbers)) await run(sql);
    await shop.work();
    await follow(shop, run);

    await run('TRUNCATE order_lines');
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 59 } });
    expect(await stored(shop, 7)).not.toHaveProperty('best', 'sku-7');
  });

  it('is followed live, also by what changes in another table', async () => {
    const { shop, call, run } = await fed();
    expect(await call('changes', 'install', SYNC, '--apply')).toMatchObject({ code: 0 });
    for (const sql of rows(numbers)) await run(sql);
    await shop.work();
    const live = await shop.start('sync', { sync: SYNC, mode: 'live' });
    await eventually('that all is loaded', async () => (await stored(shop, 60)) !== null);
    await run(`UPDATE segments SET label = 'new' WHERE segment_id = 1`);
    await eventually('that it arrives', async () => (await stored(shop, 7))?.['label'] === 'new');
    await run('DELETE FROM segments WHERE segment_id = 2');
    await eventually('that customers are gone', async () => (await stored(shop, 8))?.['status'] === 'gone');
    await run('TRUNCATE order_lines');
    await eventually('that every row is read again', async () => !('best' in (await stored(shop, 7))!));
    await eventually('that all records were looked through', async () => {
      const [fed] = await shop.state.query<{ isDone: boolean }>(
        'SELECT bool_and(loaded AND NOT missed_deletes) AS "isDone" FROM partner_sync.fed_mappings',
      );
      return fed!.isDone;
    });
    await live.cancel();
    expect(await reportOf(live)).toMatchObject({ outcome: 'complete' });
  });

  it('is told of more rows than one page has, by one change of another table', async () => {
    const { shop, call, run } = await fed();
    expect(await call('changes', 'install', SYNC, '--apply')).toMatchObject({ code: 0 });
    await run(`INSERT INTO segments VALUES (1, 'old')`);
    await run(`INSERT INTO customers SELECT i, 'n', 'Customer', 1 FROM ${numbers(4500)}`);
    await shop.work();
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 4500 } });
    await run(`UPDATE segments SET label = 'new'`);
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 4500, accepted: 4500 } });
    expect(await stored(shop, 4500)).toMatchObject({ label: 'new' });
  });

  it('is looked at by check: tables that it reads and does not name, columns that do not exist or fit, and keys that are not told', async () => {
    const { call, run } = await fed(`
    customers: { columns: { nr: id } }
    orders: { columns: { customer_id: id } }
    nothing: id
    segments: { columns: { label: segment_id }, through: { table: customers } }`);
    await run('CREATE TABLE unrelated (id integer)');
    const { code, json } = await call('check', SYNC, '--json');
    expect(code).toBe(1);
    const { findings } = json<{ findings: { kind: string; severity: string; path: string; message: string }[] }>();
    const found = findings.map(({ kind, severity, path, message }) => `${severity} ${kind} ${path}: ${message}`);
    expect(found).toEqual([
      'error column_missing changes.tables.customers: no column "nr" in customers. Columns: id, shop, name, segment_id',
      'error changes_table changes.tables.nothing: there is no table nothing, or none that this account can see',
      'error changes_key changes.tables.segments: label of segments is character varying(40), and segment_id of customers is integer: their values may have different texts; use columns of one type',
      'warning changes_unnamed changes.tables: public.order_lines is read, too, and not named here: what changes there is left to runs in mode full or mirror',
      expect.stringMatching(
        /^error changes_table changes.tables.customers: the change feed \w+ cannot report public.customers: .*the mapping needs nr/,
      ),
      expect.stringMatching(
        /^error changes_table changes.tables.orders: .*public.orders: its primary key is no, and the mapping needs customer_id; a unique index over customer_id, no as its REPLICA IDENTITY would tell them/,
      ),
      expect.stringMatching(/^error changes_table changes.tables.segments: .*public.segments/),
    ]);
  });
});
