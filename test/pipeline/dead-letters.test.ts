/** Rows that cannot be delivered: each is identified, counted, kept without its values, and delivered once it is fixed. */
import { expect, it } from 'vitest';
import { fill, openEnds, NO_OPEN_ENDS, shopForTest, text, type Shop } from './shop.js';

const deadLetters = (shop: Shop) =>
  shop.state.query<{ key: string; code: string; pointer: string; rule: string; external_id: string | null }>(
    `SELECT source_key[1] AS key, code, pointer, rule, external_id FROM partner_sync.dead_letters ORDER BY source_key[1]::int`,
  );

it('counts what cannot be delivered, delivers the rest, and deletes a dead letter when its row is fixed', async () => {
  const shop = await shopForTest();
  await fill(shop, 20);
  await shop.source.query(`UPDATE shop.customers SET email = 'canary-not-an-address' WHERE id IN (2, 3)`);
  await shop.source.query(`UPDATE shop.customers SET status = 'canary-status' WHERE id = 5`);
  await shop.source.query(`UPDATE shop.customers SET shop = 'canary-shop' WHERE id = 7`);

  const report = await shop.run({ mappings: ['customers'] });

  expect(report).toMatchObject({
    outcome: 'complete_with_dead_letters',
    total: { read: 20, accepted: 16, unchanged: 0, waiting: 0, deadLettered: 4 },
  });
  expect(report.deadLetters).toEqual(
    expect.arrayContaining([
      { mapping: 'customers', code: 'record_invalid', pointer: '/email', rule: 'format: email', count: 2 },
    ]),
  );
  expect(await deadLetters(shop)).toMatchObject([
    { key: '2', code: 'record_invalid', pointer: '/email', external_id: '2' },
    { key: '3', code: 'record_invalid', pointer: '/email', external_id: '3' },
    { key: '5', code: 'mapping_failed', pointer: '/status', external_id: '5' },
    { key: '7', code: 'tenant_unknown' },
  ]);
  const everything = JSON.stringify(await shop.state.query('SELECT * FROM partner_sync.dead_letters'));
  expect(everything).not.toMatch(/canary|Customer \d|example\.org/);
  expect(await shop.stored('customer', '7')).toBeNull();

  await shop.source.query(
    `UPDATE shop.customers SET email = 'fixed@example.org', updated_at = clock_timestamp() WHERE id = 2`,
  );
  const mended = await shop.run({ mappings: ['customers'] });
  expect(mended.total).toMatchObject({ accepted: 1 });
  expect((await deadLetters(shop)).map((l) => l.key)).toEqual(['3', '5', '7']);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('delivers neither of two rows that claim the same external id', async () => {
  const shop = await shopForTest({
    files: {
      'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
fields: { customerId: name }
`,
    },
  });
  await fill(shop, 6);
  await shop.source.query(`UPDATE shop.customers SET name = 'Twin' WHERE id IN (2, 4)`);

  const report = await shop.run({ mappings: ['customers'] });

  expect(report).toMatchObject({
    outcome: 'complete_with_dead_letters',
    total: { read: 6, accepted: 4, deadLettered: 2 },
  });
  expect(await deadLetters(shop)).toMatchObject([
    { key: '2', code: 'duplicate_external_id', external_id: 'Twin' },
    { key: '4', code: 'duplicate_external_id', external_id: 'Twin' },
  ]);
  expect(await shop.stored('customer', 'Twin')).toBeNull();
});

it('makes a dead letter of the one record that the platform refuses, and delivers its neighbours', async () => {
  const shop = await shopForTest({ pushed: false });
  await fill(shop, 10);
  // The platform's schema is stricter than ours: names of at most ten characters.
  const properties = { customerId: text, name: { ...text, maxLength: 10 }, email: text, status: text };
  const definition = { name: 'customer', category: 'custom_schema', externalIdField: 'customerId' };
  const body = { ...definition, schema: { type: 'object', properties } };
  const platform = await shop.parts.platform();
  await platform.createSchemaDefinition(body as unknown as Parameters<typeof platform.createSchemaDefinition>[0]);

  const report = await shop.run({ mappings: ['customers'] });

  // "Customer 1" has ten characters, "Customer 10" has eleven.
  expect(report).toMatchObject({ outcome: 'complete_with_dead_letters', total: { accepted: 9, deadLettered: 1 } });
  expect(await deadLetters(shop)).toMatchObject([{ key: '10', code: 'platform_refused', external_id: '10' }]);
  expect(await shop.stored('customer', '9')).not.toBeNull();
});

it('does not overwrite records that it did not create if the mapping says reject', async () => {
  const shop = await shopForTest({
    files: {
      'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
fields: { customerId: id, name: name }
options: { onConflict: reject }
`,
    },
  });
  await fill(shop, 3);
  const platform = await shop.parts.platform();
  const body = JSON.stringify({
    resources: [
      { customerId: '1', name: 'Customer 1' },
      { customerId: '2', name: 'Someone else' },
    ],
  });
  await platform.uploadResources('customer', body, { onconflict: 'upsert' }, { tenant: 'north' });

  const report = await shop.run({ mappings: ['customers'] });

  // The first is there with the very content that was to be sent: nothing is left to do.
  expect(report).toMatchObject({ outcome: 'complete_with_dead_letters', total: { accepted: 2, deadLettered: 1 } });
  expect(await deadLetters(shop)).toMatchObject([{ key: '2', code: 'platform_refused' }]);
  expect(await shop.stored('customer', '2')).toMatchObject({ name: 'Someone else' });
});

it('delivers unusual text unchanged, and makes a dead letter of what JSON cannot express', async () => {
  const odd = ['Zoë "Q" O\'Neil\\', 'line\nbreak\ttab', '😀 ﬀ \u202E', '"}],{', '  blanks  ', '\u2028'];
  const shop = await shopForTest({
    files: {
      'customers.mapping.yaml': `schema: customer
source: { query: "SELECT id, shop, name, status::float8 AS score FROM shop.customers" }
key: [id]
fields: { customerId: id, name: name, score: score }
`,
      'customer.schema.json': JSON.stringify({
        name: 'customer',
        category: 'custom_schema',
        externalIdField: 'customerId',
        schema: {
          type: 'object',
          properties: { customerId: text, name: text, score: { type: 'number' } },
          required: ['customerId'],
        },
      }),
    },
  });
  for (const [i, name] of odd.entries())
    await shop.source.query('INSERT INTO shop.customers (id, name, status) VALUES ($1, $2, $3)', [i, name, '1.5']);
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) VALUES (90, 'a', 'NaN'), (91, 'b', 'Infinity')`,
  );

  const report = await shop.run({ mappings: ['customers'] });

  expect(report.total).toMatchObject({ accepted: odd.length, deadLettered: 2 });
  for (const [i, name] of odd.entries())
    expect(await shop.stored('customer', String(i))).toMatchObject({ name, score: 1.5 });
  expect(await shop.stored('customer', '90')).toBeNull();
});
