/** `init` on databases other than PostgreSQL: the December data of the online shop, and untidy tables. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadOnlineRetail } from '../../src/embedded/online-retail/load-shop.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { here, mariadb, mysql, postgres, sqlite, type TestDatabase } from '../source/dialect-databases.js';
import { isHere } from '../here.js';
import { runInProcess } from './in-process.js';

const ORIGIN = {
  customers:
    'customer_id, first_name, last_name, email, phone, country, marketing_opt_in::int, created_at, updated_at::timestamp',
  invoices: 'invoice_no, customer_id, kind, invoiced_at, total, currency, updated_at::timestamp',
  invoice_lines:
    'invoice_no, line_no, stock_code, description, quantity, unit_price, line_total, entered_at, updated_at::timestamp',
};

interface Case {
  readonly dialect: typeof mariadb;
  /** The online shop's tables, as somebody who uses this database would have made them. */
  readonly shop: string;
  readonly untidy: string;
  readonly literal: (text: string) => string;
}

const ON_SERVERS: Omit<Case, 'dialect'> = {
  literal: (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`,
  shop: `
      CREATE TABLE customers (customer_id int PRIMARY KEY, first_name varchar(80), last_name varchar(80), email varchar(200),
        phone varchar(40), country varchar(40) NOT NULL, marketing_opt_in tinyint(1), created_at datetime NOT NULL,
        updated_at timestamp(6) NOT NULL, INDEX (updated_at, customer_id)) COMMENT 'Customers of the shop';
      CREATE TABLE invoices (invoice_no varchar(20) PRIMARY KEY, customer_id int,
        kind enum('sale', 'cancellation') NOT NULL, invoiced_at datetime NOT NULL, total decimal(12, 2) NOT NULL,
        currency char(3) NOT NULL, updated_at timestamp(6) NOT NULL, INDEX (updated_at, invoice_no),
        FOREIGN KEY (customer_id) REFERENCES customers (customer_id));
      CREATE TABLE invoice_lines (invoice_no varchar(20) NOT NULL, line_no int NOT NULL,
        stock_code varchar(20) NOT NULL, description varchar(200), quantity int NOT NULL, unit_price decimal(12, 4) NOT NULL,
        line_total decimal(14, 4) NOT NULL, entered_at datetime NOT NULL, updated_at timestamp(6) NOT NULL,
        PRIMARY KEY (invoice_no, line_no), INDEX (updated_at, invoice_no, line_no),
        FOREIGN KEY (invoice_no) REFERENCES invoices (invoice_no));`,
  untidy: `
      CREATE TABLE \`Order\` (\`Id\` bigint unsigned PRIMARY KEY, \`select\` varchar(20), \`first name\` text COMMENT 'one\\n# two',
        state enum('open', 'sent'), flags set('a', 'b'), paid bit(1), active tinyint(1), data json, photo longblob, year year,
        total decimal(30, 10) NOT NULL, last_modified datetime NOT NULL DEFAULT now(), INDEX (last_modified, \`Id\`));
      CREATE TABLE staff (id int PRIMARY KEY, boss int, changed datetime, FOREIGN KEY (boss) REFERENCES staff (id));
      CREATE TABLE nokey (x int);
      INSERT INTO \`Order\` (\`Id\`, data, total, paid, flags) VALUES (18446744073709551615, '[1]', 5.25, b'1', 'a,b');
      INSERT INTO staff VALUES (1, NULL, now()), (2, 1, NULL);`,
};

const CASES: readonly Case[] = [
  { dialect: mariadb, ...ON_SERVERS },
  { dialect: mysql, ...ON_SERVERS },
  {
    dialect: sqlite,
    literal: (text) => `'${text.replaceAll("'", "''")}'`,
    shop: `
      CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, email TEXT, phone TEXT,
        country TEXT NOT NULL, marketing_opt_in BOOLEAN, created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL);
      CREATE TABLE invoices (invoice_no TEXT PRIMARY KEY NOT NULL, customer_id INTEGER REFERENCES customers, kind TEXT NOT NULL,
        invoiced_at DATETIME NOT NULL, total TEXT NOT NULL, currency TEXT NOT NULL, updated_at DATETIME NOT NULL);
      CREATE TABLE invoice_lines (invoice_no TEXT NOT NULL REFERENCES invoices, line_no INTEGER NOT NULL, stock_code TEXT NOT NULL,
        description TEXT, quantity INTEGER NOT NULL, unit_price TEXT NOT NULL, line_total TEXT NOT NULL, entered_at DATETIME NOT NULL,
        updated_at DATETIME NOT NULL, PRIMARY KEY (invoice_no, line_no)) WITHOUT ROWID;
      CREATE INDEX customers_by_change ON customers (updated_at, customer_id);
      CREATE INDEX invoices_by_change ON invoices (updated_at, invoice_no);
      CREATE INDEX lines_by_change ON invoice_lines (updated_at, invoice_no, line_no);`,
    untidy: `
      CREATE TABLE "Order" ("Id" INTEGER PRIMARY KEY, "select" TEXT, "first name" VARCHAR(20), total DECIMAL(10, 2), photo BLOB,
        whatever, data JSON, active BOOLEAN, "last_modified" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
      CREATE INDEX by_change ON "Order" (last_modified, "Id");
      CREATE TABLE staff (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES staff, changed DATETIME);
      CREATE TABLE nokey (x INTEGER);
      INSERT INTO "Order" ("Id", total, data, active, whatever) VALUES (9007199254740993, 5.25, '[1]', 1, 'x');
      INSERT INTO staff VALUES (1, NULL, CURRENT_TIMESTAMP), (2, 1, NULL);`,
  },
];

let december: Database;
beforeAll(async () => {
  december = await createDatabase();
  await loadOnlineRetail(december.url);
});
afterAll(() => december.drop());

it.skipIf(!isHere('SQLite'))(
  'drafts a table of SQLite whose primary key may be NULL, and says which tables it left out',
  async () => {
    const database = await sqlite.create();
    const folder = mkdtempSync(join(tmpdir(), 'init-dialects-'));
    const env = { PARTNER_SYNC_MAPPINGS: folder, CLUB_URL: database.url };
    await database.run(`
    CREATE TABLE visit (visit_no TEXT PRIMARY KEY, badge TEXT NOT NULL UNIQUE, minutes INTEGER);
    CREATE TABLE log (line TEXT);
    INSERT INTO visit VALUES ('V1', 'b', 5);`);
    const init = await runInProcess(['init', 'club', '--source', 'CLUB_URL', '--tenant', 'demo'], env);
    const check = await runInProcess(['check', 'club', '--json'], env);
    const mapping = readFileSync(join(folder, 'club', 'visit.mapping.yaml'), 'utf8');
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
    expect(init.stdout).toContain('Left out, as they have no key to identify a record: log');
    expect(mapping).toContain('key: [visit_no]');
    expect(JSON.parse(check.stdout)).toMatchObject({
      errors: 0,
      findings: [
        {
          kind: 'key_not_unique',
          message: expect.stringContaining(
            'Its primary key (visit_no) may be NULL: declare the columns NOT NULL',
          ) as string,
        },
        { kind: 'key_nullable' },
        { kind: 'nullable_required' },
      ],
    });
  },
);

describe.each(here([postgres, mariadb, mysql, sqlite]))('init on $name', (dialect) => {
  it('asks how texts are to be read that look like dates and times, and the drafted sync passes check', async () => {
    const database = await dialect.create();
    const folder = mkdtempSync(join(tmpdir(), 'init-dialects-'));
    onTestFinished(async () => {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    });
    const env = { PARTNER_SYNC_MAPPINGS: folder, CLUB_URL: database.url };
    await database.run(`
      CREATE TABLE visits (id int NOT NULL PRIMARY KEY, came varchar(30), left_on text, seen_at varchar(30), day text, note varchar(30));
      INSERT INTO visits VALUES (1, '2010-12-01 08:26:00', '1.12.2010', '2010-12-01T08:26:00Z', '2010-12-01', 'on 2010-12-01')`);
    const init = await runInProcess(['init', 'club', '--source', 'CLUB_URL', '--tenant', 'demo', '--json'], env);
    const { files } = JSON.parse(init.stdout) as { files: { file: string; decisions: number }[] };
    expect(files.find(({ file }) => file.endsWith('visits.mapping.yaml'))).toMatchObject({ decisions: 4 });
    const mapping = readFileSync(join(folder, 'club', 'visits.mapping.yaml'), 'utf8');
    expect(mapping).toMatch(/# DECIDE: the values look like times without a zone.*\n(?: {2}#.*\n)* {2}came: came\n/);
    expect(mapping).toMatch(
      /# DECIDE: the values look like dates or times, in forms.*\n(?: {2}#.*\n)* {2}leftOn: left_on\n/,
    );
    expect(mapping).toMatch(/# DECIDE: the values look like points in time.*\n(?: {2}#.*\n)* {2}seenAt: /);
    expect(mapping).toMatch(/# DECIDE: the values look like dates\..*\n(?: {2}#.*\n)* {2}day: day\n/);
    const check = await runInProcess(['check', 'club', '--probe-rows', 'all', '--json'], env);
    expect(JSON.parse(check.stdout)).toMatchObject({ findings: [] });
  });
});

describe.each(here(CASES))('init on $dialect.name', ({ dialect, shop, untidy, literal }) => {
  let database: TestDatabase;
  let folder: string;
  const call = (...args: string[]) =>
    runInProcess(args, { PARTNER_SYNC_MAPPINGS: folder, SHOP_URL: database.url, OTHER_URL: database.url });
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

  beforeAll(async () => {
    database = await dialect.create();
    folder = mkdtempSync(join(tmpdir(), 'init-dialects-'));
    await database.run(shop);
    for (const [table, columns] of Object.entries(ORIGIN)) {
      const texts = columns.split(', ').map((column) => `(${column})::text`);
      const rows = await december.query<Record<string, string | null>>(`SELECT ${texts.join(', ')} FROM shop.${table}`);
      const values = rows.map(
        (row) =>
          `(${Object.values(row)
            .map((v) => (v === null ? 'NULL' : literal(v)))
            .join(', ')})`,
      );
      for (let i = 0; i < values.length; i += 1000)
        await database.run(`INSERT INTO ${table} VALUES ${values.slice(i, i + 1000).join(', ')}`);
    }
    await database.run(untidy);
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('writes a sync of the December data that passes check once the tenant is filled in', async () => {
    const tables = ['customers', 'invoices', 'invoice_lines'];
    expect((await call('init', 'shop', '--source', 'SHOP_URL', '--table', ...tables)).code).toBe(0);
    const before = await call('check', 'shop', '--json');
    expect(JSON.parse(before.stdout)).toMatchObject({ errors: 1, findings: [{ kind: 'bad_tenant_id' }] });

    writeFileSync(join(folder, 'shop', 'sync.yaml'), read('shop/sync.yaml').replace(/^tenant: .*$/m, 'tenant: demo'));
    const after = await call('check', 'shop', '--probe-rows', 'all', '--json');
    expect(JSON.parse(after.stdout)).toMatchObject({
      findings: [],
      probes: [
        { mapping: 'customers', rows: 948, all: true },
        { mapping: 'invoice-lines', rows: 42_481, all: true },
        { mapping: 'invoices', rows: 2025, all: true },
      ],
    });
    expect(read('shop/invoices.mapping.yaml')).toContain('customerId: { ref: customers, column: customer_id');
    expect(read('shop/customers.mapping.yaml')).toMatch(/\ncursor:\n {2}column: updated_at\n/);
  });

  it('drafts a sync of untidy tables that passes check, and names what it could not use', async () => {
    const tables = ['Order', 'staff', 'nokey'];
    expect((await call('init', 'other', '--source', 'OTHER_URL', '--tenant', 'demo', '--table', ...tables)).code).toBe(
      0,
    );
    expect(JSON.parse((await call('check', 'other', '--json')).stdout)).toMatchObject({ findings: [] });
    expect(read('other/sync.yaml')).toMatch(/These tables have no key[^]*?\n# {3}nokey\n/);
    expect(read('other/order.mapping.yaml')).toMatch(/# photo \(.*\) holds bytes, perhaps files/);
    // A column without a zone becomes a cursor all the same, with a zone that somebody must look at.
    expect(read('other/order.mapping.yaml')).toMatch(
      /# DECIDE: whose local time is last_modified\?[^\n]*\n(?:#.*\n)*cursor:\n {2}column: last_modified\n {2}overlap: 10m\n {2}zone: UTC\n/,
    );
    expect(read('other/staff.mapping.yaml')).toContain('changed is NULL in some rows');
  });
});
