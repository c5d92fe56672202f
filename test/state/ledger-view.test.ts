/** The ledger as commands see it that only look: they leave no trace, whatever state it is in. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openState } from '../../src/state/connection.js';
import { openLedger } from '../../src/state/ledger.js';
import { openLedgerView } from '../../src/state/ledger-view.js';
import { createDatabase, type Database } from '../pipeline/shop.js';

let database: Database;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const makeLedger = async (): Promise<void> => (await openLedger(database.url)).close();

it('a database without a ledger is refused, and still has none', async () => {
  await expect(openLedgerView(database.url)).rejects.toMatchObject({ code: 'state_not_ready', message: /no ledger/ });
  expect(await database.query(`SELECT FROM pg_namespace WHERE nspname = 'partner_sync'`)).toEqual([]);
});

it('an older ledger is refused rather than updated', async () => {
  await makeLedger();
  await database.query(`DELETE FROM partner_sync.migrations WHERE name = '0001-ledger'`);
  await database.query(`INSERT INTO partner_sync.migrations (name, batch) VALUES ('0000-before', 1)`);
  await expect(openLedgerView(database.url)).rejects.toMatchObject({ code: 'state_not_ready', message: /0001-ledger/ });
});

it('a newer ledger is refused', async () => {
  await makeLedger();
  await database.query(`INSERT INTO partner_sync.migrations (name, batch) VALUES ('9999-future', 9)`);
  await expect(openLedgerView(database.url)).rejects.toMatchObject({ code: 'state_not_ready', message: /newer/ });
});

it('looking for mappings and tenants that are not there makes none', async () => {
  await makeLedger();
  const view = await openLedgerView(database.url);
  expect(await view.catalog.mappingId('shop', 'customers')).toBe(0);
  expect(await view.catalog.tenantIds(['north'])).toEqual(new Map());
  expect(await view.receipts.count(0)).toBe(0);
  await view.close();
  expect(await database.query('SELECT FROM partner_sync.mappings')).toEqual([]);
  expect(await database.query('SELECT FROM partner_sync.tenants')).toEqual([]);
});

it('its sessions refuse every write', async () => {
  await makeLedger();
  const knex = openState(database.url, { readOnly: true });
  await expect(knex('tenants').insert({ platform_id: 'north' })).rejects.toMatchObject({ code: '25006' });
  await knex.destroy();
});
