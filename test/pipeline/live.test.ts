/** Runs in mode live: what changes in the source is on the platform within seconds, until the run is told to stop. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { fedShop as fedShopOn, type FedShopSettings } from './fed-shop.js';
import { eventually, fill, reportOf, type Shop } from './shop.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());
const fedShop = (settings: FedShopSettings = {}) => fedShopOn(server, settings);

const live = (shop: Shop) => shop.start('sync', { sync: 'shop', mode: 'live' });
const nameOf = async (shop: Shop, id: string) => (await shop.stored('customer', id))?.['name'];

it('loads every row, then delivers changes as they happen and marks deleted rows, and ends with a report when it is cancelled', async () => {
  const shop = await fedShop();
  await fill(shop, 20);
  const run = await live(shop);
  await eventually('that all is loaded', async () => (await shop.differences()) === 0);

  await shop.source.query(`UPDATE shop.customers SET name = 'Anna' WHERE id = 7`);
  await eventually('that the change arrives', async () => (await nameOf(shop, '7')) === 'Anna');
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (21, 'New', 'A')`);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('o21', 21, 5)`);
  await eventually('that the order arrives', async () => (await shop.stored('order', 'o21')) !== null);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 3');
  await eventually(
    'that the deleted one is marked',
    async () => (await shop.stored('customer', '3'))?.['status'] === 'gone',
  );
  await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
  await eventually('that a later one is, too', async () => (await shop.stored('customer', '4'))?.['status'] === 'gone');

  await run.cancel();
  const report = await reportOf(run);
  expect(report).toMatchObject({ mode: 'live', outcome: 'complete' });
  expect(report.removals).toMatchObject([{ mapping: 'customers', records: 2, marked: 2, state: 'done' }]);
});
