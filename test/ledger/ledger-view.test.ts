/** The ledger for commands that only read: they write nothing, whatever state it is in. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLedgerDatabase } from '../../src/ledger/database/connection.js';
import { openLedger } from '../../src/ledger/ledger.js';
import { FIRST_PLACE } from '../../src/ledger/record-key.js';
import { openLedgerView } from '../../src/ledger/ledger-view.js';
import { createDatabase, type Database } from '../pipeline/shop.js';

let database: Database;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const makeLedger = async (): Promise<void> => (await openLedger(database.url)).close();

it('refuses a database without a ledger, and creates none', async () => {
  await expect(openLedgerView(database.url)).rejects.toMatchObject({ code: 'state_not_ready', message: /no ledger/ });
  expect(await database.query(`SELECT FROM pg_namespace WHERE nspname = 'partner_sync'`)).toEqual([]);
});

it('refuses an older ledger instead of migrating it', async () => {
  await makeLedger();
  await database.query(`DELETE FROM partner_sync.migrations WHERE name = '0001-ledger'`);
  await database.query(`INSERT INTO partner_sync.migrations (name, batch) VALUES ('0000-before', 1)`);
  await expect(openLedgerView(database.url)).rejects.toMatchObject({ code: 'state_not_ready', message: /0001-ledger/ });
});

it('refuses a newer ledger', async () => {
  await makeLedger();
  await database.query(`INSERT INTO partner_sync.migrations (name, batch) VALUES ('9999-future', 9)`);
  await expect(openLedgerView(database.url)).rejects.toMatchObject({ code: 'state_not_ready', message: /newer/ });
});

it('inserts nothing when it looks up unknown mappings and tenants', async () => {
  await makeLedger();
  const view = await openLedgerView(database.url);
  expect(await view.ids.mappingId('shop', 'customers', 'customer')).toBe(0);
  expect(await view.ids.tenantIds(['north'])).toEqual(new Map());
  expect(await view.acceptedHashes.page(0, FIRST_PLACE, null)).toEqual({ acceptedHashes: [], next: null });
  await view.close();
  expect(await database.query('SELECT FROM partner_sync.mappings')).toEqual([]);
  expect(await database.query('SELECT FROM partner_sync.tenants')).toEqual([]);
});

it('opens sessions that refuse every write', async () => {
  await makeLedger();
  const knex = openLedgerDatabase(database.url, { readOnly: true });
  await expect(knex('tenants').insert({ platform_id: 'north' })).rejects.toMatchObject({ code: '25006' });
  await knex.destroy();
});
