/**
 * What `init` drafts from a database with self-references, four generations and dirty values works without changes, on a
 * platform that refuses a definition before its references and has messages of its own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reconcileMapping } from '../../src/inspection/reconcile-mapping.js';
import type { GivenSettings } from '../../src/sandbox/settings.js';
import { runInProcess } from '../cli/in-process.js';
import { here, mariadb, mysql, postgres, sqlite, type TestDialect } from '../source/dialect-databases.js';
import { expirePending, NO_OPEN_ENDS, openEnds, openShop, shopForTest, SYNC, type Shop } from './shop.js';

const sql = (file: string): string => readFileSync(new URL(`workshop/${file}.sql`, import.meta.url), 'utf8');

const STRICT: GivenSettings = {
  schemas: { references: 'existing' },
  alsoRequired: { createSchemaDefinition: ['description', 'pluralName'] },
  failureMessages: { missingParent: 'unknown relation', expired: 'gave up waiting', other: 'validation failed' },
  batchStatus: { recordErrors: 'resource' },
  maxBodyBytes: 65_536,
};

interface Case {
  readonly dialect: TestDialect;
  readonly file: string;
  /** Around statements that leave rows without their parents. */
  readonly unchecked: readonly [string, string];
  /** Where times have no fractions, the second that is going on is left to the next run. */
  readonly now: string;
  /** No day of a calendar that JSON's `date` knows. */
  readonly noDay: string;
  /** No number of JSON's; null where the database has none. */
  readonly noNumber: string | null;
}

const CASES: readonly Case[] = [
  {
    dialect: postgres,
    file: 'postgres',
    now: 'now()',
    noDay: '12024-03-01',
    noNumber: `'NaN'`,
    unchecked: ['SET session_replication_role = replica;', 'SET session_replication_role = origin;'],
  },
  {
    ...{
      dialect: mariadb,
      file: 'mariadb',
      now: 'utc_timestamp() - INTERVAL 2 SECOND',
      noDay: '0000-00-00',
      noNumber: null,
    },
    unchecked: ['SET foreign_key_checks = 0;', 'SET foreign_key_checks = 1;'],
  },
  {
    ...{
      dialect: mysql,
      file: 'mariadb',
      now: 'utc_timestamp() - INTERVAL 2 SECOND',
      noDay: '0000-00-00',
      noNumber: null,
    },
    unchecked: ['SET foreign_key_checks = 0;', 'SET foreign_key_checks = 1;'],
  },
  {
    ...{
      dialect: sqlite,
      file: 'sqlite',
      now: `datetime('now', '-2 seconds')`,
      noDay: 'last spring',
      noNumber: '9e999',
    },
    unchecked: ['PRAGMA foreign_keys = OFF;', 'PRAGMA foreign_keys = ON;'],
  },
];

/** Larger than an upload may be. */
const HUGE = 'x'.repeat(100_000);

const dirt = ({ noDay, noNumber }: Case): string => `
  UPDATE employees SET email = 'none' WHERE employee_id = 19;
  UPDATE customers SET email = 'nobody at example' WHERE customer_id = 7;
  UPDATE customers SET born_on = '${noDay}' WHERE customer_id = 12;
  UPDATE articles SET description = '${HUGE}' WHERE article_no = 'A29';
  ${noNumber === null ? '' : `UPDATE articles SET weight = ${noNumber} WHERE article_no = 'A30';`}
  INSERT INTO orders (order_id, customer_id, ordered_at, total, updated_at) VALUES (9001, 999, '2024-04-01 12:30:00', 1, '2024-05-01 12:00:00');
  INSERT INTO shipments (shipment_id, order_id, updated_at) VALUES (9001, 9001, '2024-05-01 14:00:00');
  INSERT INTO goods_returns (return_id, shipment_id, updated_at) VALUES (9001, 9001, '2024-05-01 15:00:00');`;

/** The parents only: what hangs on them comes back by itself. */
const mending = ({ now }: Case): string => `
  UPDATE employees SET email = NULL, updated_at = ${now} WHERE employee_id = 19;
  UPDATE customers SET email = 'c7@mail.example', updated_at = ${now} WHERE customer_id = 7;
  UPDATE customers SET born_on = '1980-03-01', updated_at = ${now} WHERE customer_id = 12;
  UPDATE articles SET description = 'short', updated_at = ${now} WHERE article_no = 'A29';
  UPDATE articles SET weight = 1.5, updated_at = ${now} WHERE article_no = 'A30';
  INSERT INTO customers (customer_id, name, born_on, updated_at) VALUES (999, 'Late', '1980-01-31', ${now});`;

/** Why each row that is wrong, or hangs on one, is not on the platform. */
const reasons = ({ noNumber }: Case): string[] =>
  [
    'employees 19 record_invalid /email',
    'employees 20 parent_rejected /managerId',
    'customers 7 record_invalid /email',
    'customers 12 mapping_failed /bornOn',
    ...['loyalty-cards C7', 'loyalty-cards C12'].map(hangsOn('customerId')),
    ...['orders 6', 'orders 46', 'orders 11', 'orders 51'].map(hangsOn('customerId')),
    ...['6', '46', '11', '51'].flatMap((o) => [1, 2].map((l) => `order-lines ${o}-${l}`)).map(hangsOn('orderId')),
    ...['shipments 6', 'shipments 46', 'shipments 11', 'shipments 51'].map(hangsOn('orderId')),
    ...['goods-returns 3', 'goods-returns 23'].map(hangsOn('shipmentId')),
    'orders 9001 parent_missing /customerId',
    ...['shipments 9001'].map(hangsOn('orderId')),
    ...['goods-returns 9001'].map(hangsOn('shipmentId')),
    'articles A29 platform_refused ',
    ...['article-prices A29-EUR', 'article-prices A29-GBP'].map(hangsOn('articleNo')),
    ...(noNumber === null
      ? []
      : [
          'articles A30 mapping_failed /weight',
          ...['article-prices A30-EUR', 'article-prices A30-GBP'].map(hangsOn('articleNo')),
        ]),
  ].toSorted();
const hangsOn = (field: string) => (name: string) => `${name} parent_rejected /${field}`;

const deadLetters = async (shop: Shop): Promise<string[]> =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 1000))
    .map((l) => `${l.mapping} ${l.externalId ?? '-'} ${l.code} ${l.pointer}`)
    .toSorted();

/** Rows that the platform does not have as they are now, every record read back; and how many rows there are. */
async function withoutDrifted(shop: Shop): Promise<{ rows: number; differing: string[] }> {
  const [deps, sync] = [await shop.parts.dependencies(), await shop.parts.openSync(SYNC)];
  const differing: string[] = [];
  let rows = 0;
  for (const { name } of sync.spec.mappings) {
    const found = await reconcileMapping(deps, sync, await sync.mapping(name), {
      readBack: 'all',
      seed: 'test',
      tell: (difference) => void differing.push(`${name} ${difference.key?.join('-') ?? difference.externalId}`),
    });
    rows += found.rows;
  }
  return { rows, differing: differing.toSorted() };
}

describe.each(here(CASES))('a workshop as drafted from $dialect.name', (of) => {
  it('is pushed, delivered or accounted for row by row, and completed by the next run once its parents are fixed', async () => {
    const database = await of.dialect.create();
    onTestFinished(() => database.drop());
    const [off, on] = of.unchecked;
    await database.run(`${sql(of.file)}${off}${sql('rows')}${dirt(of)}${on}`);
    const none = { files: {}, load: () => Promise.resolve() };
    const shop = await openShop({ sourceUrl: database.url, pushed: false, sandbox: STRICT, other: none });
    onTestFinished(() => shop.close());
    await shop.work();

    // Drafted; nothing is edited but the tenant.
    expect((await runInProcess(['init', SYNC, '--source', 'SOURCE_URL'], shop.env)).code).toBe(0);
    const file = join(shop.folder, SYNC, 'sync.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^tenant: .*$/m, 'tenant: north'));
    const check = await runInProcess(['check', SYNC, '--json'], shop.env);
    expect(JSON.parse(check.stdout)).toMatchObject({ errors: 0 });
    const push = await runInProcess(['schema', 'push', SYNC, '--json'], shop.env);
    expect(push.stderr).toBe('');
    expect((JSON.parse(push.stdout) as { schemas: object[] }).schemas).toHaveLength(11);

    expect((await shop.run()).outcome).toBe('incomplete');
    await expirePending(shop);
    expect((await shop.run()).outcome).toBe('complete_with_dead_letters');
    expect(await deadLetters(shop)).toEqual(reasons(of));
    const first = await withoutDrifted(shop);
    expect(first.rows).toBeGreaterThan(500);
    expect(first.differing).toEqual(
      reasons(of)
        .map((reason) => reason.split(' ').slice(0, 2).join(' '))
        .toSorted(),
    );
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);

    await database.run(mending(of));
    expect((await shop.run()).outcome).toBe('complete');
    expect(await deadLetters(shop)).toEqual([]);
    expect((await withoutDrifted(shop)).differing).toEqual([]);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  });
});

it('takes a reference off the platform when its column becomes NULL, as drafted', async () => {
  const database = await postgres.create();
  onTestFinished(() => database.drop());
  await database.run(`
    CREATE TABLE companies (id int PRIMARY KEY, name text NOT NULL);
    CREATE TABLE people (id int PRIMARY KEY, name text NOT NULL, company_id int REFERENCES companies, updated_at timestamptz NOT NULL DEFAULT now());
    INSERT INTO companies VALUES (1, 'One');
    INSERT INTO people VALUES (1, 'Anna', 1), (2, 'Bert', NULL)`);
  const shop = await shopForTest({
    sourceUrl: database.url,
    pushed: false,
    other: { files: {}, load: () => Promise.resolve() },
  });
  const command = (...args: string[]) => runInProcess(args, shop.env);
  expect((await command('init', SYNC, '--source', 'SOURCE_URL', '--tenant', 'north')).code).toBe(0);
  expect((await command('check', SYNC)).stdout).toContain('0 errors');
  expect((await command('schema', 'push', SYNC)).code).toBe(0);

  expect((await shop.run()).total).toMatchObject({ accepted: 3, deadLettered: 0 });
  expect(await shop.stored('people', '1')).toMatchObject({ name: 'Anna', companyId: '1' });
  await database.run('UPDATE people SET company_id = NULL, updated_at = now() WHERE id = 1');
  expect((await shop.run()).total).toMatchObject({ accepted: 1, deadLettered: 0 });
  expect(await shop.stored('people', '1')).not.toHaveProperty('companyId');
  expect((await withoutDrifted(shop)).differing).toEqual([]);
});
