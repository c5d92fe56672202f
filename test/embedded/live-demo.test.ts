/** What the live demo shows of a change: the server's own account of it, and what it has changed on the platform. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEMO_EDITS, EXAMPLE_EDITS } from '../../src/embedded/live-edits.js';
import { whatChanged } from '../../src/embedded/live-arrivals.js';
import { ShopChanges } from '../../src/embedded/shop-changes.js';
import { loadOnlineRetail } from '../../src/embedded/online-retail/load-shop.js';
import { createDatabase, type Database } from '../databases.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';

let server: SlotServer;
let shop: Database;
beforeAll(async () => {
  server = await startSlotServer();
  shop = await createDatabase(server.url('postgres'));
  await loadOnlineRetail(shop.url);
});
afterAll(() => server.stop());

async function changesOf(...statements: string[]) {
  const changes = await ShopChanges.open(shop.url);
  try {
    for (const sql of statements) await shop.query(sql);
    return (await changes.next()).map(({ mapping, externalId, kind }) => `${kind} ${mapping} ${externalId}`);
  } finally {
    await changes.close();
  }
}

it('sees the changes that the demo makes and suggests, by the ids that their records have', async () => {
  expect(await changesOf(...EXAMPLE_EDITS)).toEqual([
    'UPDATE customers 17850',
    'INSERT customers 99001',
    'DELETE order-lines 536365-1',
  ]);
  expect(await changesOf(...DEMO_EDITS.map(({ sql }) => sql))).toEqual([
    'UPDATE customers 17850',
    'INSERT customers 99002',
    'DELETE order-lines 536365-2',
  ]);
});

it('sees a row whose key has changed as two, and leaves nothing behind in the server', async () => {
  expect(await changesOf(`UPDATE shop.customers SET customer_id = 99003 WHERE customer_id = 99002`)).toEqual([
    'DELETE customers 99002',
    'INSERT customers 99003',
  ]);
  await expect.poll(() => shop.query('SELECT slot_name FROM pg_replication_slots')).toEqual([]);
});

it.each<[string, ...Parameters<typeof whatChanged>]>([
  ['new: name "Anna"', 'INSERT', null, { name: 'Anna' }],
  ['changed: name "Anna" -> "Ana"', 'UPDATE', { id: '1', name: 'Anna' }, { id: '1', name: 'Ana' }],
  ['marked as deleted: name "Anna" -> nothing', 'DELETE', { id: '1', name: 'Anna' }, { id: '1' }],
  ['the same as before on the platform', 'UPDATE', { id: '1' }, { id: '1' }],
  ['deleted before it was ever sent', 'DELETE', null, null],
])('says: %s', (line, kind, before, after) => {
  expect(whatChanged(kind, before, after)).toBe(line);
});
