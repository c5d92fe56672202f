/** Reading resources (4.10). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, SOUTH, startForTest, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('reading');
  sandbox = await startForTest(database);
  await sandbox.createSchema('cities', {});
  await sandbox.createSchema('stores', { city: { $ref: 'cities' } });
  await sandbox.createSchema('customers', {
    home: { $ref: 'stores' },
    visited: { type: 'array', items: { $ref: 'stores' } },
    score: { type: 'number' },
  });
  await sandbox.uploaded('cities', [{ id: 'oslo' }]);
  await sandbox.uploaded('stores', [{ id: 's-1', city: 'oslo' }, { id: 's-2', city: 'oslo' }, { id: 's-3' }]);
  await sandbox.uploaded('customers', [
    { id: 'c-1', home: { type: 'stores', id: 's-1' }, visited: ['s-1', 's-2'], score: 0.1 },
  ]);
  await sandbox.uploaded('customers', [{ id: 'c-1' }], { tenant: SOUTH });
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const included = async (query: string) =>
  (await sandbox.read('customers', 'c-1', { query })).body.data.included.map((r) => r.resourceExternalId);

describe('reading a resource', () => {
  it('returns both names of every field with an alias', async () => {
    const { status, body } = await sandbox.read('customers', 'c-1', { tenant: SOUTH });
    expect([status, body.success]).toEqual([200, true]);
    const { result } = body.data;
    expect(result).toMatchObject({
      resourceExternalId: 'c-1',
      resource_external_id: 'c-1',
      businessId: SOUTH,
      business_id: SOUTH,
      data: { id: 'c-1' },
    });
    for (const [camel, snake] of [
      ['schemaDefinitionId', 'schema_definition_id'],
      ['platformId', 'platform_id'],
      ['createdAt', 'created_at'],
    ] as const)
      expect(result[snake]).toBe(result[camel]);
  });

  it('shows references as type and id, unless plain ids are asked for', async () => {
    const objects = (await sandbox.read('customers', 'c-1')).body.data.result.data;
    expect(objects).toEqual({
      id: 'c-1',
      score: 0.1,
      home: { type: 'stores', id: 's-1' },
      visited: [
        { type: 'stores', id: 's-1' },
        { type: 'stores', id: 's-2' },
      ],
    });
    const ids = (await sandbox.read('customers', 'c-1', { query: '?referenceFormat=id' })).body.data.result.data;
    expect(ids).toEqual({ id: 'c-1', score: 0.1, home: 's-1', visited: ['s-1', 's-2'] });
    expect((await sandbox.read('customers', 'c-1', { query: '?referenceFormat=other' })).status).toBe(400);
  });

  it('includes the records that the named fields refer to, each once', async () => {
    expect(await included('')).toEqual([]);
    expect(await included('?include=home')).toEqual(['s-1']);
    expect(await included('?include=home,visited')).toEqual(['s-1', 's-2']);
    expect(await included('?include=visited.city,home')).toEqual(['s-1', 's-2', 'oslo']);
    const { body } = await sandbox.read('customers', 'c-1', { query: '?include=home' });
    expect(body.data.included[0]?.data).toEqual({ id: 's-1', city: { type: 'cities', id: 'oslo' } });
  });

  it('names the reference fields if an include names an unknown one', async () => {
    const { status, body } = await sandbox.read('customers', 'c-1', { query: '?include=home.country' });
    expect([status, body.message]).toEqual([400, expect.stringContaining('"stores"; it has: city')]);
  });
});
