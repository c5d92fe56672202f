/** A first load that is stopped with its run: the next run in mode live goes on with it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { fedShop, untilLoaded } from './fed-shop.js';
import { idsIn } from './platform-proxy.js';
import { eventually, fill, reportOf } from './shop.js';

/** The first chunk has 4,000. */
const ROWS = 9_000;

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

it('reads the rest alone, and what has changed meanwhile in the rows that were loaded before', async () => {
  const shop = await fedShop(server);
  await fill(shop, 10);
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'Customer ' || i, 'A' FROM generate_series(11, $1::int) i`,
    [ROWS],
  );
  shop.proxy.fail((request) =>
    request.upload && idsIn(request, 'customerId').some((id) => Number(id) > 5_000)
      ? { forward: false, answer: { status: 503, body: '{"success":false}' } }
      : undefined,
  );
  const stopped = await shop.start('sync', { sync: 'shop', mode: 'live' });
  const [before] = await eventually(
    'that some rows are loaded',
    async () => {
      const loaded = await shop.state.query<{ rows: number }>(
        `SELECT sum(c.read)::int AS rows FROM partner_sync.partition_counts c JOIN partner_sync.partitions p ON p.id = c.partition_id
       WHERE p.kind = 'planned' HAVING sum(c.read) > 0`,
      );
      return loaded.length > 0 && loaded;
    },
    120,
  );
  await stopped.cancel();
  expect((await reportOf(stopped)).outcome).toBe('incomplete');
  expect(await shop.stored('customer', '1')).toMatchObject({ name: 'Customer 1' });

  shop.proxy.fail(undefined);
  await shop.source.query(`UPDATE shop.customers SET name = 'Meanwhile' WHERE id = 1`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 2');
  const run = await shop.start('sync', { sync: 'shop', mode: 'live' });
  await untilLoaded(shop);
  await eventually(
    'that the change arrives',
    async () => (await shop.stored('customer', '1'))?.['name'] === 'Meanwhile',
  );
  await eventually(
    'that the deleted row is marked',
    async () => (await shop.stored('customer', '2'))?.['status'] === 'gone',
  );
  await run.cancel();
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  const [after] = await shop.state.query<{ rows: number }>(
    `SELECT sum(c.read)::int AS rows FROM partner_sync.partition_counts c JOIN partner_sync.partitions p ON p.id = c.partition_id
       JOIN partner_sync.mappings m ON m.id = p.mapping_id
     WHERE m.name = 'customers' AND p.kind = 'planned' AND p.run_id = (SELECT max(id) FROM partner_sync.runs)`,
  );
  expect(after!.rows).toBeLessThanOrEqual(ROWS - before!.rows);
  expect(after!.rows).toBeGreaterThan(0);
}, 300_000);
