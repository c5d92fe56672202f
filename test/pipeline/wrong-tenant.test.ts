/** Records that went to a wrong tenant, which was corrected later: the platform has them until somebody says what becomes of them. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { customers, files, MARK, mirror } from './mirrored-customers.js';
import { failureOf, fill, shopForTest, SYNC, type Shop } from './shop.js';

const syncFile = (tenant: string): string => `source: { connection: '\${env:SOURCE_URL}' }
tenant: ${tenant}
upload: { inDoubtDelay: 1s, waitForPending: 5s }
`;

const command = (shop: Shop, ...args: string[]) => runInProcess(args, shop.env);

/** A run that is told that no row belongs to north any more. */
const markNorth = (shop: Shop) =>
  command(shop, 'run', SYNC, '--mode', 'mirror', '--mapping', 'customers', '--former-tenant', 'north');

/** Customers 1 to 5, delivered to north, and then to south, to which they belong. */
async function corrected(
  wrong: string,
  right: string,
  correct: (shop: Shop) => Promise<unknown> = () => Promise.resolve(),
  deletes = `{ ${MARK}, hold: { records: 10 } }`,
): Promise<Shop> {
  const only = { 'sync.yaml': syncFile(wrong), 'customers.mapping.yaml': customers(deletes) };
  const shop = await shopForTest({ files: { ...files(), ...only } });
  await shop.source.query(
    `CREATE TABLE shop.tenants (code text, platform_id text); INSERT INTO shop.tenants VALUES ('n', 'north')`,
  );
  await fill(shop, 5);
  await shop.run({ mappings: ['customers'] });
  shop.write('sync.yaml', syncFile(right));
  await correct(shop);
  expect(await shop.run({ mode: 'full', mappings: ['customers'] })).toMatchObject({ total: { accepted: 5 } });
  return shop;
}

/** As if the sync `other` delivered the customers of north now. */
async function takeOver(shop: Shop): Promise<void> {
  await shop.state.query(`
    INSERT INTO partner_sync.mappings (sync, name, schema_name) VALUES ('other', 'customers', 'customer');
    INSERT INTO partner_sync.record_blocks (mapping_id, tenant_id, low, accepted, records)
      SELECT o.id, b.tenant_id, b.low, b.accepted, b.records FROM partner_sync.record_blocks b
        JOIN partner_sync.mappings m ON m.id = b.mapping_id AND m.sync = 'shop' AND m.name = 'customers'
        JOIN partner_sync.tenants t ON t.id = b.tenant_id AND t.platform_id = 'north', partner_sync.mappings o WHERE o.sync = 'other'`);
}

it('status says so, and a mirror run that is told the tenant marks the records there, and no others', async () => {
  const shop = await corrected('north', 'south');

  const line = 'The platform has records in tenants to which the sync no longer delivers: north (5).';
  const before = await command(shop, 'status', SYNC);
  expect(before.stdout).toContain(line);
  expect(before.stdout).toContain('partner-sync run shop --mode mirror --former-tenant north');
  expect((await mirror(shop)).removals).toMatchObject([{ state: 'done', records: 0 }]);

  const told = await markNorth(shop);
  expect(told.code).toBe(0);
  expect(told.stdout).not.toContain(line);
  for (let id = 1; id <= 5; id++) {
    expect(await shop.stored('customer', String(id), 'north')).toMatchObject({ status: 'gone' });
    expect(await shop.stored('customer', String(id), 'south')).toMatchObject({ email: `c${id}@example.org` });
  }
  expect((await command(shop, 'status', SYNC)).stdout).not.toContain(line);
});

it('a plan that is large is carried out by the run that approves it, which need not be told the tenant again', async () => {
  const shop = await corrected('north', 'south', undefined, `{ ${MARK}, hold: { records: 0, percent: 20 } }`);

  const told = await markNorth(shop);
  expect(told.code).toBe(1);
  const [, plan] = /--approve (\d+)/.exec(told.stdout)!;
  const approved = await mirror(shop, [plan!]);

  expect(approved.removals).toMatchObject([{ state: 'done', records: 5 }]);
  expect(await shop.stored('customer', '3', 'north')).toMatchObject({ status: 'gone' });
  expect(await shop.stored('customer', '3', 'south')).toMatchObject({ email: 'c3@example.org' });
});

it('records are left alone that another sync delivers to the same tenant now', async () => {
  const shop = await corrected('north', 'south');
  await takeOver(shop);

  expect((await command(shop, 'status', SYNC)).stdout).not.toContain('no longer delivers');
  const run = await shop.start('sync', {
    sync: SYNC,
    mode: 'mirror',
    mappings: ['customers'],
    formerTenants: ['north'],
  });
  expect(await failureOf(run)).toMatchObject({
    type: 'input_invalid',
    message: /the sync other delivers to the tenant "north" now/,
  });
});

it('records are left alone that another sync delivers by the time a plan of them is approved', async () => {
  const shop = await corrected('north', 'south', undefined, `{ ${MARK}, hold: { records: 0, percent: 20 } }`);
  const { removals } = await shop.run({ mode: 'mirror', mappings: ['customers'], formerTenants: ['north'] });
  await takeOver(shop);

  expect((await mirror(shop, [removals[0]!.plan])).removals).toMatchObject([{ state: 'done', records: 0 }]);
  expect(await shop.stored('customer', '3', 'north')).toMatchObject({ email: 'c3@example.org' });
});

it('where no mapping says how to mark records, only forgetting them is proposed', async () => {
  const shop = await corrected('north', 'south', undefined, '{ action: ignore }');

  const { stdout } = await command(shop, 'status', SYNC);
  expect(stdout).toContain('No mapping says with deletes how to mark them');
  expect(stdout).not.toContain('--former-tenant');
});

it('doctor says so where tenants are listed in the source', async () => {
  const listed = '{ column: shop, from: { table: shop.tenants, value: code, tenant: platform_id } }';
  const shop = await corrected(listed, listed, (s) => s.source.query(`UPDATE shop.tenants SET platform_id = 'south'`));

  expect((await command(shop, 'doctor', SYNC)).stdout).toContain('no longer delivers: north (5)');
  await command(shop, 'forget', SYNC, '--tenant', 'north', '--yes');
  expect((await command(shop, 'doctor', SYNC)).stdout).not.toContain('no longer delivers');
});

it('a tenant of which nothing is known is refused, as it is misspelled', async () => {
  const shop = await shopForTest({ files: files() });
  await fill(shop, 1);
  await shop.run();

  const run = await shop.start('sync', {
    sync: SYNC,
    mode: 'mirror',
    mappings: ['customers'],
    formerTenants: ['nort'],
  });
  expect(await failureOf(run)).toMatchObject({
    type: 'input_invalid',
    message: /the ledger knows no record of shop in the tenant "nort"/,
  });
});
