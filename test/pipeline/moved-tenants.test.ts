/** Rows that belong to another tenant than before although they have not changed: the files, or a list in the source, say so. */
import { expect, it, onTestFinished } from 'vitest';
import { compose } from '../../src/composition/compose.js';
import { runInProcess } from '../cli/in-process.js';
import { fill, openRunByHand, shopForTest, SYNC, type Shop } from './shop.js';

const syncFile = (tenant: string, changes = ''): string => `source: { connection: '\${env:SOURCE_URL}' }
tenant: { column: shop, ${tenant} }
upload: { inDoubtDelay: 1s, waitForPending: 5s }
${changes}`;
const LISTED = 'from: { table: shop.tenants, value: code, tenant: platform_id }';

/** Five customers with their orders and lines, each of which has changed at another moment: a run reads the last one of each again. */
async function fillApart(shop: Shop): Promise<void> {
  await fill(shop, 5);
  for (const table of ['customers', 'orders', 'lines'])
    await shop.source.query(
      `WITH n AS (SELECT ctid AS row, row_number() OVER () AS no FROM shop.${table})
       UPDATE shop.${table} t SET updated_at = now() - n.no * interval '1 minute' FROM n WHERE t.ctid = n.row`,
    );
}
const LAST_ONES = { read: 3, accepted: 0 };

async function shopWithList(changes = ''): Promise<Shop> {
  const shop = await shopForTest({ files: { 'sync.yaml': syncFile(LISTED, changes) } });
  await shop.source.query(`CREATE TABLE shop.tenants (code text, platform_id text);
    INSERT INTO shop.tenants VALUES ('n', 'north'), ('s', 'south')`);
  await fillApart(shop);
  return shop;
}

it('the next run sends every row to its tenant after values were corrected in sync.yaml, and the one after that none', async () => {
  const shop = await shopForTest();
  await fillApart(shop);
  await shop.run();
  shop.write('sync.yaml', syncFile('values: { n: south, s: south }'));

  const previewed = await runInProcess(['preview', SYNC, '--json'], shop.env);
  expect(previewed.stdout).toMatch(/"new": ?5/);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 15 } });

  expect(await shop.stored('line', 'o1-1', 'south')).toMatchObject({ sku: 'sku-1' });
  expect(await shop.run()).toMatchObject({ total: LAST_ONES });
});

it('so does a change of the list of tenants in the source, but not a new tenant in it', async () => {
  const shop = await shopWithList();
  await shop.run();

  await shop.source.query(`INSERT INTO shop.tenants VALUES ('w', 'south')`);
  expect(await shop.run()).toMatchObject({ total: LAST_ONES });
  await shop.source.query(`UPDATE shop.tenants SET platform_id = 'south' WHERE code = 'n'`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 15 } });
  expect(await shop.stored('order', 'o5', 'south')).toMatchObject({ total: 5.5 });
});

it('a value that was away for a while has moved if it comes back for another tenant', async () => {
  const shop = await shopWithList();
  await shop.run();

  await shop.source.query(`DELETE FROM shop.tenants WHERE code = 'n'`);
  expect(await shop.run()).toMatchObject({ total: LAST_ONES });
  await shop.source.query(`INSERT INTO shop.tenants VALUES ('n', 'south')`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 15 } });
});

it('mappings that go by a change feed are loaded again, although the feed tells of no change', async () => {
  const shop = await shopWithList('changes: { table: partner_changes }\n');
  expect((await runInProcess(['changes', 'install', SYNC, '--apply'], shop.env)).code).toBe(0);
  await shop.run();
  expect(await shop.run()).toMatchObject({ total: { read: 0 } });

  await shop.source.query(`UPDATE shop.tenants SET platform_id = 'south' WHERE code = 'n'`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 15 } });
  expect(await shop.run()).toMatchObject({ total: { read: 0 } });
});

it('all workers of a run go by the list that the first of them has read', async () => {
  const shop = await shopWithList();
  const { runId } = await openRunByHand(shop);
  const other = compose(shop.env);
  onTestFinished(() => other.close());

  const before = await (await shop.parts.openSync(SYNC, runId)).tenantRule();
  await shop.source.query(`UPDATE shop.tenants SET platform_id = 'south' WHERE code = 'n'`);

  expect(await (await other.openSync(SYNC, runId)).tenantRule()).toEqual(before);
  expect(await (await other.openSync(SYNC)).tenantRule()).not.toEqual(before);
});

it('rows of a value that only a replay has sent move, too', async () => {
  const shop = await shopWithList();
  await shop.source.query(`UPDATE shop.customers SET shop = 'b' WHERE id = 2`);
  await shop.run();
  await shop.source.query(`INSERT INTO shop.tenants VALUES ('b', 'south')`);
  await shop.backfill({ replay: {}, mappings: ['customers'] });
  expect(await shop.stored('customer', '2', 'south')).not.toBeNull();

  await shop.source.query(`UPDATE shop.tenants SET platform_id = 'north' WHERE code = 'b'`);
  await shop.run();
  expect(await shop.stored('customer', '2', 'north')).not.toBeNull();
});
