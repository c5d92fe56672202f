/** The shop that the Web UI shows: customers with orders, and enough order lines for three partitions. */
import type { Database } from '../databases.js';
import type { ShopSettings } from '../pipeline/shop.js';

/** Customers, each with one order. */
export const CUSTOMERS = 400;
/** Temporal's id of the shop's schedule. */
export const SCHEDULE = 'partner-sync/shop/nightly';

const TABLES = `
  CREATE SCHEMA shop;
  CREATE TABLE shop.customers (id integer PRIMARY KEY, code text NOT NULL, name text NOT NULL);
  CREATE TABLE shop.orders (id integer PRIMARY KEY, customer_code text NOT NULL, ordered_on date NOT NULL);
  CREATE TABLE shop.order_lines (id integer PRIMARY KEY, order_id integer NOT NULL, quantity integer NOT NULL);
  INSERT INTO shop.customers SELECT i, 'C' || i, 'Customer ' || i FROM generate_series(1, ${CUSTOMERS}) i;
  INSERT INTO shop.orders SELECT i, 'C' || i, date '2010-12-01' + i % 31 FROM generate_series(1, ${CUSTOMERS}) i;`;

/** Orders with these ids, one for each customer of the same number. */
export const insertOrders = (source: Database, { first, count }: { first: number; count: number }) =>
  source.query(
    `INSERT INTO shop.orders SELECT i, 'C' || i, date '2010-12-24' FROM generate_series($1::int, $1::int + $2::int - 1) i`,
    [first, count],
  );

/** The customers of the orders that were inserted later. */
export const insertCustomers = (source: Database) =>
  source.query(
    `INSERT INTO shop.customers SELECT id, customer_code, 'Customer ' || id FROM shop.orders WHERE id > ${CUSTOMERS}`,
  );

/** So many order lines that a run takes three partitions for them, and minutes. */
export const insertOrderLines = async (source: Database): Promise<void> => {
  await source.query(
    `INSERT INTO shop.order_lines SELECT i, 1 + i % ${CUSTOMERS}, 1 + i % 12 FROM generate_series(1, 750000) i`,
  );
  await source.query('ANALYZE shop.order_lines');
};

const schema = (name: string, id: string, properties: object): string =>
  JSON.stringify({
    name,
    category: 'custom_schema',
    externalIdField: id,
    schema: { type: 'object', properties, required: [id], additionalProperties: false },
  });

const text = { type: 'string' };

const FILES = {
  'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
fields: { customerId: { column: code, transforms: [trim] }, name: name }
`,
  'orders.mapping.yaml': `schema: order
source: { table: shop.orders }
key: [id]
cursor: { column: ordered_on, overlap: 0s }
fields: { orderId: id, customerId: { ref: customers, column: customer_code }, orderedOn: ordered_on }
options: { dependencyWaitTimeout: 1h }
`,
  'order-lines.mapping.yaml': `schema: order_line
source: { table: shop.order_lines }
key: [id]
fields: { lineId: id, orderId: { ref: orders, column: order_id }, quantity: quantity }
options: { dependencyWaitTimeout: 1h }
`,
  'customer.schema.json': schema('customer', 'customerId', { customerId: text, name: text }),
  'order.schema.json': schema('order', 'orderId', { orderId: text, customerId: { $ref: 'customer' }, orderedOn: text }),
  'order_line.schema.json': schema('order_line', 'lineId', {
    lineId: text,
    orderId: { $ref: 'order' },
    quantity: { type: 'integer' },
  }),
};

/** Half a day from now, so that the schedule starts nothing by itself while the test runs. */
const CRON = `30 ${(new Date().getUTCHours() + 12) % 24} * * *`;

export const syncFile = (waitForPending: string): string => `source: { connection: '\${env:SOURCE_URL}' }
tenant: north
upload: { waitForPending: ${waitForPending}, requestsPerSecond: 12 }
guard: { changed: 30 % }
schedules: [{ name: nightly, mode: full, cron: ${CRON}, timezone: UTC }]
`;

export const demoShop = (temporalAddress: string): ShopSettings => ({
  taskQueue: 'partner-sync',
  env: { TEMPORAL_ADDRESS: temporalAddress },
  other: {
    files: { 'sync.yaml': syncFile('1s'), ...FILES },
    load: async (source: Database) => void (await source.query(TABLES)),
  },
});
