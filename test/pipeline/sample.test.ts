/** `run --limit`: a few rows for a safe first send, with the parents that they need, leaving every position where it is. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { eventually, failureOf, fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC, type Shop } from './shop.js';

const stored = async (shop: Shop): Promise<Record<string, string[]>> => {
  const rows = await shop.store.query<{ name: string; ids: string[] }>(
    `SELECT s.name, array_agg(r.external_id ORDER BY r.external_id) AS ids
     FROM sandbox.resources r JOIN sandbox.schema_definitions s ON s.id = r.schema_id GROUP BY s.name`,
  );
  return Object.fromEntries(rows.map(({ name, ids }) => [name, ids]));
};
const positions = (shop: Shop): Promise<object[]> => shop.state.query('SELECT * FROM partner_sync.positions');

it('sends the first rows of each mapping and the parents that they refer to, and nothing else', async () => {
  const shop = await shopForTest();
  await fill(shop, 50);
  // The first orders are those of the last customers.
  await shop.source.query('UPDATE shop.orders SET customer_id = 51 - customer_id');
  const { code, stdout } = await runInProcess(['run', SYNC, '--limit', '3'], shop.env);
  expect(stdout).toContain('A sample: at most 3 rows of each mapping, and their parents. No position moved');
  expect(code).toBe(0);
  // By key o1, o10, o11; the lines are theirs.
  expect(await stored(shop)).toEqual({
    customer: ['1', '2', '3', '40', '41', '50'],
    line: ['o1-1', 'o10-1', 'o11-1'],
    order: ['o1', 'o10', 'o11'],
  });
  expect(stdout).toMatch(/customers +6 +6 +0 +0 +0/);
  expect(stdout).toMatch(/total +12 +12 +0 +0 +0/);
  expect(await positions(shop)).toEqual([]);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);

  const whole = await shop.run();
  expect(whole).toMatchObject({ outcome: 'complete', total: { read: 150, accepted: 138, unchanged: 12 } });
  expect(await shop.differences()).toBe(0);
});

it('fetches the parents of parents first, so that nothing has to wait', async () => {
  const shop = await shopForTest();
  await fill(shop, 30);
  const report = await shop.run({ limit: 2, mappings: ['lines'] });
  expect(report).toMatchObject({ mode: 'sample', limit: 2, outcome: 'complete' });
  expect(await stored(shop)).toEqual({ customer: ['1', '10'], line: ['o1-1', 'o10-1'], order: ['o1', 'o10'] });
  // Nobody was refused for want of a parent on the way.
  const [batches] = await shop.state.query<{ posts: number }>(
    'SELECT count(*)::int AS posts FROM partner_sync.batches',
  );
  expect(batches).toEqual({ posts: 3 });
});

it('keeps the position of earlier runs, and counts a failing row', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  const before = await positions(shop);
  await shop.source.query(
    `UPDATE shop.customers SET email = 'nobody', updated_at = now() + interval '1 hour' WHERE id = 1`,
  );
  const report = await shop.run({ limit: 2 });
  expect(report).toMatchObject({
    outcome: 'complete_with_dead_letters',
    total: { read: 6, unchanged: 5, deadLettered: 1 },
  });
  expect(await positions(shop)).toEqual(before);
});

it('reports a line for a table without rows', async () => {
  const shop = await shopForTest();
  const { mappings } = await shop.run({ limit: 2, mappings: ['customers'] });
  expect(mappings).toMatchObject([{ mapping: 'customers', read: 0 }]);
});

it('refuses a mode, and mappings that mark records as deleted, before anything is sent', async () => {
  const shop = await shopForTest();
  await fill(shop, 1);
  const refused = async (input: object) => failureOf(await shop.start('sync', { sync: SYNC, ...input }));
  expect(await refused({ limit: 2, mode: 'full' })).toMatchObject({
    type: 'input_invalid',
    message: /"limit" cannot be combined with "mode"/,
  });
  expect(await refused({ limit: 0 })).toMatchObject({ type: 'input_invalid', message: /whole number from 1 to 1000/ });
  shop.write(
    'customers.mapping.yaml',
    `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
deletes: { column: status, values: [X], action: { clear: [email] } }
fields: { customerId: id, name: name, email: email }
`,
  );
  expect(await refused({ limit: 2 })).toMatchObject({ type: 'input_invalid', message: /customers; name the others/ });
  expect(await stored(shop)).toEqual({});
  await eventually('the lease is free', async () => (await openEnds(shop))['leases'] === 0);
});
