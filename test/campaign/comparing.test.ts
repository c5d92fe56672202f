/** The comparison with which a campaign ends notices each way in which the platform can differ from the source. */
import { expect, it, onTestFinished } from 'vitest';
import { copyDatabase, createDatabase, STATE, type Database } from '../databases.js';

interface Found {
  readonly records: number;
  readonly marked: number;
  readonly lost: number;
  readonly stale: number;
  readonly foreign: number;
  readonly unmarked: number;
  readonly examples: readonly string[];
}

interface Comparing {
  readonly comparePlatform: (urls: { source: string; store: string }) => Promise<Found>;
  readonly isProved: (found: Found) => boolean;
}

interface PostgresSource {
  readonly postgres: { readonly tables: string };
}

const script = async <T>(name: string): Promise<T> =>
  (await import(new URL(`../../scripts/campaign/${name}.mjs`, import.meta.url).href)) as T;
const { comparePlatform, isProved } = await script<Comparing>('compare');
const { postgres } = await script<PostgresSource>('sources/postgres');

const CUSTOMER = '00000000-0000-4000-8000-000000000001';
const ORDER = '00000000-0000-4000-8000-000000000002';

/** A shop of two tenants with the same external ids, and a platform that has its records. */
async function inStep(): Promise<{ source: Database; store: Database }> {
  const [source, store] = await Promise.all([createDatabase(), copyDatabase(STATE)]);
  onTestFinished(() => Promise.all([source.drop(), store.drop()]).then(() => undefined));
  await source.query(postgres.tables);
  await source.query(
    `INSERT INTO shop.customers VALUES ('n', 1, 'Ada', 'ada@example.org', 'A'), ('s', 1, 'Zoë', NULL, 'P')`,
  );
  await source.query(`INSERT INTO shop.orders VALUES ('n', 'o1', 1, 12.50, NULL), ('s', 'o1', 1, 7, 'two "boxes"')`);
  await source.query(`INSERT INTO shop.gone VALUES ('order', 'n', 'o2')`);
  for (const [id, name] of [
    [CUSTOMER, 'customer'],
    [ORDER, 'order'],
  ])
    await store.query(
      `INSERT INTO sandbox.schema_definitions (id, platform_id, name, plural_name, category, version_number, reference_schemas, schema,
         external_id_field, created_at, updated_at)
       VALUES ($1, $1, $2, $2, 'custom_schema', 1, '{}', '{}', 'id', now(), now())`,
      [id, name],
    );
  const put = (tenant: string, schema: string, id: string, data: object) => putRecord(store, tenant, schema, id, data);
  await put('north', CUSTOMER, '1', { customerId: '1', name: 'Ada', email: 'ada@example.org', status: 'active' });
  await put('south', CUSTOMER, '1', { customerId: '1', name: 'Zoë', status: 'paused' });
  await put('north', ORDER, 'o1', { orderId: 'o1', customerId: '1', total: 12.5 });
  await put('south', ORDER, 'o1', { orderId: 'o1', customerId: '1', total: 7, note: 'two "boxes"' });
  await put('north', ORDER, 'o2', { orderId: 'o2', note: 'deleted' });
  return { source, store };
}

const putRecord = (store: Database, tenant: string, schema: string, id: string, data: object): Promise<unknown> =>
  store.query(
    `INSERT INTO sandbox.resources VALUES ($1, $2, $3, gen_random_uuid(), $4, now(), now())
     ON CONFLICT (tenant_id, schema_id, external_id) DO UPDATE SET data = excluded.data`,
    [tenant, schema, id, JSON.stringify(data)],
  );

const compared = ({ source, store }: { source: Database; store: Database }): Promise<Found> =>
  comparePlatform({ source: source.url, store: store.url });

it('finds nothing wrong while the platform is in step', async () => {
  const found = await compared(await inStep());

  expect(found).toEqual({ records: 4, marked: 1, lost: 0, stale: 0, foreign: 0, unmarked: 0, examples: [] });
  expect(isProved(found)).toBe(true);
});

it('proves nothing by comparing nothing', async () => {
  const shop = await inStep();
  await shop.source.query('TRUNCATE shop.customers, shop.orders');
  await shop.store.query('TRUNCATE sandbox.resources');

  expect(isProved(await compared(shop))).toBe(false);
});

it.each<[string, Partial<Found>, (shop: { source: Database; store: Database }) => Promise<unknown>]>([
  [
    'a record that was lost',
    { lost: 1 },
    ({ store }) => store.query(`DELETE FROM sandbox.resources WHERE tenant_id = 'south' AND external_id = 'o1'`),
  ],
  [
    'a record that is stale',
    { stale: 1 },
    ({ source }) => source.query(`UPDATE shop.orders SET total = 12.51 WHERE shop = 'n'`),
  ],
  [
    'a field that was to be deleted',
    { stale: 1 },
    ({ source }) => source.query(`UPDATE shop.customers SET email = NULL WHERE shop = 'n'`),
  ],
  [
    'two records that were exchanged between tenants',
    { stale: 2 },
    ({ store }) =>
      store.query(`UPDATE sandbox.resources a SET data = b.data FROM sandbox.resources b
        WHERE a.external_id = 'o1' AND b.external_id = 'o1' AND a.tenant_id <> b.tenant_id`),
  ],
  [
    'a record in a tenant that has never had its row',
    { foreign: 1 },
    ({ store }) => putRecord(store, 'south', ORDER, 'o2', { orderId: 'o2', note: 'deleted' }),
  ],
  [
    'the record of a deleted row that is not marked',
    { unmarked: 1, marked: 0 },
    ({ store }) => putRecord(store, 'north', ORDER, 'o2', { orderId: 'o2', total: 3, note: 'deleted' }),
  ],
])('finds %s', async (_what, expected, spoil) => {
  const shop = await inStep();
  await spoil(shop);

  const found = await compared(shop);

  expect(found).toMatchObject(expected);
  expect(found.examples.length).toBeGreaterThan(0);
  expect(isProved(found)).toBe(false);
});
