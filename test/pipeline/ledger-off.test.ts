/** A mapping without records in the ledger: every run sends what it reads; everything else works as for other mappings. */
import { expect, it } from 'vitest';
import { fill, NO_OPEN_ENDS, openEnds, shopForTest, text, type Shop } from './shop.js';

const mapping = (
  table: string,
  schema: string,
  key: string,
  fields: string,
  options: string,
): string => `schema: ${schema}
source: { table: shop.${table} }
key: [${key}]
cursor: { column: updated_at, overlap: 0s }
fields: ${fields}
options: ${options}
`;
const customers = (options: string) => ({
  'customers.mapping.yaml': mapping('customers', 'customer', 'id', '{ customerId: id, name: name }', options),
});
const orders = {
  'orders.mapping.yaml': mapping(
    'orders',
    'order',
    'no',
    '{ orderId: no, customerId: { ref: customers, column: customer_id, omitNull: true }, total: total }',
    '{ dependencyWaitTimeout: 10m, ledger: off }',
  ),
};

const kept = async (shop: Shop): Promise<object> =>
  (
    await shop.state.query<object>(
      `SELECT (SELECT count(*)::int FROM partner_sync.record_blocks) AS blocks,
         (SELECT count(*)::int FROM partner_sync.batches) AS batches`,
    )
  )[0]!;
const NOTHING = { blocks: 0, batches: 0 };
const rename = (shop: Shop, name: string) =>
  shop.source.query('UPDATE shop.customers SET name = $1 WHERE id = 7', [name]);

it('sends every row in each run, and keeps no record of it', async () => {
  const shop = await shopForTest({ files: customers('{ ledger: off }') });
  await fill(shop, 250);
  for (let run = 1; run <= 2; run++)
    expect(await shop.run({ mappings: ['customers'], mode: 'full' })).toMatchObject({
      outcome: 'complete',
      total: { read: 250, accepted: 250, unchanged: 0 },
    });
  expect(await kept(shop)).toEqual(NOTHING);
  expect(await shop.reconcile('customers')).toMatchObject({ rows: 250, equal: 250, readBack: 250 });
  const sync = await shop.parts.openSync('shop');
  const { reconcileMapping } = await import('../../src/inspection/reconcile-mapping.js');
  await expect(
    reconcileMapping(await shop.parts.dependencies(), sync, await sync.mapping('customers'), {
      readBack: 'none',
      seed: '',
    }),
  ).rejects.toMatchObject({ code: 'input_invalid', message: expect.stringContaining('--read-back all') as string });
});

it('sends a row that changed back to what was sent before the ledger was switched off', async () => {
  const shop = await shopForTest({ files: customers('{}') });
  await fill(shop, 10);
  await rename(shop, 'first');
  await shop.run({ mappings: ['customers'], mode: 'full' });
  shop.write('customers.mapping.yaml', customers('{ ledger: off }')['customers.mapping.yaml']);
  await rename(shop, 'second');
  await shop.run({ mappings: ['customers'], mode: 'full' });
  expect(await shop.stored('customer', '7')).toMatchObject({ name: 'second' });
  shop.write('customers.mapping.yaml', customers('{}')['customers.mapping.yaml']);
  await rename(shop, 'first');

  expect(await shop.run({ mappings: ['customers'], mode: 'full' })).toMatchObject({ total: { accepted: 10 } });

  expect(await shop.stored('customer', '7')).toMatchObject({ name: 'first' });
  expect(await shop.reconcile('customers')).toMatchObject({ rows: 10, equal: 10, extra: 0 });
});

it('polls pending records, and delivers them with the parent', async () => {
  const shop = await shopForTest({ files: orders, upload: { waitForPending: '1s' } });
  await fill(shop, 5);
  await shop.run();
  await shop.source.query(
    `INSERT INTO shop.orders (no, customer_id, total, updated_at) VALUES ('early', 99, 1, clock_timestamp())`,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', total: { waiting: 1 } });
  expect(await openEnds(shop)).toMatchObject({ waiting: 1 });

  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (99, 'Late', 'A', clock_timestamp())`,
  );
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.stored('order', 'early')).toMatchObject({ customerId: '99' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('splits a refused batch, and settles one whose answer was lost', async () => {
  const shop = await shopForTest({ pushed: false, files: customers('{ ledger: off }') });
  await fill(shop, 10);
  const properties = { customerId: text, name: { ...text, maxLength: 10 } };
  const definition = { name: 'customer', category: 'custom_schema', externalIdField: 'customerId' };
  const platform = await shop.parts.platform();
  const body = { ...definition, schema: { type: 'object', properties, additionalProperties: false } };
  await platform.createSchemaDefinition(body as unknown as Parameters<typeof platform.createSchemaDefinition>[0]);
  const lost: number[] = [];
  shop.proxy.fail(({ upload, no }) => {
    if (!upload || no > 1) return undefined;
    lost.push(no);
    return no === 0
      ? { forward: false, answer: { status: 400, body: '{"success":false,"message":"no","errors":[]}' } }
      : { forward: true, answer: 'cut' };
  });

  const report = await shop.run({ mappings: ['customers'] });

  expect(lost).toEqual([0, 1]);
  expect(report).toMatchObject({ outcome: 'complete_with_dead_letters', total: { accepted: 9, deadLettered: 1 } });
  expect(await kept(shop)).toEqual(NOTHING);
});
