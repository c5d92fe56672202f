/** A first load that is stopped with its run: the next run that goes by the feed goes on with it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunMode } from '../../src/domain/sync/sync.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { fedShop, untilLoaded } from './fed-shop.js';
import { idsIn } from './platform-proxy.js';
import { eventually, fill, reportOf, type Shop } from './shop.js';

/** The first chunk has 4,000. */
const ROWS = 9_000;

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

/** A shop whose first run was stopped while it loaded; since then, a loaded row has changed, and another was deleted. */
async function stoppedShop(mode: RunMode) {
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
  const stopped = await shop.start('sync', { sync: 'shop', mode });
  const before = await eventually('that some rows are loaded', async () => (await loadedRows(shop)) || false, 120);
  await stopped.cancel();
  await stopped.result().catch(() => undefined);
  const [run] = await shop.state.query('SELECT outcome, ended_at IS NOT NULL AS over FROM partner_sync.runs');
  expect(run).toEqual({ outcome: mode === 'live' ? 'incomplete' : 'failed', over: true });
  expect(await shop.stored('customer', '1')).toMatchObject({ name: 'Customer 1' });

  shop.proxy.fail(undefined);
  await shop.source.query(`UPDATE shop.customers SET name = 'Meanwhile' WHERE id = 1`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 2');
  return { shop, before };
}

/** The rows that the newest run has read of its customers' ranges. */
async function loadedRows(shop: Shop): Promise<number> {
  const [row] = await shop.state.query<{ rows: number | null }>(
    `SELECT sum(c.read)::int AS rows FROM partner_sync.partition_counts c JOIN partner_sync.partitions p ON p.id = c.partition_id
       JOIN partner_sync.mappings m ON m.id = p.mapping_id
     WHERE m.name = 'customers' AND p.kind = 'planned' AND p.run_id = (SELECT max(id) FROM partner_sync.runs)`,
  );
  return row!.rows ?? 0;
}

it('in mode live, reads the rest alone, and what has changed meanwhile in the rows that were loaded before', async () => {
  const { shop, before } = await stoppedShop('live');
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
  const after = await loadedRows(shop);
  expect(after).toBeLessThanOrEqual(ROWS - before);
  expect(after).toBeGreaterThan(0);
});

it('in mode incremental, does the same, and goes by the feed from then on', async () => {
  const { shop, before } = await stoppedShop('incremental');
  const report = await shop.run({ mode: 'incremental' });
  expect(report.outcome).toBe('complete');
  expect(await shop.stored('customer', '1')).toMatchObject({ name: 'Meanwhile' });
  expect(await shop.stored('customer', '2')).toMatchObject({ status: 'gone' });
  expect(await shop.differences()).toBe(0);
  const after = await loadedRows(shop);
  expect(after).toBeLessThanOrEqual(ROWS - before);
  expect(after).toBeGreaterThan(0);

  await shop.source.query(`UPDATE shop.customers SET name = 'Later' WHERE id = 9`);
  await shop.run({ mode: 'incremental' });
  expect(await loadedRows(shop)).toBe(0);
  expect(await shop.stored('customer', '9')).toMatchObject({ name: 'Later' });
});
