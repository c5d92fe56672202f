/** Mappings that fill one schema: to the platform, they have one record for an external id. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { customers, gone, MARK, mirror } from './mirrored-customers.js';
import { fill, shopForTest, SYNC } from './shop.js';

it('does not mark the record of a row that another mapping of the same schema reads now, until that row is gone, too', async () => {
  const half = (condition: string, id = 'id') => `schema: customer
source: { query: "SELECT * FROM shop.customers WHERE ${condition}" }
key: [id]
deletes: { ${MARK}, hold: { records: 0, percent: 50 } }
fields: { customerId: ${id}, name: name, email: email, status: status }
`;
  const shop = await shopForTest({ files: { 'customers.mapping.yaml': half('true') } });
  await fill(shop, 10);
  await shop.run();
  shop.write('customers.mapping.yaml', half('id > 3'));
  shop.write('vips.mapping.yaml', half('id <= 3'));

  const run = { mode: 'mirror', mappings: ['customers', 'vips'] } as const;
  expect(await shop.run(run)).toMatchObject({ outcome: 'complete', removals: [{ records: 0 }, { records: 0 }] });
  expect(await gone(shop)).toEqual([]);

  await shop.source.query('DELETE FROM shop.customers WHERE id IN (2, 9)');
  expect(await shop.run(run)).toMatchObject({ outcome: 'complete' });
  expect(await gone(shop)).toEqual(['2', '9']);
});

it('does not mark records that another mapping of the same schema has sent if its rows cannot be found by their ids', async () => {
  const half = (condition: string, id: string, deletes = '') => `schema: customer
source: { query: "SELECT * FROM shop.customers WHERE ${condition}" }
key: [id]
${deletes}fields: { customerId: ${id}, name: name, email: email, status: status }
`;
  const marking = `deletes: { ${MARK}, hold: { records: 0, percent: 50 } }\n`;
  const shop = await shopForTest({ files: { 'customers.mapping.yaml': half('true', 'id', marking) } });
  await fill(shop, 10);
  await shop.run();
  shop.write('customers.mapping.yaml', half('id > 3', 'id', marking));
  shop.write('vips.mapping.yaml', half('id <= 2', '{ column: id, transforms: [string, trim] }'));

  await shop.run({ mode: 'full' });
  await mirror(shop);
  expect(await gone(shop)).toEqual(['3']);
});

it('does not mark the record of a row that a change feed tells to be gone, and that another mapping of the same schema reads now', async () => {
  const mapping = customers(`{ ${MARK}, hold: { records: 0, percent: 50 } }`);
  const shop = await shopForTest({
    changes: '{ table: partner_changes }',
    files: { 'customers.mapping.yaml': mapping },
  });
  await shop.source.query('CREATE TABLE shop.vips (LIKE shop.customers INCLUDING ALL)');
  await fill(shop, 10);
  shop.write('vips.mapping.yaml', mapping.replace('shop.customers', 'shop.vips'));
  expect((await runInProcess(['changes', 'install', SYNC, '--apply'], shop.env)).code).toBe(0);
  const run = { mappings: ['customers', 'vips'] };
  await shop.run(run);
  await shop.source.query(
    'WITH moved AS (DELETE FROM shop.customers WHERE id <= 2 RETURNING *) INSERT INTO shop.vips SELECT * FROM moved',
  );
  await shop.source.query('DELETE FROM shop.customers WHERE id = 9');

  expect(await shop.run(run)).toMatchObject({ outcome: 'complete' });
  expect(await gone(shop)).toEqual(['9']);
  await shop.source.query('DELETE FROM shop.vips WHERE id = 1');
  expect(await shop.run(run)).toMatchObject({ outcome: 'complete' });
  expect(await gone(shop)).toEqual(['1', '9']);
});
