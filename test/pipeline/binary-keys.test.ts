/** Tables with binary keys, such as UUIDs in MySQL: one text identifies, references and finds each record. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { here, mariadb, mysql, postgres, sqlite, type TestDialect } from '../source/dialect-databases.js';
import { openShop } from './shop.js';

const SYNC = 'bytes';
const COUNT = 150;

interface Case {
  readonly dialect: TestDialect;
  readonly bytes: string;
  readonly literal: (digits: string) => string;
}

const CASES: readonly Case[] = [
  { dialect: postgres, bytes: 'bytea', literal: (digits) => `'\\x${digits}'` },
  { dialect: mariadb, bytes: 'binary(16)', literal: (digits) => `x'${digits}'` },
  { dialect: mysql, bytes: 'binary(16)', literal: (digits) => `x'${digits}'` },
  { dialect: sqlite, bytes: 'blob', literal: (digits) => `x'${digits}'` },
];

const digitsOf = (no: number): string => `a0eebc999c0b4ef8bb6d${no.toString(16).padStart(12, '0')}`;
const uuidOf = (no: number): string => digitsOf(no).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

describe.each(here(CASES))('a shop on $dialect.name with keys of 16 bytes', ({ dialect, bytes, literal }) => {
  it('arrives with its references, and each record can be found by its external id', async () => {
    const database = await dialect.create();
    onTestFinished(() => database.drop());
    await database.run(`
      CREATE TABLE customers (id ${bytes} NOT NULL PRIMARY KEY, name varchar(40));
      CREATE TABLE orders (id ${bytes} NOT NULL PRIMARY KEY, customer_id ${bytes} NOT NULL,
        FOREIGN KEY (customer_id) REFERENCES customers (id));
      CREATE TABLE items (order_id ${bytes} NOT NULL, no int NOT NULL, PRIMARY KEY (order_id, no),
        FOREIGN KEY (order_id) REFERENCES orders (id));`);
    const numbers = Array.from({ length: COUNT }, (_, i) => i + 1);
    const insert = (table: string, row: (no: number) => string) =>
      database.run(`INSERT INTO ${table} VALUES ${numbers.map((no) => `(${row(no)})`).join(', ')}`);
    await insert('customers', (no) => `${literal(digitsOf(no))}, 'Customer ${no}'`);
    await insert('orders', (no) => `${literal(digitsOf(1000 + no))}, ${literal(digitsOf(no))}`);
    await insert('items', (no) => `${literal(digitsOf(1000 + no))}, 1`);
    const nothing = () => Promise.resolve();
    const shop = await openShop({ sourceUrl: database.url, pushed: false, other: { files: {}, load: nothing } });
    onTestFinished(() => shop.close());
    const call = (...args: string[]) => runInProcess(args, shop.env);
    expect(await call('init', SYNC, '--source', 'SOURCE_URL', '--tenant', 'north')).toMatchObject({ code: 0 });
    expect(JSON.parse((await call('check', SYNC, '--json')).stdout)).toMatchObject({ findings: [] });
    expect(await call('schema', 'push', SYNC)).toMatchObject({ code: 0 });
    await shop.work();

    // Without a run of the customers, the orders' parents are fetched by the ids that the orders name.
    const orders = await shop.run({ sync: SYNC, mappings: ['orders'] });
    expect(orders).toMatchObject({ outcome: 'complete' });
    expect(await shop.stored('order', uuidOf(1001))).toEqual({ orderId: uuidOf(1001), customerId: uuidOf(1) });
    expect(await shop.stored('customer', uuidOf(1))).toEqual({ customerId: uuidOf(1), name: 'Customer 1' });

    expect(await shop.run({ sync: SYNC })).toMatchObject({ outcome: 'complete', total: { read: 3 * COUNT } });
    expect(await shop.stored('item', `${digitsOf(1001)}-1`)).toMatchObject({ orderId: uuidOf(1001), no: 1 });

    const again = { sync: SYNC, mapping: 'customers', externalIds: [uuidOf(7), uuidOf(8), 'no-such-id'] };
    expect(await shop.backfill(again)).toMatchObject({ outcome: 'complete', total: { read: 2, unchanged: 2 } });
    await shop.rest();
    for (const [mapping, id] of [
      ['customers', uuidOf(7)],
      ['items', `${digitsOf(1007)}-1`],
    ] as const) {
      const explained = JSON.parse((await call('explain', SYNC, mapping, id, '--json')).stdout) as {
        records: { acceptedHash: string; row: object | null; platform: { kind: string } }[];
      };
      expect(explained).toMatchObject({ records: [{ acceptedHash: 'equal', platform: { kind: 'equal' } }] });
      expect(explained.records[0]!.row).not.toBeNull();
    }
  });
});
