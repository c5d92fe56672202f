/** Shops that go by a change feed. */
import { onTestFinished } from 'vitest';
import { dropSlot, installSlot, type SlotServer } from '../source/slot-server.js';
import { eventually, openShop, type Shop, type ShopSettings } from './shop.js';
import { filesOf } from './shop-files.js';

export const TABLES = { 'shop.customers': 'id', 'shop.orders': 'no', 'shop.lines': 'order_no, line' };
export const GONE = 'deletes: { action: { set: { status: gone }, clear: [name] } }';
/** The customers' mapping, which marks the records of deleted rows. */
export const marking = (files = filesOf({})): string => `${files['customers.mapping.yaml']}${GONE}\n`;

export type FedShopSettings = ShopSettings & { readonly tables?: Readonly<Record<string, string>> };

/** A shop whose customers, orders and lines are told by a slot on this server. */
export async function fedShop(server: SlotServer, { tables = TABLES, files = {}, ...more }: FedShopSettings = {}) {
  const shop = await openShop({ sourceServer: server.url('postgres'), ...more, files });
  const slot = await installSlot(server, shop.source, tables);
  const all = { 'customers.mapping.yaml': marking(), ...files };
  for (const [file, text] of Object.entries(
    filesOf({ ...more, changes: `{ slot: ${slot}, publication: ${slot} }`, files: all }),
  ))
    shop.write(file, text);
  await shop.work();
  onTestFinished(async () => {
    await shop.rest();
    await dropSlot(shop.source, slot);
    await shop.close();
  });
  return { ...shop, slot };
}

/** Resolves when a run in mode live has read every row, and has looked for records of customers whose rows are gone. */
export const untilLoaded = (shop: Shop): Promise<unknown> =>
  eventually('that all is loaded', async () => {
    const [row] = await shop.state.query<{ isLoaded: boolean }>(
      `SELECT coalesce(bool_and(f.loaded AND NOT (f.missed_deletes AND m.name = 'customers')), false) AS "isLoaded"
       FROM partner_sync.fed_mappings f JOIN partner_sync.mappings m ON m.id = f.mapping_id`,
    );
    return row!.isLoaded && (await shop.differences()) === 0;
  });
