/** `preview` predicts what a run would send, without sending or writing anything; the run then does exactly that. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { RunReport } from '../../src/domain/run/run.js';
import { fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { runInProcess } from './in-process.js';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
  await fill(shop, 20);
  await shop.work();
  await shop.run();
});
afterAll(() => shop.close());

/** Every row of every table that partner-sync and the platform keep, and how far each sequence is. */
async function stateOf({ state }: Shop): Promise<Record<string, string>> {
  const tables = await state.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('partner_sync', 'sandbox')
       -- The worker of the test says each second that it is there.
       AND tablename <> 'senders'
     UNION ALL SELECT format('%I.%I', schemaname, sequencename) FROM pg_sequences WHERE schemaname IN ('partner_sync', 'sandbox')`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await state.query<{ digest: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') AS digest FROM (SELECT * FROM ${name}) t`,
    );
    digests[name] = row!.digest;
  }
  return digests;
}

interface PreviewDocument {
  readonly mappings: readonly {
    mapping: string;
    rows: number;
    all: boolean;
    counts: Record<string, number>;
    failures: { pointer: string; rule: string; rows: number }[];
    examples: { prediction: string; externalId: string; differs?: string[] }[];
  }[];
}

it('shows what is new, changed, unchanged or would fail, sends and writes nothing, and the run agrees', async () => {
  await shop.source.query(`
    UPDATE shop.customers SET name = 'canary Anna', updated_at = clock_timestamp() WHERE id IN (1, 2);
    UPDATE shop.customers SET email = 'canary-broken', updated_at = clock_timestamp() WHERE id = 3;
    INSERT INTO shop.customers (id, name, status, updated_at) VALUES (21, 'canary Bob', 'P', clock_timestamp());`);
  const before = await stateOf(shop);
  shop.proxy.forget();

  const { code, json, stdout } = await runInProcess(['preview', SYNC, '--mode', 'full', '--json'], shop.env);
  const [customers, orders] = json<PreviewDocument>().mappings;
  expect(customers).toMatchObject({
    mapping: 'customers',
    rows: 21,
    all: true,
    counts: { new: 1, changed: 2, unchanged: 17, fails: 1 },
    failures: [{ pointer: '/email', rule: 'format: email', rows: 1 }],
  });
  expect(customers!.examples.map((e) => [e.prediction, e.differs])).toEqual([
    ['changed', ['name']],
    ['changed', ['name']],
    ['fails', undefined],
    ['new', undefined],
  ]);
  expect(orders!.counts).toMatchObject({ unchanged: 20, new: 0 });
  expect(code).toBe(3);
  expect(stdout).not.toContain('canary');

  expect(shop.proxy.requests.map((r) => r.method)).toEqual(['GET', 'GET']);
  expect(await stateOf(shop)).toEqual(before);

  const { total } = await shop.run();
  expect(total).toMatchObject({ accepted: 3, deadLettered: 1 });
});

it('shows the values beside those of the platform on request', async () => {
  await shop.source.query(`UPDATE shop.customers SET name = 'Carla', updated_at = clock_timestamp() WHERE id = 4`);
  const { stdout } = await runInProcess(['preview', SYNC, 'customers', '--show-values'], shop.env);
  expect(stdout).toMatch(/~ changed +customer 4 +tenant north\n.*\n +name +name "Carla" +"Customer 4" +"Carla"\n/);
  expect(stdout).toContain('Nothing was sent or written.');
});

it('reads what an incremental run would read, and not what was settled before', async () => {
  await shop.run();
  await shop.source.query(`UPDATE shop.customers SET name = 'Dan', updated_at = clock_timestamp() WHERE id = 5`);
  const { json } = await runInProcess(['preview', SYNC, 'customers', '--json'], shop.env);
  const [customers] = json<PreviewDocument>().mappings;
  expect(customers!.counts['changed']).toBe(1);
  expect(customers!.rows).toBeLessThan(5);
});

it('reports every record as new before there is a ledger or a platform', async () => {
  const { SOURCE_URL, PARTNER_SYNC_MAPPINGS } = shop.env as Record<string, string>;
  const env = { SOURCE_URL: SOURCE_URL!, PARTNER_SYNC_MAPPINGS: PARTNER_SYNC_MAPPINGS! };
  const { code, json } = await runInProcess(['preview', SYNC, 'orders', '--limit', '5', '--json'], env);
  expect(code).toBe(0);
  expect(json<PreviewDocument>().mappings[0]).toMatchObject({ rows: 5, all: false, counts: { new: 5 } });
});

it('runs a plan as long as it is valid, and otherwise says what has changed', async () => {
  const file = join(shop.folder, 'plan.json');
  await runInProcess(['run', SYNC], shop.env); // what the tests before have changed
  await shop.source.query(`UPDATE shop.customers SET name = 'Eve', updated_at = clock_timestamp() WHERE id IN (6, 7)`);
  expect((await runInProcess(['preview', SYNC, '--out', file], shop.env)).stdout).toContain('The plan is in');
  expect(readFileSync(file, 'utf8')).not.toContain('Eve');

  await shop.source.query(`UPDATE shop.customers SET name = 'Fay', updated_at = clock_timestamp() WHERE id = 7`);
  shop.proxy.forget();
  const other = await runInProcess(['run', SYNC, '--plan', file], shop.env);
  expect(other.code).toBe(1);
  expect(other.stderr).toContain('customers: the same number of records, with different content');
  await shop.source.query(`UPDATE shop.customers SET name = 'Gus', updated_at = clock_timestamp() WHERE id = 8`);
  const more = await runInProcess(['run', SYNC, '--plan', file], shop.env);
  expect(more.stderr).toContain('customers: changed 2 -> 3');
  expect(shop.proxy.uploads()).toBe(0);

  await runInProcess(['preview', SYNC, '--out', file], shop.env);
  const run = await runInProcess(['run', SYNC, '--plan', file, '--json'], shop.env);
  expect(run.json<RunReport>().total).toMatchObject({ accepted: 3 });
});

it('makes no plan for a run that marks records whose rows are gone, which nobody would have seen', async () => {
  const file = join(shop.folder, 'plan.json');
  const mapping = join(shop.folder, SYNC, 'lines.mapping.yaml');
  const before = readFileSync(mapping, 'utf8');
  shop.write('lines.mapping.yaml', `${before}deletes: { action: { clear: [sku] } }\n`);
  onTestFinished(() => shop.write('lines.mapping.yaml', before));

  const mirror = await runInProcess(['preview', SYNC, '--mode', 'mirror', '--out', file], shop.env);
  expect([mirror.code, mirror.stderr]).toEqual([2, expect.stringContaining('marks records of lines whose rows are')]);
  const shown = await runInProcess(['preview', SYNC, '--mode', 'mirror'], shop.env);
  expect(shown.stdout).toContain('Records whose rows are gone are not shown');
  const full = await runInProcess(['preview', SYNC, '--mode', 'full', '--out', file], shop.env);
  expect(full.stdout).toContain('The plan is in');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"full"', '"mirror"'));
  expect(await runInProcess(['run', SYNC, '--plan', file], shop.env)).toMatchObject({ code: 2 });
  const others = await runInProcess(['preview', SYNC, 'orders', '--mode', 'mirror', '--out', file], shop.env);
  expect(others.stdout).toContain('The plan is in');
});

it('accepts only a plan that covers every row, and only for its own sync', async () => {
  const file = join(shop.folder, 'plan.json');
  const part = await runInProcess(['preview', SYNC, '--limit', '5', '--out', file], shop.env);
  expect([part.code, part.stderr]).toEqual([2, expect.stringContaining('--out needs --limit all')]);
  writeFileSync(file, '{"version":1}');
  const broken = await runInProcess(['run', SYNC, '--plan', file], shop.env);
  expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('is not a plan')]);
});

it('says what would wait for a row that fails, and for a parent that is nowhere, among the rows that it read', async () => {
  await shop.source.query(`
    INSERT INTO shop.customers (id, name, email, status) VALUES (31, 'Ida', 'canary', 'P');
    INSERT INTO shop.orders (no, customer_id, total) VALUES ('w1', 31, 1), ('w2', 31, 1), ('w3', 999, 1);
    INSERT INTO shop.lines (order_no, line, sku) VALUES ('w1', 1, 'a'), ('w1', 2, 'b'), ('w3', 1, 'c');`);
  const preview = (...args: string[]) => runInProcess(['preview', SYNC, ...args, '--mode', 'full'], shop.env);
  const { stdout } = await preview();
  const { json } = await preview('--json');
  const alone = await preview('customers');
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 31;
    DELETE FROM shop.orders WHERE no LIKE 'w%'; DELETE FROM shop.lines WHERE order_no LIKE 'w%'`);

  const [customers, orders] = json<{ mappings: object[] }>().mappings;
  const waiting = [
    { mapping: 'orders', rows: 2 },
    { mapping: 'lines', rows: 2 },
  ];
  expect(customers).toMatchObject({ waiting, missingParents: [] });
  expect(orders).toMatchObject({
    missingParents: [
      {
        schema: 'customer',
        parents: 1,
        waiting: [
          { mapping: 'orders', rows: 1 },
          { mapping: 'lines', rows: 1 },
        ],
      },
    ],
  });
  expect(stdout).toContain('would wait for it, of the rows read: 2 rows of orders, 2 rows of lines');
  expect(stdout).toContain('would wait for it, of the rows read: 1 row of orders, 1 row of lines');
  expect(alone.stdout).toContain('would wait for them: perhaps rows of orders, which were not read');
});

it('names the mappings for an unknown one', async () => {
  const { code, stderr } = await runInProcess(['preview', SYNC, 'custmers'], shop.env);
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean "customers"?');
});

it.each([['check'], ['status'], ['reconcile', '--read-back', 'all']])(
  'writes nothing with %s',
  async (command, ...flags) => {
    const before = await stateOf(shop);
    shop.proxy.forget();
    expect((await runInProcess([command, SYNC, ...flags], shop.env)).stdout).not.toBe('');
    expect(shop.proxy.requests.filter((r) => r.method !== 'GET')).toEqual([]);
    expect(await stateOf(shop)).toEqual(before);
  },
);
