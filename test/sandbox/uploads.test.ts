/** Uploading records: what is stored of them (4.5, 4.8). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addsUp,
  createDatabase,
  createPeople,
  SOUTH,
  startForTest,
  unique,
  type TestDatabase,
} from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('uploads');
  sandbox = await startForTest(database);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const people = () => createPeople(sandbox);
const dataOf = async (schema: string, id: string, tenant = 'north') =>
  (await sandbox.read(schema, id, { tenant })).body.data?.result.data;

describe('uploading records', () => {
  it('accepts first and processes afterwards', async () => {
    const schema = await people();
    const slow = await startForTest(database, { processingDelay: 60_000 });
    await sandbox.close();
    const answer = await slow.call('POST', `/api/resources/${schema}/batch`, { body: { resources: [{ id: 'a' }] } });
    expect(answer.status).toBe(202);
    expect(answer.body.data).toMatchObject({ recordCount: 1, schemaDefinitionId: expect.any(String) as string });
    const waiting = await slow.batch(answer.body.data.batchId);
    await slow.close();
    sandbox = await startForTest(database);
    const done = await sandbox.completed(answer.body.data.batchId);
    expect(waiting).toMatchObject({
      completedAt: null,
      startedAt: null,
      errors: null,
      progress: {
        totalRecords: 1,
        processedRecords: 0,
        pendingRecords: 0,
      },
    });
    expect(addsUp(waiting, false)).toBe(true);
    expect(done).toMatchObject({
      errors: null,
      schemaName: schema,
      progress: {
        totalRecords: 1,
        processedRecords: 1,
        successfulRecords: 1,
        failedRecords: 0,
        pendingRecords: 0,
        successRate: 1,
      },
    });
  });

  it('merges an upsert: keeps fields not sent, deletes fields sent as null, replaces nested objects as a whole', async () => {
    const schema = await people();
    await sandbox.uploaded(schema, [{ id: 'a', email: 'a@example.com', age: 7, address: { city: 'Oslo', zip: '1' } }]);
    await sandbox.uploaded(schema, [{ id: 'a', age: null, address: { city: 'Rome' } }]);
    expect(await dataOf(schema, 'a')).toEqual({ id: 'a', email: 'a@example.com', address: { city: 'Rome' } });
  });

  it('checks lists of references by the other rules of the schema, too', async () => {
    const [tours, stores] = [unique('tours'), unique('stores')];
    await sandbox.createSchema(stores, {});
    await sandbox.createSchema(tours, { stops: { type: 'array', minItems: 1, items: { $ref: stores } } });
    await sandbox.uploaded(stores, [{ id: 's-1' }]);
    const batch = await sandbox.uploaded(tours, [
      { id: 'none', stops: [] },
      { id: 'one', stops: ['s-1'] },
    ]);
    expect(batch.errors.recordErrors).toEqual([expect.stringContaining('externalId "none"')]);
    expect(batch.progress).toMatchObject({ successfulRecords: 1 });
  });

  it('keeps the id and creation time of a record that is sent again', async () => {
    const schema = await people();
    await sandbox.uploaded(schema, [{ id: 'a' }]);
    const before = (await sandbox.read(schema, 'a')).body.data.result;
    await sandbox.uploaded(schema, [{ id: 'a', age: 1 }]);
    const after = (await sandbox.read(schema, 'a')).body.data.result;
    expect([after.id, after.createdAt]).toEqual([before.id, before.createdAt]);
    expect(after.updatedAt >= before.updatedAt).toBe(true);
  });

  it('applies the same record twice in one batch in order', async () => {
    const schema = await people();
    const batch = await sandbox.uploaded(schema, [
      { id: 'a', age: 1, email: 'a@example.com' },
      { id: 'a', age: 2 },
    ]);
    expect(batch.progress.successfulRecords).toBe(2);
    expect(await dataOf(schema, 'a')).toEqual({ id: 'a', age: 2, email: 'a@example.com' });
  });

  it('treats the same upload sent twice as two batches', async () => {
    const schema = await people();
    const ids = [await sandbox.upload(schema, [{ id: 'a' }]), await sandbox.upload(schema, [{ id: 'a' }])];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect((await sandbox.completed(id)).progress.successfulRecords).toBe(1);
  });

  it('refuses existing records if onconflict is reject, also within the batch', async () => {
    const schema = await people();
    await sandbox.uploaded(schema, [{ id: 'a', age: 1 }]);
    const batch = await sandbox.uploaded(
      schema,
      [
        { id: 'a', age: 2 },
        { id: 'b', age: 1 },
        { id: 'b', age: 2 },
      ],
      { query: '?onconflict=reject' },
    );
    expect(batch.progress).toMatchObject({ successfulRecords: 1, failedRecords: 2 });
    expect(batch.errors.summary).toEqual({ failed: 2, byRule: { already_exists: 2 } });
    expect([await dataOf(schema, 'a'), await dataOf(schema, 'b')]).toEqual([
      { id: 'a', age: 1 },
      { id: 'b', age: 1 },
    ]);
  });

  it('refuses the whole request for unknown fields, naming each', async () => {
    const schema = await people();
    const resources = [{ id: 'a', x: 1 }, { id: 'b' }, { id: 'c', y: 1, z: 2 }];
    const { status, body } = await sandbox.call('POST', `/api/resources/${schema}/batch`, { body: { resources } });
    expect([status, body.errors]).toEqual([
      400,
      [
        'resources/0 has the unknown field "x"',
        'resources/2 has the unknown field "y"',
        'resources/2 has the unknown field "z"',
      ],
    ]);
    expect((await sandbox.read(schema, 'b')).status).toBe(404);
  });

  it('drops unknown fields if ignoreUnknownFields is true', async () => {
    const schema = await people();
    await sandbox.uploaded(schema, [{ id: 'a', age: 1, extra: 'dropped' }], { query: '?ignoreUnknownFields=true' });
    expect(await dataOf(schema, 'a')).toEqual({ id: 'a', age: 1 });
  });

  it('reads back external ids with any characters', async () => {
    const schema = await people();
    const ids = ['a/b', 'a b', 'å', '..', 'a%2Fb', '?', '#1', 'x'.repeat(512), '漢'.repeat(512)];
    await sandbox.uploaded(
      schema,
      ids.map((id) => ({ id })),
    );
    for (const id of ids.filter((i) => i !== '..')) expect(await dataOf(schema, id), id).toEqual({ id });
  });

  it('keeps tenants apart, whatever their external ids', async () => {
    const schema = await people();
    const north = await sandbox.upload(schema, [{ id: 'a', age: 1 }]);
    await sandbox.completed(north);
    await sandbox.uploaded(schema, [{ id: 'a', age: 2 }, { id: 'b' }], { tenant: SOUTH });
    expect([await dataOf(schema, 'a'), await dataOf(schema, 'a', SOUTH)]).toEqual([
      { id: 'a', age: 1 },
      { id: 'a', age: 2 },
    ]);
    expect((await sandbox.read(schema, 'b')).status).toBe(404);
    const foreign = await sandbox.call('GET', `/api/batches/${north}`, { tenant: SOUTH });
    const unknown = await sandbox.call('GET', `/api/batches/${north.replace(/^./, (c) => (c === '0' ? '1' : '0'))}`);
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(foreign.body.message.slice(0, 22)).toBe(unknown.body.message.slice(0, 22));
  });

  it('accepts transactions through their own operation', async () => {
    await sandbox.createSchema(
      'transactions',
      {},
      {
        externalIdField: 'transactionId',
        schema: {
          properties: {
            transactionId: { type: 'string' },
            transactionTotal: { type: 'number' },
            transactionDate: { type: 'string', format: 'date-time' },
          },
        },
      },
    );
    const resources = [{ transactionId: 't-1', transactionTotal: 9.99, transactionDate: '2024-02-29T10:00:00Z' }];
    expect((await sandbox.uploaded('transactions', resources)).progress.successfulRecords).toBe(1);
    expect(await dataOf('transactions', 't-1')).toEqual(resources[0]);
    const wrong = await sandbox.call('POST', '/api/resources/transactions/batch', {
      body: { resources: [{ transactionTotal: 'x' }] },
    });
    expect([wrong.status, wrong.body.errors]).toEqual([
      400,
      ['body/resources/0/transactionTotal must be number or null'],
    ]);
  });
});
