/** Parents and children that are hard to deliver: in cycles, refused in the middle, with odd ids, of two mappings at once. */
import { expect, it } from 'vitest';
import type { BatchStatus } from '../../src/platform/contract/batches.js';
import {
  expirePending,
  NO_OPEN_ENDS,
  openEnds,
  shopForTest,
  SYNC,
  text,
  type Shop,
  type ShopSettings,
} from './shop.js';

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [
    l.mapping,
    l.externalId,
    l.code,
  ]);

/** Tables of people and teams, with a sync folder for them. */
function family(schemas: Record<string, Record<string, object>>, mappings: Record<string, string>, tables: string) {
  const files: Record<string, string> = {
    'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }\ntenant: north\nupload: { inDoubtDelay: 1s, waitForPending: 5m }\n`,
  };
  for (const [name, properties] of Object.entries(schemas))
    files[`${name}.schema.json`] = JSON.stringify({
      name,
      category: 'custom_schema',
      externalIdField: 'id',
      schema: {
        type: 'object',
        properties: { id: text, ...properties },
        required: ['id'],
        additionalProperties: false,
      },
    });
  for (const [name, yaml] of Object.entries(mappings)) files[`${name}.mapping.yaml`] = yaml;
  return { files, load: async (source) => void (await source.query(tables)) } satisfies ShopSettings['other'];
}

it.each(['0s', '10m'])('terminates if the platform refuses a record that others refer to (wait %s)', async (wait) => {
  const person = { name: text, boss: { $ref: 'person' } };
  const mapping = `schema: person
source: { table: people }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields: { id: id, name: name, boss: { ref: people, column: boss } }
options: { dependencyWaitTimeout: ${wait} }
`;
  const tables = `CREATE TABLE people (id integer PRIMARY KEY, boss integer, name text, updated_at timestamptz DEFAULT now());
    INSERT INTO people VALUES (1, NULL, 'a name that is too long'), (2, 1, 'short'), (3, 2, 'also');`;
  const shop = await shopForTest({ pushed: false, other: family({ person }, { people: mapping }, tables) });
  const platform = await shop.parts.platform();
  await platform.createSchemaDefinition({
    name: 'person',
    category: 'custom_schema',
    externalIdField: 'id',
    schema: { type: 'object', properties: { id: text, ...person, name: { type: 'string', maxLength: 10 } } },
  });

  if (wait !== '0s') {
    expect((await shop.run()).outcome).toBe('incomplete');
    await expirePending(shop);
  }
  expect((await shop.run()).outcome).toBe('complete_with_dead_letters');

  expect(await deadLetters(shop)).toEqual([
    ['people', '1', 'platform_refused'],
    ['people', '2', 'parent_rejected'],
  ]);
  expect(await shop.stored('person', '3')).toMatchObject({ boss: '2' });
  expect(shop.proxy.uploads()).toBeLessThan(15);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);

  await shop.source.query(`UPDATE people SET name = 'fixed', updated_at = clock_timestamp() WHERE id = 1`);
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.stored('person', '2')).toMatchObject({ boss: '1' });
  expect(await deadLetters(shop)).toEqual([]);
  expect(await shop.differences()).toBe(0);
});

it('replays a team and its head, which refer to each other', async () => {
  const schemas = {
    team: { name: text, head: { $ref: 'member' } },
    member: { email: { type: 'string', format: 'email' }, team: { $ref: 'team' } },
  };
  const mappings = {
    teams: `schema: team
source: { table: teams }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields: { id: id, name: name, head: { ref: members, column: head } }
`,
    members: `schema: member
source: { table: members }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields: { id: id, email: email, team: { ref: teams, column: team } }
`,
  };
  const tables = `CREATE TABLE teams (id integer PRIMARY KEY, name text, head integer, updated_at timestamptz DEFAULT now());
    CREATE TABLE members (id integer PRIMARY KEY, email text, team integer, updated_at timestamptz DEFAULT now());
    INSERT INTO teams VALUES (1, 'Blue', 7); INSERT INTO members VALUES (7, 'no address', 1);`;
  const shop = await shopForTest({ other: family(schemas, mappings, tables) });
  expect((await shop.run()).outcome).toBe('complete_with_dead_letters');
  expect((await deadLetters(shop)).length).toBeGreaterThan(1);
  // Without a new cursor value, so that no incremental run reads it.
  await shop.source.query(`UPDATE members SET email = 'seven@example.org'`);

  await shop.backfill({ replay: {} });

  expect(await deadLetters(shop)).toEqual([]);
  expect(await shop.stored('team', '1')).toMatchObject({ head: '7' });
  expect(await shop.stored('member', '7')).toMatchObject({ team: '1' });
  expect((await shop.run()).outcome).toBe('complete');
});

it('accounts for a child that refers to an id that no URL can express', async () => {
  const shop = await shopForTest({
    files: {
      'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
fields: { customerId: name }
`,
      'orders.mapping.yaml': `schema: order
source: { query: "SELECT no, shop, '..' AS customer FROM shop.orders" }
key: [no]
fields: { orderId: no, customerId: { ref: customers, column: customer } }
`,
    },
  });
  await shop.source.query(`INSERT INTO shop.customers (id, name) VALUES (1, '..')`);
  await shop.source.query(`INSERT INTO shop.orders (no) VALUES ('o1')`);

  for (let run = 0; run < 2; run++)
    expect((await shop.run({ mappings: ['customers', 'orders'] })).outcome).toBe('complete_with_dead_letters');

  expect(await deadLetters(shop)).toEqual([
    ['customers', '..', 'external_id_unusable'],
    ['orders', 'o1', 'parent_rejected'],
  ]);
});

it.each(['9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', '2020-01-01 08:00', 'in a while'])(
  'does not send a record that the platform lists as pending until: %s',
  async (expiresAt) => {
    const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
    shop.proxy.fail(({ path }) =>
      path.startsWith('/api/batches/')
        ? {
            forward: true,
            answer(own) {
              const body = JSON.parse(own.body) as { data: BatchStatus };
              const pendingResources = body.data.pendingResources?.map((p) => ({ ...p, expiresAt }));
              return { ...own, body: JSON.stringify({ ...body, data: { ...body.data, pendingResources } }) };
            },
          }
        : undefined,
    );
    await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('o1', 999, 1)`);

    for (let run = 0; run < 3; run++) expect((await shop.run()).outcome).toBe('incomplete');

    expect(shop.proxy.uploads()).toBe(1);
    await shop.source.query(
      `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (999, 'Late', 'A', clock_timestamp())`,
    );
    expect((await shop.run()).outcome).toBe('complete');
  },
);

it('finds the parents of a child in whichever mapping produces them, and retries it when that one delivers', async () => {
  const shop = await shopForTest({
    files: {
      'customers.mapping.yaml': `schema: customer
source: { query: "SELECT * FROM shop.customers WHERE id < 100" }
key: [id]
fields: { customerId: id, name: name }
`,
      'partners.mapping.yaml': `schema: customer
source: { query: "SELECT * FROM shop.customers WHERE id >= 100" }
key: [id]
fields: { customerId: id, name: name }
`,
      'orders.mapping.yaml': `schema: order
source: { query: "SELECT no, shop, customer_id, customer_id + 100 AS partner_id FROM shop.orders" }
key: [no]
fields:
  orderId: no
  customerId: { ref: customers, column: customer_id }
  partnerId: { ref: partners, column: partner_id }
`,
      'order.schema.json': JSON.stringify({
        name: 'order',
        category: 'custom_schema',
        externalIdField: 'orderId',
        schema: {
          type: 'object',
          required: ['orderId'],
          additionalProperties: false,
          properties: { orderId: text, customerId: { $ref: 'customer' }, partnerId: { $ref: 'customer' } },
        },
      }),
    },
  });
  const customers = (ids: readonly number[]) =>
    shop.source.query(`INSERT INTO shop.customers (id, name) SELECT i, 'Customer ' || i FROM unnest($1::int[]) i`, [
      ids,
    ]);
  await customers([1, 2, 102]);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id) VALUES ('o1', 1), ('o2', 2)`);
  const mappings = ['orders'];

  // Both parents of o2 are fetched, each by its own mapping; the partner of o1 is in neither.
  expect((await shop.run({ mappings })).outcome).toBe('complete_with_dead_letters');
  expect(await shop.stored('order', 'o2')).toMatchObject({ customerId: '2', partnerId: '102' });
  expect(await deadLetters(shop)).toEqual([['orders', 'o1', 'parent_filtered']]);

  await customers([101]);
  await shop.run({ mappings: ['partners'] });
  expect(await shop.stored('order', 'o1')).toMatchObject({ customerId: '1', partnerId: '101' });
  expect(await deadLetters(shop)).toEqual([]);
});
