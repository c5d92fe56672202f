/** `init`: from a database's address to files that pass `check`, whatever the database looks like. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { loadOnlineRetail } from '../../src/embedded/online-retail/load-shop.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import type { CommandEnd } from './command-line.js';
import { runInProcess } from './in-process.js';

let database: Database;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'init-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const call = (...args: string[]): Promise<CommandEnd> =>
  runInProcess(args, { PARTNER_SYNC_MAPPINGS: folder, SHOP_URL: database.url });
const read = (file: string): string => readFileSync(join(folder, 'shop', file), 'utf8');

describe('on the online shop', () => {
  beforeAll(async () => {
    database = await createDatabase();
    await loadOnlineRetail(database.url);
  });
  afterAll(() => database.drop());

  it('writes a sync that passes check once the tenant is filled in, and check says where', async () => {
    const { code, stdout } = await call('init', 'shop', '--source', 'SHOP_URL');
    expect(code).toBe(0);
    expect(stdout).toContain('fill in the tenant in sync.yaml');
    const before = await call('check', 'shop');
    expect(before.stdout).toMatch(/shop\/sync.yaml:\d+:\d+ error bad_tenant_id tenant/);

    writeFileSync(join(folder, 'shop', 'sync.yaml'), read('sync.yaml').replace(/^tenant: .*$/m, 'tenant: demo'));
    const after = await call('check', 'shop', '--probe-rows', 'all', '--json');
    expect(after.json<{ findings: object[] }>().findings).toEqual([]);
    expect(after.json<{ probes: object[] }>().probes).toEqual([
      { mapping: 'customers', rows: 948, all: true },
      { mapping: 'invoice-lines', rows: 42_481, all: true },
      { mapping: 'invoices', rows: 2025, all: true },
    ]);
  });

  it('suggests schedules, alerts and a guard, which are valid once they are no longer comments', async () => {
    await call('init', 'shop', '--source', 'SHOP_URL', '--tenant', 'demo');
    const suggested = read('sync.yaml').replaceAll(/^# (schedules:|alerts:|guard:| {2,}\S.*)$/gm, '$1');
    expect(suggested).toMatch(/^schedules:\n {2}- name: [^]*^alerts:\n {2}- webhook: [^]*^guard:\n {2}changed: /m);
    writeFileSync(join(folder, 'shop', 'sync.yaml'), suggested);
    const { code, stdout } = await runInProcess(['check', 'shop', '--offline'], {
      PARTNER_SYNC_MAPPINGS: folder,
      SHOP_URL: database.url,
      ALERT_URL: 'https://alerts.example/hook',
    });
    expect(stdout).toContain('0 errors');
    expect(code).toBe(0);
  });

  it('turns foreign keys into references, picks cursors, and flags personal data', async () => {
    await call('init', 'shop', '--source', 'SHOP_URL', '--tenant', 'demo');
    expect(read('invoices.mapping.yaml')).toContain('customerId: { ref: customers, column: customer_id }');
    expect(read('invoice-lines.mapping.yaml')).toContain('invoiceLineId: { template: "{invoice_no}-{line_no}" }');
    expect(read('customers.mapping.yaml')).toMatch(/# DECIDE: does updated_at grow.*\ncursor:\n {2}column: updated_at/);
    expect(read('customers.mapping.yaml')).toMatch(/# Personal data.*\n {2}firstName: first_name/);
    expect(read('customer.schema.json')).toContain('"category": "contacts_schema"');
    expect(existsSync(join(folder, 'mapping.schema.json'))).toBe(true);
  });

  it('gives a schema definition another name if another sync uses its name', async () => {
    await call('init', 'shop', '--source', 'SHOP_URL', '--tenant', 'demo');
    await call('init', 'outlet', '--source', 'SHOP_URL', '--tenant', 'demo');
    expect(read('../outlet/customers.mapping.yaml')).toMatch(
      /# The sync shop already has a schema definition customer.*\nschema: outlet_customer\n/,
    );
    expect(JSON.parse(read('../outlet/outlet_customer.schema.json'))).toMatchObject({
      name: 'outlet_customer',
      pluralName: 'outlet_customers',
    });
    expect(JSON.parse(read('../outlet/outlet_invoice.schema.json'))).toMatchObject({
      schema: { properties: { customerId: { $ref: 'outlet_customer' } } },
    });
    expect((await call('check', 'outlet', '--offline')).code).toBe(0);
  });

  it('keeps the address out of every file', async () => {
    await call('init', 'shop', '--source', database.url);
    const { password } = new URL(database.url);
    const texts = readdirSync(join(folder, 'shop')).map(read).join('\n');
    expect(texts).not.toContain(password);
    expect(texts).toContain('connection: ${env:SHOP_URL}');
  });

  it('overwrites nothing', async () => {
    await call('init', 'shop', '--source', 'SHOP_URL');
    writeFileSync(join(folder, 'shop', 'sync.yaml'), 'mine\n');
    const { code, stderr } = await call('init', 'shop', '--source', 'SHOP_URL');
    expect(code).toBe(2);
    expect(stderr).toContain('already exists');
    expect(stderr).toContain('nothing was written');
    expect(read('sync.yaml')).toBe('mine\n');
  });

  it('drafts only the tables that are named, and suggests the nearest existing one', async () => {
    await call('init', 'shop', '--source', 'SHOP_URL', '--table', 'shop.customers');
    expect(readdirSync(join(folder, 'shop'))).toEqual(['customer.schema.json', 'customers.mapping.yaml', 'sync.yaml']);
    const { code, stderr } = await call('init', 'other', '--source', 'SHOP_URL', '--table', 'shop.custmers');
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean "shop.customers"?');
    expect(existsSync(join(folder, 'other'))).toBe(false);
  });
});

describe('on an untidy database', () => {
  beforeAll(async () => {
    database = await createDatabase();
    await database.query(`
      CREATE TYPE level AS ENUM ('gold', 'silver');
      CREATE TABLE "Order" ("Id" bigint PRIMARY KEY, "constructor" text, "first name" text, "null" int, "a{b}" text, "x?y" text,
        level level, tags text[], photo bytea, meta jsonb, guid uuid, last_modified timestamp, total numeric NOT NULL, shop_id int);
      COMMENT ON TABLE "Order" IS E'Orders\\n  yaml: [breaks';
      COMMENT ON COLUMN "Order"."first name" IS E'one\\n# two: {"x"}';
      CREATE TABLE staff (id int PRIMARY KEY, boss int REFERENCES staff, modified_on date NOT NULL, shop_id int);
      CREATE TABLE a (id int PRIMARY KEY, shop_id int);
      CREATE TABLE b (id int PRIMARY KEY, a_id int NOT NULL REFERENCES a, shop_id int);
      ALTER TABLE a ADD COLUMN b_id int REFERENCES b;
      CREATE TABLE hen (id int PRIMARY KEY, egg_id int NOT NULL, shop_id int);
      CREATE TABLE egg (id int PRIMARY KEY, hen_id int NOT NULL REFERENCES hen, shop_id int);
      ALTER TABLE hen ADD FOREIGN KEY (egg_id) REFERENCES egg;
      CREATE TABLE order_detail (order_id bigint REFERENCES "Order", no int, "{" text, changed timestamptz, shop_id int, PRIMARY KEY (order_id, no));
      CREATE TABLE passport (id int PRIMARY KEY REFERENCES staff, no text, shop_id int);
      CREATE TABLE visit (at timestamp PRIMARY KEY, shop_id int);
      CREATE TABLE nokey (x int);
      CREATE SCHEMA crm;
      CREATE TABLE crm.staff (email varchar(30) NOT NULL UNIQUE, mobile_no text, shop_id int);
      INSERT INTO "Order" ("Id", "constructor", "null", meta, total) VALUES (1, 'x', 3, '[1]', 5.25);
      INSERT INTO staff VALUES (1, NULL, '2020-01-01'), (2, 1, '2020-01-01');
      INSERT INTO passport VALUES (2, 'p');
      INSERT INTO order_detail VALUES (1, 1, 'q', NULL);`);
  });
  afterAll(() => database.drop());

  it('drafts a sync that passes check, and names what it could not use', async () => {
    await call('init', 'shop', '--source', 'SHOP_URL', '--tenant', 'demo');
    expect((await call('check', 'shop', '--json')).json<{ findings: object[] }>().findings).toEqual([]);
    expect(read('sync.yaml')).toMatch(/no key that could identify.*\n(?:# \S.*\n)*# {3}nokey\n# {3}visit\n/);
    expect(read('sync.yaml')).toContain('every table has shop_id');
    expect(read('order.mapping.yaml')).toContain('# photo (bytea) holds bytes, perhaps files');
    expect(read('order-detail.mapping.yaml')).toContain('changed is NULL in some rows');
    expect(read('a.mapping.yaml')).toContain('bId: { ref: b, column: b_id }');
    expect(read('public-staff.mapping.yaml')).toContain('boss: { ref: public-staff, column: boss }');
    expect(read('egg.mapping.yaml')).toContain('in a cycle of columns that are never NULL');
    expect(read('hen.mapping.yaml')).toContain('eggId: { ref: egg, column: egg_id }');
    expect(read('b.mapping.yaml')).toContain('aId: { ref: a, column: a_id }');
    expect(read('passport.mapping.yaml')).toContain('id: { ref: public-staff, column: id }');
    expect(read('public-staff.mapping.yaml')).toContain('cursor:\n  column: modified_on');
  });

  it("describes each schema definition by the table's comment, or otherwise by its name", async () => {
    await call('init', 'shop', '--source', 'SHOP_URL', '--tenant', 'demo');
    const described = (schema: string) =>
      (JSON.parse(read(`${schema}.schema.json`)) as { description?: string }).description;
    expect(described('order')).toBe('Orders\n  yaml: [breaks');
    expect(described('order_detail')).toBe('Order detail');
  });
});

describe('on tables that mark deleted rows', () => {
  beforeAll(async () => {
    database = await createDatabase();
    await database.query(`
      CREATE TABLE customers (id int PRIMARY KEY, email text, updated_at timestamptz NOT NULL, deleted_at timestamptz);
      CREATE TABLE orders (id int PRIMARY KEY, note text, "isDeleted" boolean DEFAULT false);
      INSERT INTO orders VALUES (1, 'x', false);
      CREATE TABLE coupons (id int PRIMARY KEY, code text, deleted smallint NOT NULL);
      CREATE TABLE photos (id int PRIMARY KEY, removed text, deleted_by int, deleted int, "deletedAt" bigint NOT NULL DEFAULT 0);
      CREATE TABLE carts (id int PRIMARY KEY, deleted_at timestamptz NOT NULL DEFAULT '9999-12-31', removal_date date);
      CREATE TABLE stock (sku text, deleted boolean, removed int REFERENCES photos, PRIMARY KEY (sku, deleted));
      INSERT INTO customers VALUES (1, 'a@example.org', '2020-01-01', NULL), (2, 'b@example.org', '2020-01-01', '2020-01-02');
      INSERT INTO coupons VALUES (1, 'A', 0), (2, 'B', 1);
      INSERT INTO photos VALUES (1, 'x', 7, 12);
      INSERT INTO carts VALUES (1, DEFAULT, '2020-01-01');`);
  });
  afterAll(() => database.drop());

  it('drafts deletes, so that deleted rows are not sent, and asks what becomes of their records', async () => {
    await call('init', 'shop', '--source', 'SHOP_URL', '--tenant', 'demo');

    expect((await call('check', 'shop', '--json')).json<{ findings: object[] }>().findings).toEqual([]);
    expect(read('customers.mapping.yaml')).toMatch(
      /# DECIDE: deleted_at seems to mark deleted rows[^]*clear: \[email\][^]*\ndeletes:\n {2}column: deleted_at\n {2}action: ignore\n/,
    );
    expect(read('customers.mapping.yaml')).toMatch(/# Left out:\n[^]*# deleted_at says which rows are deleted/);
    expect(read('orders.mapping.yaml')).toContain('deletes:\n  column: isDeleted\n  action: ignore\n');
    expect(read('coupons.mapping.yaml')).toContain('deletes:\n  column: deleted\n  values: ["1"]\n  action: ignore\n');
    // Text, another number than 0 and 1, a date that all rows have, a part of the key, and a reference mark nothing.
    for (const other of ['photos', 'carts', 'stock']) expect(read(`${other}.mapping.yaml`)).not.toContain('deletes:');
    const previewed = await call('preview', 'shop', 'customers', '--show-values');
    expect(previewed.stdout).toContain('a@example.org');
    expect(previewed.stdout).not.toContain('b@example.org');
  });
});

describe('an input that is wrong', () => {
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it.each([
    ['an invalid name', ['Shop!'], "a sync's name must match", 2],
    ['an address without a scheme', ['shop', '--source', 'localhost/shop'], 'must be a URL such as postgres://', 2],
    ['a variable that is not set', ['shop', '--source', 'NO_SUCH_URL'], 'NO_SUCH_URL is not set', 2],
    [
      'a database that cannot be reached',
      ['shop', '--source', 'postgres://u:hunter2@127.0.0.1:1/x'],
      'source_unreachable',
      1,
    ],
    ['a database without tables', ['shop'], 'can read no table', 2],
  ])('%s', async (_what, args, words, code) => {
    const end = await call('init', ...(args.includes('--source') ? args : [...args, '--source', 'SHOP_URL']));
    expect(end.stderr).toContain(words);
    expect(end.code).toBe(code);
    expect(end.stderr).not.toContain('hunter2');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('on a large table', () => {
  beforeAll(async () => {
    database = await createDatabase();
    await database.query(`
      CREATE TABLE events (id int PRIMARY KEY, small bigint, snowflake bigint);
      INSERT INTO events SELECT i, i, CASE WHEN i > 18000 THEN 9007199254740992 + i ELSE i END FROM generate_series(1, 20000) i;
      ANALYZE events;`);
  });
  afterAll(() => database.drop());

  it('samples rows in several places, and drafts text for numbers that a JSON number would round', async () => {
    expect((await call('init', 'shop', '--source', 'SHOP_URL', '--tenant', 'demo')).code).toBe(0);
    expect(JSON.parse(read('event.schema.json'))).toMatchObject({
      schema: { properties: { small: { type: 'integer' }, snowflake: { type: 'string' } } },
    });
    expect(read('events.mapping.yaml')).toMatch(
      /# Text, since a JSON number cannot represent some values exactly.*\n {2}snowflake:/,
    );
  });
});
