/** The real December data in a database of any kind, told by a change feed, and a partner who keeps changing it. */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { copyDatabase } from '../databases.js';
import type { TestDatabase, TestDialect } from '../source/dialect-databases.js';
import { A_TENTH } from './retail.js';
import { openShop, SYNC, type Shop } from './shop.js';

/** The tables of a kind of database, without the columns by which rows could be known to have changed. */
const tablesOf = ({ local }: TestDialect): string => `
  CREATE TABLE customers (customer_id integer NOT NULL PRIMARY KEY, first_name varchar(80), last_name varchar(80), email varchar(120),
    phone varchar(40), country varchar(60) NOT NULL, marketing_opt_in boolean, created_at ${local} NOT NULL, tenant_key varchar(4));
  CREATE TABLE invoices (invoice_no varchar(20) NOT NULL PRIMARY KEY, customer_id integer, kind varchar(20) NOT NULL,
    invoiced_at ${local} NOT NULL, total numeric(12,2) NOT NULL, currency varchar(3) NOT NULL, tenant_key varchar(4))`;

const COLUMNS = {
  customers:
    'customer_id, first_name, last_name, email, phone, country, marketing_opt_in, created_at::text, tenant_key',
  invoices: 'invoice_no, customer_id, kind, invoiced_at::text, total, currency, tenant_key',
};

const DELETES = {
  customers: 'set: { country: gone }, clear: [firstName, email]',
  transactions: 'set: { currency: XXX }, clear: [customerId]',
};

/** What tells the changes. */
export interface FedBy {
  readonly name: string;
  readonly dialect: TestDialect;
  /** `changes` of sync.yaml. */
  readonly changes: string;
}

export interface FedRetail extends Shop {
  readonly database: TestDatabase;
  /** Lets the partner change some rows of each kind; none of them twice in one go. */
  change(random: (below: number) => number): Promise<void>;
}

const folder = new URL('../../mappings/online-retail/', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8');

function files(changes: string, upload: object): Record<string, string> {
  const mapping = (name: keyof typeof DELETES): string =>
    read(`${name}.mapping.yaml`)
      .replace('table: shop.', 'table: ')
      .replace(/^cursor:\n( .*\n)*/m, '')
      // A row that leaves its tenant beside its customer may be sent just after it. Its record is undecided for this long.
      .replace('dependencyWaitTimeout: 10m', 'dependencyWaitTimeout: 10s')
      .concat(`deletes: { action: { ${DELETES[name]} }, hold: { records: 100000, percent: 100 } }\n`);
  return {
    'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }
tenant: { column: tenant_key, values: { n: north, s: south } }
upload: ${JSON.stringify(upload)}
changes: ${changes}
`,
    'customers.mapping.yaml': mapping('customers'),
    'transactions.mapping.yaml': mapping('transactions'),
    'customer.schema.json': read('customer.schema.json'),
    'transactions.schema.json': read('transactions.schema.json'),
  };
}

/** A shop with its feed installed and a worker, of which every row has been delivered. */
export async function fedRetail({ dialect, changes }: FedBy, upload: object): Promise<FedRetail> {
  const database = await dialect.create();
  onTestFinished(() => database.drop());
  const december = await copyDatabase(A_TENTH);
  const ids: { customers: number[]; invoices: string[] } = { customers: [], invoices: [] };
  await database.run(tablesOf(dialect));
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const rows = await december.query<Record<string, string | number | boolean | null>>(
      `SELECT ${columns} FROM shop.${table} ORDER BY 1`,
    );
    const values = rows.map((row) => `(${Object.values(row).map(literal).join(', ')})`);
    await database.run(`INSERT INTO ${table} VALUES ${values.join(', ')}`);
    if (table === 'customers') ids.customers = rows.map((row) => row['customer_id'] as number);
    else ids.invoices = rows.map((row) => row['invoice_no'] as string);
  }
  await december.drop();
  const load = () => Promise.resolve();
  const shop = await openShop({ sourceUrl: database.url, other: { files: files(changes, upload), load } });
  onTestFinished(() => shop.close());
  expect(await runInProcess(['changes', 'install', SYNC, '--apply'], shop.env)).toMatchObject({ code: 0 });
  await shop.work();
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  let fresh = 90_000;
  return {
    ...shop,
    database,
    async change(random) {
      const taken = <T>(list: T[], count: number): T[] =>
        Array.from({ length: count }, () => list.splice(random(list.length), 1)[0]!);
      const changed = taken(ids.customers, 12);
      const [moved, renamed] = taken(ids.customers, 2) as [number, number];
      const [deleted] = taken(ids.customers, 1);
      const invoices = taken(ids.invoices, 12);
      const [lost, renumbered] = taken(ids.invoices, 2) as [string, string];
      const [inserted, another] = [fresh++, fresh++];
      const tenant = random(2) === 0 ? 'n' : 's';
      const exchanged = `CASE tenant_key WHEN 'n' THEN 's' ELSE 'n' END`;
      await transaction(database, [
        `UPDATE customers SET first_name = 'Change ${fresh}' WHERE customer_id IN (${changed.join(', ')})`,
        `UPDATE invoices SET total = total + 1 WHERE invoice_no IN (${invoices.map(literal).join(', ')})`,
        `INSERT INTO customers (customer_id, first_name, country, created_at, tenant_key)
           VALUES (${inserted}, 'New', 'France', '2011-01-05 10:00:00', '${tenant}')`,
        `INSERT INTO invoices VALUES ('N${inserted}', ${inserted}, 'sale', '2011-01-05 10:00:00', 12.50, 'GBP', '${tenant}')`,
      ]);
      await transaction(database, [
        `DELETE FROM invoices WHERE customer_id = ${deleted} OR invoice_no = ${literal(lost)}`,
        `DELETE FROM customers WHERE customer_id = ${deleted}`,
        // To the other tenant.
        `UPDATE customers SET tenant_key = ${exchanged} WHERE customer_id = ${moved}`,
        `UPDATE invoices SET tenant_key = ${exchanged} WHERE customer_id = ${moved}`,
      ]);
      await transaction(database, [
        // Their keys change.
        `UPDATE customers SET customer_id = ${another} WHERE customer_id = ${renamed}`,
        `UPDATE invoices SET customer_id = ${another} WHERE customer_id = ${renamed}`,
        `UPDATE invoices SET invoice_no = 'R${another}' WHERE invoice_no = ${literal(renumbered)}`,
      ]);
      ids.customers.push(...changed, moved, inserted, another);
      ids.invoices.push(...invoices, `N${inserted}`, `R${another}`);
    },
  };
}

const literal = (value: string | number | boolean | null): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);

/** Tries again while another connection writes to the file, of a database that is one. */
async function transaction(database: TestDatabase, statements: readonly string[]): Promise<void> {
  while (true) {
    const writer = await database.connect();
    try {
      await writer.run('BEGIN');
      for (const statement of statements) await writer.run(statement);
      await writer.run('COMMIT');
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw error;
    } finally {
      await writer.end();
    }
  }
}
