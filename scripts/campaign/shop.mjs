/**
 * The partner's shop of a campaign: customers and their orders in two tenants, with the same external ids in both; the sync that
 * delivers them; and the statements that fill the tables and change all rows.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const SYNC = 'shop';

/** Tenants of the platform by the shop's own names. */
export const TENANTS = { n: 'north', s: 'south' };

/** One customer has so many orders. */
const ORDERS_OF_CUSTOMER = 4;

/** `gone` has each key that a row has ever lost: its record may be on the platform, marked as deleted. */
export const TABLES = `
  CREATE SCHEMA shop;
  CREATE TABLE shop.customers (
    shop text, id bigint, name text NOT NULL, email text, status text NOT NULL, seen timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (shop, id));
  CREATE TABLE shop.orders (
    shop text, no text COLLATE "C", customer_id bigint, total numeric(12,2), note text, seen timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (shop, no));
  CREATE INDEX ON shop.customers (seen);
  CREATE INDEX ON shop.orders (seen);
  CREATE INDEX ON shop.orders (shop, customer_id);
  CREATE TABLE shop.gone (schema text, shop text, id text, PRIMARY KEY (schema, shop, id));
  CREATE FUNCTION shop.note_gone() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_TABLE_NAME = 'customers' THEN INSERT INTO shop.gone VALUES ('customer', OLD.shop, OLD.id::text) ON CONFLICT DO NOTHING;
    ELSE INSERT INTO shop.gone VALUES ('order', OLD.shop, OLD.no) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER gone AFTER DELETE ON shop.customers FOR EACH ROW EXECUTE FUNCTION shop.note_gone();
  CREATE TRIGGER gone AFTER DELETE ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.note_gone();
  CREATE TRIGGER moved AFTER UPDATE OF shop ON shop.orders FOR EACH ROW WHEN (OLD.shop <> NEW.shop) EXECUTE FUNCTION shop.note_gone();`;

/** So many customers, and orders, that both tenants have `rows` rows together. */
export function sizesFor(rows) {
  const customers = Math.ceil(rows / 2 / (1 + ORDERS_OF_CUSTOMER));
  return { customers, orders: customers * ORDERS_OF_CUSTOMER };
}

/** Fills both tables. @param {import('pg').Client} source */
export async function fill(source, rows) {
  const { customers, orders } = sizesFor(rows);
  for (const shop of Object.keys(TENANTS)) {
    await source.query(
      `INSERT INTO shop.customers SELECT $1, i, $1 || ' Özil "' || i || '"', CASE WHEN i % 7 > 0 THEN 'c' || i || '@example.org' END,
         CASE WHEN i % 3 > 0 THEN 'A' ELSE 'P' END FROM generate_series(1, $2::int) i`,
      [shop, customers],
    );
    await source.query(
      `INSERT INTO shop.orders SELECT $1, 'o' || i, 1 + i % $3::int, i + 0.25, CASE WHEN i % 5 > 0 THEN $1 || ' ' || i || ' ' || repeat('~', i % 40) END
         FROM generate_series(1, $2::int) i`,
      [shop, orders, customers],
    );
  }
  await source.query('ANALYZE');
}

/** Changes every row, so that a backfill has to send all of them. */
export async function changeAll(source, round) {
  const stamp = `round ${round}`;
  await source.query(`UPDATE shop.customers SET name = shop || ' ' || id || ' ${stamp}', seen = clock_timestamp()`);
  await source.query(
    `UPDATE shop.orders SET total = total + 1, note = shop || ' ' || no || ' ${stamp}', seen = clock_timestamp()`,
  );
}

/**
 * Inputs of backfills that together read every row. Customers and orders come at once, so that orders meet a platform without their
 * customers.
 */
export function keyRanges(rows) {
  const middle = String(Math.ceil(sizesFor(rows).customers / 2));
  const bounds = {
    customers: [middle],
    // Ids as texts: most begin with a 1 where there are few.
    orders: ['o15', 'o2', 'o4', 'o6'],
  };
  const LAST = { customers: '9999999999', orders: 'p' };
  return Object.entries(bounds).flatMap(([mapping, between]) => {
    const ends = Object.keys(TENANTS).flatMap((shop) => [...between, LAST[mapping]].map((id) => [shop, id]));
    return ends.map((throughKey, i) => ({ mapping, throughKey, ...(i > 0 && { afterKey: ends[i - 1] }) }));
  });
}

const schema = (name, id, properties) =>
  JSON.stringify({
    name,
    category: 'custom_schema',
    externalIdField: id,
    schema: { type: 'object', properties, required: [id], additionalProperties: false },
  });

const TEXT = { type: 'string' };

/** The sync's files. `upload` are settings of sync.yaml. */
const filesOf = (upload) => ({
  'sync.yaml': `source: { connection: '\${env:SOURCE_URL}', statementTimeout: 60s }
tenant: { column: shop, values: ${JSON.stringify(TENANTS)} }
upload: ${JSON.stringify(upload)}
`,
  'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [shop, id]
cursor: { column: seen, overlap: 0s }
deletes: { action: { set: { status: deleted }, clear: [name, email] }, hold: { records: 10000000, percent: 100 } }
fields:
  customerId: id
  name: name
  email: email
  status: { column: status, transforms: [{ values: { map: { A: active, P: paused }, otherwise: reject } }] }
options: { dependencyWaitTimeout: 20s }
`,
  'orders.mapping.yaml': `schema: order
source: { table: shop.orders }
key: [shop, 'no']
cursor: { column: seen, overlap: 0s }
deletes: { action: { set: { note: deleted }, clear: [customerId, total] }, hold: { records: 10000000, percent: 100 } }
fields:
  orderId: 'no'
  customerId: { ref: customers, column: customer_id }
  total: total
  note: note
options: { dependencyWaitTimeout: 20s }
`,
  'customer.schema.json': schema('customer', 'customerId', { customerId: TEXT, name: TEXT, email: TEXT, status: TEXT }),
  'order.schema.json': schema('order', 'orderId', {
    orderId: TEXT,
    customerId: { $ref: 'customer' },
    total: { type: 'number' },
    note: TEXT,
  }),
});

/** Writes the sync to the folder of the syncs. */
export function writeSync(folder, upload) {
  mkdirSync(join(folder, SYNC), { recursive: true });
  for (const [file, text] of Object.entries(filesOf(upload))) writeFileSync(join(folder, SYNC, file), text);
}
