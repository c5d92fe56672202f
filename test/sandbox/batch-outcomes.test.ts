/** What a batch reports about its records: errors, counters, and the two shapes of refusals (4.14, section 7). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addsUp, createDatabase, createPeople, startForTest, unique, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('batch-outcomes');
  sandbox = await startForTest(database);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const people = () => createPeople(sandbox);
const dataOf = async (schema: string, id: string, tenant = 'north') =>
  (await sandbox.read(schema, id, { tenant })).body.data?.result.data;

describe('the outcome of a batch', () => {
  it('fails records without a usable external id, naming them by their place', async () => {
    const schema = await people();
    const batch = await sandbox.uploaded(schema, [
      {},
      { id: null },
      { id: '' },
      { id: true },
      { id: 1.5 },
      { id: 'x'.repeat(600) },
      { id: 'ok' },
      { id: 42 },
    ]);
    expect(batch.progress).toMatchObject({ successfulRecords: 2, failedRecords: 6 });
    expect(batch.errors.recordErrors[0]).toMatch(/^record 0: \/id is missing or empty/);
    expect(batch.errors.summary.byRule).toEqual({ external_id: 6 });
    expect(await dataOf(schema, '42')).toEqual({ id: 42 });
  });

  it('says which rule a record breaks, and stores the others', async () => {
    const schema = await people();
    const batch = await sandbox.uploaded(schema, [{ id: 'a', email: 'nonsense', age: 'old' }, { id: 'b' }]);
    expect(batch.errors).toEqual({
      summary: { failed: 1, byRule: { format: 1 } },
      details: {},
      recordErrors: ['externalId "a": /email must match format "email"; /age must be integer'],
      message: '1 of 2 records failed',
    });
    expect(batch.progress.successRate).toBe(0.5);
  });

  it('validates the record as it would be after the merge', async () => {
    const name = unique('strict');
    await sandbox.createSchema(
      name,
      {},
      { schema: { required: ['must'], properties: { id: {}, must: {}, more: { type: 'number' } } } },
    );
    expect((await sandbox.uploaded(name, [{ id: 'a', must: 1 }, { id: 'b' }])).progress).toMatchObject({
      successfulRecords: 1,
      failedRecords: 1,
    });
    expect((await sandbox.uploaded(name, [{ id: 'a', more: 2 }])).progress.successfulRecords).toBe(1);
    const nulled = await sandbox.uploaded(name, [{ id: 'a', must: null }]);
    expect(nulled.errors.recordErrors).toEqual([`externalId "a": / must have required property 'must'`]);
    expect(await dataOf(name, 'a')).toEqual({ id: 'a', must: 1, more: 2 });
  });

  it('fails records that JSON can express but a database cannot store', async () => {
    const schema = await people();
    const raw = `{"resources":[{"id":"nul\\u0000"},{"id":"half\\ud800"},{"id":"name","address":{"a\\u0000":1}},
      {"id":"huge","age":1e999},{"id":"deep","address":${'{"a":'.repeat(100)}1${'}'.repeat(100)}},{"id":"fine \\ud83d\\ude00"}]}`;
    const { status, body } = await sandbox.call('POST', `/api/resources/${schema}/batch`, { raw });
    expect(status).toBe(202);
    const batch = await sandbox.completed(body.data.batchId);
    expect(batch.progress).toMatchObject({ successfulRecords: 1, failedRecords: 5 });
    expect(await dataOf(schema, 'fine 😀')).toEqual({ id: 'fine 😀' });
  });

  it('uses the alternative error shape if the settings say so', async () => {
    const schema = await people();
    const other = await startForTest(database, { errorShape: 'alternative' });
    const unknownField = await other.call('POST', `/api/resources/${schema}/batch`, {
      body: { resources: [{ id: 'a', x: 1 }] },
    });
    const notFound = await other.read(schema, 'nobody');
    const noBatch = await other.call('GET', '/api/batches/nothing');
    await other.close();
    expect(unknownField.body.data.error).toContain('resources/0 has the unknown field "x"');
    expect([notFound.status, notFound.body.success, typeof notFound.body.data.error]).toEqual([404, false, 'string']);
    expect(noBatch.body).not.toHaveProperty('data');
  });

  it('keeps counters that add up over any mix of good, bad, waiting and repeated records', async () => {
    const parents = await people();
    const schema = unique('mix');
    await sandbox.createSchema(schema, { age: { type: 'integer' }, parent: { $ref: parents } });
    let seed = 7;
    const random = (n: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % n;
    };
    const ids: string[] = [];
    for (let b = 0; b < 12; b++) {
      const resources = Array.from({ length: 1 + random(60) }, () => ({
        ...(random(10) === 0 ? {} : { id: `r-${random(40)}` }),
        ...(random(5) === 0 ? { age: 'bad' } : { age: random(9) }),
        ...(random(2) === 0 ? {} : { parent: `p-${random(12)}` }),
      }));
      const query = `?dependencyWaitTimeout=${random(2) === 0 ? 0 : 3600}&onconflict=${random(3) === 0 ? 'reject' : 'upsert'}`;
      ids.push(await sandbox.upload(schema, resources, { query }));
      if (b % 3 === 2) await sandbox.uploaded(parents, [{ id: `p-${random(12)}` }, { id: `p-${random(12)}` }]);
    }
    for (const id of ids) expect(addsUp(await sandbox.processed(id), true)).toBe(true);
    await sandbox.uploaded(
      parents,
      Array.from({ length: 12 }, (_, i) => ({ id: `p-${i}` })),
    );
    for (const id of ids) {
      const batch = await sandbox.completed(id);
      expect(addsUp(batch, true)).toBe(true);
      expect(batch.progress.pendingRecords).toBe(0);
      expect(batch.errors?.recordErrors.length ?? 0).toBe(batch.progress.failedRecords);
      expect(batch.pendingResources).toEqual([]);
    }
  });
});
