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

/** So many customers, and orders, that both tenants have `rows` rows together. */
export function sizesFor(rows) {
  const customers = Math.ceil(rows / 2 / (1 + ORDERS_OF_CUSTOMER));
  return { customers, orders: customers * ORDERS_OF_CUSTOMER };
}

/**
 * Fills both tables.
 *
 * @param {import('./sources.mjs').PartnerDatabase} database
 * @param {import('./sources.mjs').PartnerSession} session
 */
export async function fill({ table, numbers }, session, rows) {
  const { customers, orders } = sizesFor(rows);
  for (const shop of Object.keys(TENANTS)) {
    await session.run(
      `INSERT INTO ${table('customers')} (shop, id, name, email, status)
       SELECT '${shop}', i, '${shop} Özil "' || i || '"', CASE WHEN i % 7 > 0 THEN 'c' || i || '@example.org' END,
         CASE WHEN i % 3 > 0 THEN 'A' ELSE 'P' END FROM ${numbers(customers)}`,
    );
    await session.run(
      `INSERT INTO ${table('orders')} (shop, no, customer_id, total, note)
       SELECT '${shop}', 'o' || i, 1 + i % ${customers}, i + 0.25,
         CASE WHEN i % 5 > 0 THEN '${shop} ' || i || ' ' || substr('${'~'.repeat(40)}', 1, i % 40) END FROM ${numbers(orders)}`,
    );
  }
}

/** Changes every row, so that all of them have to be sent. @param {string} touch what marks a row as changed, for SET */
export async function changeAll({ table }, session, round, touch) {
  const stamp = `round ${round}`;
  await session.run(`UPDATE ${table('customers')} SET name = shop || ' ' || id || ' ${stamp}'${touch}`);
  await session.run(`UPDATE ${table('orders')} SET total = total + 1, note = shop || ' ' || no || ' ${stamp}'${touch}`);
}

/** Moves the cursor of a row, for SET. With a feed there is no cursor: nothing but the feed tells that a row has changed. */
export const touchOf = ({ feed }) => (feed === null ? ', seen = clock_timestamp()' : '');

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
const CURSOR = 'cursor: { column: seen, overlap: 0s }\n';

/** The sync's files. `upload` are settings of sync.yaml; `changes` is the feed, or undefined: then there is a cursor. */
const filesOf = ({ table }, upload, changes) => ({
  'sync.yaml': `source: { connection: '\${env:SOURCE_URL}', statementTimeout: 60s }
tenant: { column: shop, values: ${JSON.stringify(TENANTS)} }
upload: ${JSON.stringify(upload)}
${changes === undefined ? '' : `changes: ${changes}\n`}`,
  'customers.mapping.yaml': `schema: customer
source: { table: ${table('customers')} }
key: [shop, id]
${changes === undefined ? CURSOR : ''}deletes: { action: { set: { status: deleted }, clear: [name, email] }, hold: { records: 10000000, percent: 100 } }
fields:
  customerId: id
  name: name
  email: email
  status: { column: status, transforms: [{ values: { map: { A: active, P: paused }, otherwise: reject } }] }
options: { dependencyWaitTimeout: 20s }
`,
  'orders.mapping.yaml': `schema: order
source: { table: ${table('orders')} }
key: [shop, 'no']
${changes === undefined ? CURSOR : ''}deletes: { action: { set: { note: deleted }, clear: [customerId, total] }, hold: { records: 10000000, percent: 100 } }
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
export function writeSync(folder, database, upload, changes) {
  mkdirSync(join(folder, SYNC), { recursive: true });
  for (const [file, text] of Object.entries(filesOf(database, upload, changes)))
    writeFileSync(join(folder, SYNC, file), text);
}
