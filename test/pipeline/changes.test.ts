/** Runs that go by a change feed: a logical replication slot of PostgreSQL tells which rows have changed, and which are gone. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dropSlot, startSlotServer, type SlotServer } from '../source/slot-server.js';
import { fedShop as fedShopOn, marking, TABLES, type FedShopSettings } from './fed-shop.js';
import { eventually, failureOf, fill, type Shop } from './shop.js';
import { filesOf } from './shop-files.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

const fedShop = (settings: FedShopSettings = {}) => fedShopOn(server, settings);

const failure = async (shop: Shop) => failureOf(await shop.start('sync', { sync: 'shop' }));

const counts = ({ read, accepted, unchanged, waiting, deadLettered }: Record<string, unknown>) => ({
  ...{ read, accepted, unchanged, waiting, deadLettered },
});
const customersOf = (report: { mappings: readonly { mapping: string }[] }) =>
  counts(report.mappings.find(({ mapping }) => mapping === 'customers') as unknown as Record<string, unknown>);

it('reads every row once, and from then on those that the feed names, however their columns have changed', async () => {
  const shop = await fedShop();
  await fill(shop, 20);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 60, accepted: 60 } });
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 0 } });

  // No column tells that this row has changed.
  await shop.source.query(`UPDATE shop.customers SET name = 'Anna' WHERE id = 7`);
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (21, 'New', 'A', '2001-01-01')`,
  );
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 2, accepted: 2 } });
  expect(await shop.stored('customer', '7')).toMatchObject({ name: 'Anna' });
  expect(await shop.differences()).toBe(0);
});

it('marks the record of a deleted row in the run that hears of it, and delivers it again if the row comes back', async () => {
  const shop = await fedShop();
  await fill(shop, 10);
  await shop.run();
  await shop.source.query('DELETE FROM shop.customers WHERE id = 3');
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (99, 'short-lived', 'A')`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 99');
  const report = await shop.run();
  expect(report).toMatchObject({ outcome: 'complete' });
  expect(report.removals).toMatchObject([{ mapping: 'customers', records: 1, marked: 1, state: 'done' }]);
  expect(await shop.stored('customer', '3')).toMatchObject({ status: 'gone' });
  expect(await shop.stored('customer', '99')).toBeNull();

  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (3, 'Back', 'A')`);
  await shop.run();
  expect(await shop.stored('customer', '3')).toMatchObject({ name: 'Back', status: 'active' });
});

it.each([{ mode: 'incremental' as const }, { mode: 'mirror' as const }])(
  'keeps no dead letter of a row that is gone and whose record is removed, in mode $mode',
  async ({ mode }) => {
    const shop = await fedShop();
    await fill(shop, 10);
    await shop.run();
    await shop.source.query(`UPDATE shop.customers SET email = 'no address' WHERE id IN (3, 4)`);
    expect(await shop.run()).toMatchObject({ total: { deadLettered: 2 } });
    await shop.source.query('DELETE FROM shop.customers WHERE id = 3');

    const report = await shop.run({ mode });

    expect(report.removals).toMatchObject([{ mapping: 'customers', records: 1, marked: 1, state: 'done' }]);
    // The other row is still there, and still wrong.
    expect(await shop.state.query('SELECT source_key FROM partner_sync.dead_letters')).toEqual([{ source_key: ['4'] }]);
  },
);

it('marks the record in the tenant that a row has left, and that of a key that a row no longer has', async () => {
  const shop = await fedShop();
  await fill(shop, 10);
  await shop.run();
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id = 2`);
  await shop.source.query('UPDATE shop.customers SET id = 500 WHERE id = 5');
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.stored('customer', '2', 'north')).toMatchObject({ status: 'gone' });
  expect(await shop.stored('customer', '2', 'south')).toMatchObject({ status: 'active' });
  expect(await shop.stored('customer', '5')).toMatchObject({ status: 'gone' });
  expect(await shop.stored('customer', '500')).toMatchObject({ status: 'active' });
});

/** A shop with five customers, of which those of other tenants may have the same external ids. */
async function shopWithSharedIds() {
  const customers = marking().replace('key: [id]', 'key: [shop, id]');
  const shop = await fedShop({
    tables: { ...TABLES, 'shop.customers': 'shop, id' },
    files: { 'customers.mapping.yaml': customers },
  });
  await shop.source.query('ALTER TABLE shop.customers DROP CONSTRAINT customers_pkey, ADD PRIMARY KEY (shop, id)');
  await fill(shop, 5);
  return shop;
}

it('marks the record of the tenant that the key of a vanished row names, where every tenant has the same external ids', async () => {
  const shop = await shopWithSharedIds();
  await shop.source.query(
    `INSERT INTO shop.customers (shop, id, name, status) SELECT 's', id, 'Southern', 'A' FROM shop.customers WHERE id < 5`,
  );
  await shop.run();
  await shop.source.query(`DELETE FROM shop.customers WHERE shop = 's' AND id = 2`);
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id = 5`);
  await shop.run();
  const statusOf = async (id: string, tenant: string) => (await shop.stored('customer', id, tenant))?.['status'];
  expect([await statusOf('2', 'north'), await statusOf('2', 'south')]).toEqual(['active', 'gone']);
  expect([await statusOf('5', 'north'), await statusOf('5', 'south')]).toEqual(['gone', 'active']);
  expect(await shop.state.query('SELECT key FROM partner_sync.changed_rows')).toEqual([]);
});

it('takes a delivered row off the list although a record of another tenant with the same external id still waits for its parent', async () => {
  const orders = filesOf({ wait: '1m' })['orders.mapping.yaml']!.replace('key: [no]', 'key: [shop, "no"]');
  const shop = await fedShop({
    tables: { ...TABLES, 'shop.orders': 'shop, no' },
    files: { 'orders.mapping.yaml': `${orders}deletes: { action: { clear: [total] } }\n` },
  });
  await shop.source.query('ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (shop, no)');
  await shop.run();
  await shop.source.query(`INSERT INTO shop.orders (shop, no, customer_id) VALUES ('n', 'o1', 7)`);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', total: { waiting: 1 } });

  await shop.source.query(`INSERT INTO shop.orders (shop, no, total) VALUES ('s', 'o1', 5)`);
  await shop.run();
  expect(await shop.stored('order', 'o1', 'south')).toMatchObject({ total: 5 });
  expect(await shop.state.query('SELECT key FROM partner_sync.changed_rows')).toEqual([]);

  await shop.source.query(`DELETE FROM shop.orders WHERE shop = 'n'`);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete' });
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (7, 'Late', 'A')`);
  // When it looked for the row, it was not decided yet what becomes of its record.
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', changedRows: 1 });
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  // Its row had gone while it waited; the record arrived with its parent, and was marked afterwards.
  expect(await shop.stored('order', 'o1')).toEqual({ orderId: 'o1', customerId: '7' });
});

it('says of rows that earlier runs could not deliver that they are still not delivered, though it reads none of them', async () => {
  const shop = await fedShop();
  await fill(shop, 3);
  await shop.source.query(`UPDATE shop.customers SET status = 'X' WHERE id = 2`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete_with_dead_letters' });
  expect(await shop.run()).toMatchObject({ outcome: 'complete_with_dead_letters', total: { read: 0 } });

  await shop.source.query(`UPDATE shop.customers SET status = 'A' WHERE id = 2`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
});

it('lets the source forget changes that it has noted, and delivers them once the platform works again', async () => {
  const shop = await fedShop({ failOn: 'never' });
  await fill(shop, 10);
  await shop.run();
  const before = await confirmed(shop);
  await shop.source.query(`UPDATE shop.customers SET name = 'During the outage'`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
  shop.proxy.fail(() => ({ forward: false, answer: 'cut' }));
  const run = await shop.start('sync', { sync: 'shop' });
  await eventually('that the changes are noted', async () => (await confirmed(shop)) !== before);
  await run.cancel();
  await expect(run.result()).rejects.toThrow();

  shop.proxy.fail(undefined);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.stored('customer', '9')).toMatchObject({ name: 'During the outage' });
  expect(await shop.stored('customer', '4')).toMatchObject({ status: 'gone' });
});

const confirmed = async ({ source, slot }: Awaited<ReturnType<typeof fedShop>>): Promise<string> =>
  (
    await source.query<{ at: string }>(
      'SELECT confirmed_flush_lsn::text AS at FROM pg_replication_slots WHERE slot_name = $1',
      [slot],
    )
  )[0]!.at;

it('reads every row again and finds those that were deleted meanwhile if the slot was created anew', async () => {
  const shop = await fedShop();
  await fill(shop, 10);
  await shop.run();
  await dropSlot(shop.source, shop.slot);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 8');
  await shop.source.query(`UPDATE shop.customers SET name = 'Unheard' WHERE id = 9`);
  expect(await failure(shop)).toMatchObject({
    type: 'changes_lost',
    message: expect.stringMatching(/there is no slot/) as string,
  });

  await shop.source.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [shop.slot]);
  const report = await shop.run();
  // Nine rows, and the removal of one record.
  expect(customersOf(report)).toMatchObject({ read: 10, accepted: 2 });
  expect(report.notes).toContainEqual({
    mapping: 'customers',
    message: expect.stringMatching(/created anew.*every row is read again/) as string,
  });
  expect(await shop.stored('customer', '8')).toMatchObject({ status: 'gone' });
  expect(await shop.stored('customer', '9')).toMatchObject({ name: 'Unheard' });
  expect(await shop.run()).toMatchObject({ total: { read: 0 } });
});

it('finds a row that was deleted unheard while the platform kept its record for a parent, and marks it once it arrives', async () => {
  const orders = filesOf({ wait: '1m' })['orders.mapping.yaml']!;
  const shop = await fedShop({
    files: { 'orders.mapping.yaml': `${orders}deletes: { action: { clear: [total] } }\n` },
  });
  await fill(shop, 3);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('o9', 9, 5)`);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', total: { waiting: 1 } });
  await dropSlot(shop.source, shop.slot);
  await shop.source.query(`DELETE FROM shop.orders WHERE no = 'o9'`);
  await shop.source.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [shop.slot]);

  const report = await shop.run();

  expect(report.removals).toContainEqual(expect.objectContaining({ mapping: 'orders', records: 1, waiting: 1 }));
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (9, 'Late', 'A')`);
  await shop.run();
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.stored('order', 'o9')).toEqual({ orderId: 'o9', customerId: '9' });
});

it('marks the record of a deleted row as soon as no row that cannot be mapped may be its own', async () => {
  const shop = await shopWithSharedIds();
  await shop.source.query(`INSERT INTO shop.customers (shop, id, name, status) VALUES ('unknown', 2, 'Stray', 'A')`);
  await shop.run();
  await shop.source.query(`DELETE FROM shop.customers WHERE shop = 'n' AND id = 2`);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', changedRows: 1 });
  expect(await shop.stored('customer', '2')).toMatchObject({ status: 'active' });

  await shop.source.query(`DELETE FROM shop.customers WHERE shop = 'unknown'`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.stored('customer', '2')).toMatchObject({ status: 'gone' });
});

it('looks once more at a row that has left its tenant, when a run that may have read it there has read the mapping', async () => {
  const shop = await fedShop();
  await fill(shop, 5);
  await shop.run();
  await shop.source.query(`UPDATE shop.customers SET name = 'Changed' WHERE id = 1`);
  shop.proxy.fail(() => ({ forward: false, answer: 'cut' }));
  const backfill = await shop.start('backfill', { sync: 'shop', mappings: ['customers'] });
  const reading = await eventually('that a backfill reads customers', async () => {
    const [run] = await shop.state.query<{ id: string }>(
      `SELECT r.id FROM partner_sync.runs r JOIN partner_sync.partitions p ON p.run_id = r.id
       WHERE r.kind = 'backfill' AND p.fencing_token > 0`,
    );
    return run?.id;
  });
  await backfill.executeUpdate('pause', { args: [] });
  // As when it looks for parents, whenever records lack them.
  const { partitions, ids } = await shop.parts.ledger();
  await partitions.forRowsByKey(reading, await ids.mappingId('shop', 'customers'));
  shop.proxy.fail(undefined);
  await shop.source.query(`INSERT INTO shop.customers (id, shop, name, status) VALUES (9, 'n', 'Movable', 'A')`);
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id = 9`);

  await shop.run();

  expect(await shop.stored('customer', '9', 'south')).toMatchObject({ name: 'Movable' });
  const left = () => shop.state.query(`SELECT after_run FROM partner_sync.changed_rows WHERE key = '{9}'`);
  expect(await left()).toEqual([{ after_run: reading }]);
  await backfill.executeUpdate('resume', { args: [] });
  await backfill.result();
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await left()).toEqual([]);
});

it('looks all records through after TRUNCATE, and removes nothing while the table is empty', async () => {
  const shop = await fedShop();
  await fill(shop, 10);
  await shop.run();
  await shop.source.query('TRUNCATE shop.customers');
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', removals: [{ state: 'empty' }] });

  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'Again', 'A' FROM generate_series(2, 10) i`,
  );
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.stored('customer', '1')).toMatchObject({ status: 'gone' });
  expect(await shop.stored('customer', '2')).toMatchObject({ name: 'Again', status: 'active' });
});

it('asks before it marks many records, and keeps asking until somebody has approved', async () => {
  const hold = `${marking().replace('deletes: {', 'deletes: { hold: { records: 3, percent: 5 },')}`;
  const shop = await fedShop({ files: { 'customers.mapping.yaml': hold } });
  await fill(shop, 20);
  await shop.run();
  await shop.source.query('DELETE FROM shop.customers WHERE id <= 10');
  const first = await shop.run();
  expect(first).toMatchObject({ outcome: 'incomplete', removals: [{ records: 10, state: 'awaiting_approval' }] });
  expect(await shop.run()).toMatchObject({
    outcome: 'incomplete',
    removals: [{ records: 10, state: 'awaiting_approval' }],
  });
  expect(await shop.stored('customer', '10')).toMatchObject({ status: 'active' });

  const [plan] = await (await shop.parts.dependencies()).ledger.removals.awaitingApproval('shop');
  expect(await shop.run({ mode: 'mirror', approve: [plan!.plan] })).toMatchObject({ outcome: 'complete' });
  expect(await shop.stored('customer', '10')).toMatchObject({ status: 'gone' });
  expect(await shop.run()).toMatchObject({ outcome: 'complete', removals: [] });
});

it('asks no more for removals whose rows have come back', async () => {
  const hold = `${marking().replace('deletes: {', 'deletes: { hold: { records: 3, percent: 5 },')}`;
  const shop = await fedShop({ files: { 'customers.mapping.yaml': hold } });
  await fill(shop, 20);
  await shop.run();
  await shop.source.query(`CREATE TABLE kept AS SELECT * FROM shop.customers WHERE id <= 10;
    DELETE FROM shop.customers WHERE id <= 10`);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', removals: [{ state: 'awaiting_approval' }] });
  await shop.source.query('INSERT INTO shop.customers SELECT * FROM kept');

  expect(await shop.run()).toMatchObject({ outcome: 'complete', removals: [] });
  expect(await (await shop.parts.dependencies()).ledger.removals.needingAttention('shop')).toEqual([]);
  expect(await shop.differences()).toBe(0);
});

it('reads the rows of a mapping that is new to the feed in full, and of the others only those that have changed', async () => {
  const shop = await fedShop({
    files: { 'lines.mapping.yaml': `${filesOf({})['lines.mapping.yaml']}changes: none\n` },
  });
  await fill(shop, 5);
  await shop.run();
  shop.write('lines.mapping.yaml', filesOf({})['lines.mapping.yaml']!);
  const report = await shop.run();
  const read = Object.fromEntries(report.mappings.map((mapping) => [mapping.mapping, mapping.read]));
  expect(read).toEqual({ customers: 0, orders: 0, lines: 5 });
});

it('marks the records of rows that were deleted after a run that had looked for them was stopped while it loaded', async () => {
  const shop = await fedShop();
  await fill(shop, 10);
  await shop.run();
  await shop.state.query('UPDATE partner_sync.fed_mappings SET loaded = false WHERE NOT missed_deletes');
  await shop.source.query('DELETE FROM shop.customers WHERE id = 3');

  expect(await shop.run()).toMatchObject({ outcome: 'complete', removals: [{ records: 1, marked: 1 }] });
  expect(await shop.stored('customer', '3')).toMatchObject({ status: 'gone' });
});

it('sends every row of a mapping whose external ids have changed, and asks before it marks the records with the earlier ids', async () => {
  const held = marking().replace('deletes: {', 'deletes: { hold: { records: 2, percent: 5 },');
  const shop = await fedShop({ files: { 'customers.mapping.yaml': held } });
  await fill(shop, 30);
  await shop.run();
  shop.write('customers.mapping.yaml', held.replace('customerId: id', "customerId: { template: 'c{id}' }"));

  const report = await shop.run();

  for (const id of ['c1', 'c30', '1', '30'])
    expect(await shop.stored('customer', id)).toMatchObject({ status: 'active' });
  expect(report.removals).toMatchObject([{ mapping: 'customers', state: 'awaiting_approval', records: 30 }]);
  expect(report.removals[0]!.idsChangedAt).not.toBeNull();
});

it.each([
  ['was taken out of the publication for a while', []],
  [
    'was made anew under its name',
    [
      'ALTER TABLE shop.lines RENAME TO old',
      'CREATE TABLE shop.lines (LIKE shop.old INCLUDING ALL)',
      'INSERT INTO shop.lines SELECT * FROM shop.old',
    ],
  ],
])('reads every row of a table that %s, though it is published again when the run begins', async (_, anew) => {
  const shop = await fedShop();
  await fill(shop, 5);
  await shop.run();
  await shop.source.query(`ALTER PUBLICATION ${shop.slot} DROP TABLE shop.lines`);
  for (const sql of anew) await shop.source.query(sql);
  await shop.source.query(`UPDATE shop.lines SET sku = 'unheard' WHERE order_no = 'o3'`);
  const key = server.version >= 15 ? `(${TABLES['shop.lines']})` : '';
  await shop.source.query(`ALTER PUBLICATION ${shop.slot} ADD TABLE shop.lines ${key}`);
  const report = await shop.run();
  const read = Object.fromEntries(report.mappings.map((mapping) => [mapping.mapping, mapping.read]));
  expect(read).toEqual({ customers: 0, orders: 0, lines: 5 });
  expect(await shop.differences()).toBe(0);
});

it('misses no row of a transaction that was open when its table was added to the publication', async () => {
  const { 'shop.lines': key, ...others } = TABLES;
  const lines = filesOf({})['lines.mapping.yaml']!;
  const shop = await fedShop({ tables: others, files: { 'lines.mapping.yaml': `${lines}changes: none\n` } });
  await fill(shop, 2);
  await shop.run();
  const open = await shop.source.connect();
  await open.query(`BEGIN; INSERT INTO shop.lines (order_no, line, sku) VALUES ('o1', 2, 'late')`);
  await shop.source.query(
    `ALTER PUBLICATION ${shop.slot} ADD TABLE shop.lines ${server.version >= 15 ? `(${key})` : ''}`,
  );
  shop.write('lines.mapping.yaml', lines);
  const [{ now }] = (await shop.source.query('SELECT clock_timestamp()::text AS now')) as [{ now: string }];
  const run = await shop.start('sync', { sync: 'shop' });
  await eventually('that the run waits for the transaction', async () => {
    const waiting = await shop.source.query(
      `SELECT FROM pg_stat_activity WHERE query_start > $1::timestamptz AND application_name = 'partner-sync'
         AND query LIKE '%pg_prepared_xacts p ON%'`,
      [now],
    );
    return waiting.length > 0;
  });
  await open.query('COMMIT');
  await open.end();
  expect(await run.result()).toMatchObject({ outcome: 'complete' });
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.differences()).toBe(0);
});

it('reads every row of a mapping that was without the feed for a while, when nobody recorded its changes', async () => {
  const shop = await fedShop();
  await fill(shop, 5);
  await shop.run();
  const withFeed = marking();
  shop.write('customers.mapping.yaml', `${withFeed}changes: none\n`);
  await shop.source.query(`UPDATE shop.customers SET name = 'Unheard' WHERE id = 1`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 2');
  await shop.run();
  shop.write('customers.mapping.yaml', withFeed);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.stored('customer', '1')).toMatchObject({ name: 'Unheard' });
  expect(await shop.stored('customer', '2')).toMatchObject({ status: 'gone' });
});

it('goes on with the other mappings if the table of one is gone, and reads all of its rows once it is back', async () => {
  const shop = await fedShop();
  await fill(shop, 3);
  await shop.run();
  await shop.source.query('ALTER TABLE shop.lines RENAME TO lines_away');
  await shop.source.query(`UPDATE shop.customers SET name = 'Told' WHERE id = 1`);
  const without = await shop.run();
  expect(without).toMatchObject({ outcome: 'incomplete', skipped: [{ mapping: 'lines', code: 'source_changed' }] });
  expect(await shop.stored('customer', '1')).toMatchObject({ name: 'Told' });

  await shop.source.query('ALTER TABLE shop.lines_away RENAME TO lines');
  const report = await shop.run();
  expect(report).toMatchObject({ outcome: 'complete' });
  expect(report.mappings.find(({ mapping }) => mapping === 'lines')).toMatchObject({ read: 3 });
});

it('reads every row of a mapping whose rows the feed has identified otherwise for a while', async () => {
  const shop = await fedShop();
  // With a list of columns, the partner's own changes would fail meanwhile.
  await shop.source.query(`ALTER TABLE shop.customers ALTER name SET NOT NULL;
    CREATE UNIQUE INDEX by_name ON shop.customers (name);
    ALTER PUBLICATION ${shop.slot} SET TABLE shop.customers, shop.orders, shop.lines`);
  await fill(shop, 3);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  await shop.source.query('ALTER TABLE shop.customers REPLICA IDENTITY USING INDEX by_name');
  await shop.source.query(
    `UPDATE shop.customers SET name = 'Someone' WHERE id = 2; DELETE FROM shop.customers WHERE id = 3`,
  );
  expect((await failure(shop)).message).toMatch(
    /identifies rows of customers by \(name\), and the mapping needs \(id\)/,
  );
  await shop.source.query('ALTER TABLE shop.customers REPLICA IDENTITY DEFAULT');

  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.stored('customer', '2')).toMatchObject({ name: 'Someone' });
  expect(await shop.stored('customer', '3')).toMatchObject({ status: 'gone' });
});

it('does not mind changes of a table that no mapping reads, and whose rows nothing identifies', async () => {
  const shop = await fedShop();
  await fill(shop, 2);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  await shop.source.query(`CREATE TABLE shop.log (text text); ALTER PUBLICATION ${shop.slot} ADD TABLE shop.log;
    UPDATE shop.customers SET name = 'Someone' WHERE id = 2; INSERT INTO shop.log VALUES ('changed')`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 1 } });
  expect(await shop.differences()).toBe(0);
});

it('refuses a feed that does not report the table of a mapping, before anything is read', async () => {
  const shop = await fedShop({ tables: { 'shop.customers': 'id', 'shop.lines': 'order_no, line' } });
  await fill(shop, 1);
  expect(await failure(shop)).toMatchObject({
    type: 'config_invalid',
    message: expect.stringMatching(/mapping orders: the change feed .* does not report its table/) as string,
  });
  expect(shop.proxy.uploads()).toBe(0);
});
