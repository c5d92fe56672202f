/** Records whose parents do not exist yet (sections 3, 4.8 and 4.14). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addsUp, createDatabase, SOUTH, startForTest, unique, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('dependencies');
  sandbox = await startForTest(database, { batchesAtOnce: 4 });
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const WAIT = { query: '?dependencyWaitTimeout=3600' };

/** Schemas of stores, customers (of a store) and orders (of a customer). */
async function chain() {
  const [stores, customers, orders] = [unique('stores'), unique('customers'), unique('orders')];
  const storesId = await sandbox.createSchema(stores, {});
  await sandbox.createSchema(customers, { store: { $ref: stores }, name: { type: 'string' } });
  await sandbox.createSchema(orders, { customer: { $ref: customers }, total: { type: 'number' } });
  return { stores, customers, orders, storesId };
}

describe('records whose parent is missing', () => {
  it('fail at once without a wait', async () => {
    const { customers, stores } = await chain();
    const batch = await sandbox.uploaded(customers, [{ id: 'c-1', store: 's-1' }, { id: 'c-2' }]);
    expect(batch.progress).toMatchObject({ successfulRecords: 1, failedRecords: 1 });
    expect(batch.errors.recordErrors).toEqual([`externalId "c-1": missing dependency ${stores} "s-1"`]);
    expect((await sandbox.read(customers, 'c-1')).status).toBe(404);
  });

  it('are pending while they wait, and listed with what they wait for', async () => {
    const { customers, stores, storesId } = await chain();
    const id = await sandbox.upload(customers, [{ id: 'c-1', store: { type: stores, id: 's-1' } }], WAIT);
    const batch = await sandbox.processed(id);
    expect(batch).toMatchObject({
      completedAt: null,
      errors: null,
      progress: { totalRecords: 1, processedRecords: 0, pendingRecords: 1 },
    });
    expect(addsUp(batch, true)).toBe(true);
    expect(batch.pendingResources).toEqual([
      {
        id: expect.any(String) as string,
        resourceExternalId: 'c-1',
        schemaDefinitionId: batch.schemaDefinitionId,
        schemaName: customers,
        missingDependencies: [{ schemaDefinitionId: storesId, externalId: 's-1', schemaName: stores }],
        expiresAt: new Date(Date.parse(batch.createdAt) + 3_600_000).toISOString(),
        createdAt: expect.any(String) as string,
      },
    ]);
    expect((await sandbox.call('GET', `/api/batches/${id}`)).body.data).not.toHaveProperty('pendingResources');
    expect((await sandbox.read(customers, 'c-1')).status).toBe(404);
  });

  it('are stored as soon as the parent is, including grandchildren', async () => {
    const { stores, customers, orders } = await chain();
    const order = await sandbox.upload(
      orders,
      [
        { id: 'o-1', customer: 'c-1' },
        { id: 'o-2', customer: 'c-1' },
      ],
      WAIT,
    );
    await sandbox.processed(order);
    const customer = await sandbox.upload(customers, [{ id: 'c-1', store: 's-1' }], WAIT);
    await sandbox.processed(customer);
    expect((await sandbox.batch(order)).progress.pendingRecords).toBe(2);
    await sandbox.uploaded(stores, [{ id: 's-1' }]);
    // The children completed together with the parent's batch: there is nothing to wait for here.
    expect((await sandbox.batch(customer)).completedAt).not.toBeNull();
    expect((await sandbox.batch(order)).progress).toMatchObject({ successfulRecords: 2, pendingRecords: 0 });
    expect((await sandbox.read(orders, 'o-2')).status).toBe(200);
  });

  it('wait until their last parent exists', async () => {
    const { stores } = await chain();
    const routes = unique('routes');
    await sandbox.createSchema(routes, { stops: { type: 'array', items: { $ref: stores } } });
    const id = await sandbox.upload(routes, [{ id: 'r-1', stops: ['s-1', 's-2', 's-1'] }], WAIT);
    await sandbox.processed(id);
    await sandbox.uploaded(stores, [{ id: 's-2' }]);
    const half = await sandbox.batch(id);
    expect(half.pendingResources[0]?.missingDependencies).toMatchObject([{ externalId: 's-1' }]);
    await sandbox.uploaded(stores, [{ id: 's-1' }]);
    expect((await sandbox.batch(id)).progress.successfulRecords).toBe(1);
    expect((await sandbox.read(routes, 'r-1', { query: '?referenceFormat=id' })).body.data.result.data.stops).toEqual([
      's-1',
      's-2',
      's-1',
    ]);
  });

  it('wait for a schema definition that does not exist yet, too', async () => {
    const later = unique('later');
    const early = unique('early');
    await sandbox.createSchema(early, { to: { $ref: later } });
    const id = await sandbox.upload(early, [{ id: 'e-1', to: 'l-1' }], WAIT);
    expect((await sandbox.processed(id)).pendingResources[0]?.missingDependencies).toEqual([
      { externalId: 'l-1', schemaName: later },
    ]);
    await sandbox.createSchema(later, {});
    await sandbox.uploaded(later, [{ id: 'l-1' }]);
    expect((await sandbox.batch(id)).progress.successfulRecords).toBe(1);
  });

  it('fail when their wait has elapsed, and are not stored even if the parent comes later', async () => {
    const { stores, customers } = await chain();
    const id = await sandbox.upload(customers, [{ id: 'c-1', store: 's-1' }, { id: 'c-2' }], {
      query: '?dependencyWaitTimeout=1',
    });
    const batch = await sandbox.completed(id);
    expect(batch.progress).toMatchObject({ successfulRecords: 1, failedRecords: 1, pendingRecords: 0 });
    expect(batch.errors.summary.byRule).toEqual({ dependency_expired: 1 });
    expect(batch.errors.recordErrors[0]).toContain(`missing dependency ${stores} "s-1"`);
    await sandbox.uploaded(stores, [{ id: 's-1' }]);
    expect((await sandbox.read(customers, 'c-1')).status).toBe(404);
    expect((await sandbox.batch(id)).progress.failedRecords).toBe(1);
  });

  it('are not released by the same external id of another tenant', async () => {
    const { stores, customers } = await chain();
    await sandbox.uploaded(stores, [{ id: 's-1' }], { tenant: SOUTH });
    const id = await sandbox.upload(customers, [{ id: 'c-1', store: 's-1' }], WAIT);
    await sandbox.processed(id);
    await sandbox.uploaded(stores, [{ id: 's-1' }], { tenant: SOUTH });
    expect((await sandbox.batch(id)).progress.pendingRecords).toBe(1);
  });

  it('are checked again when they are released: what exists by then is refused under reject', async () => {
    const { stores, customers } = await chain();
    const id = await sandbox.upload(customers, [{ id: 'c-1', store: 's-1' }], {
      query: '?dependencyWaitTimeout=3600&onconflict=reject',
    });
    await sandbox.processed(id);
    await sandbox.uploaded(customers, [{ id: 'c-1', name: 'first' }]);
    await sandbox.uploaded(stores, [{ id: 's-1' }]);
    const batch = await sandbox.batch(id);
    expect(batch.progress).toMatchObject({ failedRecords: 1, pendingRecords: 0 });
    expect(batch.errors.summary.byRule).toEqual({ already_exists: 1 });
  });

  it('may refer to each other within one batch, in any order and in cycles', async () => {
    const staff = unique('staff');
    await sandbox.createSchema(staff, { boss: { $ref: staff } });
    const batch = await sandbox.uploaded(staff, [
      { id: 'a', boss: 'b' },
      { id: 'b', boss: 'c' },
      { id: 'c', boss: 'c' },
      { id: 'd', boss: 'e' },
      { id: 'e', boss: 'd' },
      { id: 'x', boss: 'y' },
      { id: 'y', boss: 'nobody' },
    ]);
    expect(batch.progress).toMatchObject({ successfulRecords: 5, failedRecords: 2 });
    expect(batch.errors.recordErrors).toEqual([
      `externalId "x": missing dependency ${staff} "y"`,
      `externalId "y": missing dependency ${staff} "nobody"`,
    ]);
  });

  it('never wait for themselves', async () => {
    const [staff, stores] = [unique('staff'), unique('stores')];
    await sandbox.createSchema(stores, {});
    await sandbox.createSchema(staff, { boss: { $ref: staff }, store: { $ref: stores } });
    const id = await sandbox.upload(staff, [{ id: 'c', boss: 'c', store: 's-1' }], {
      query: '?dependencyWaitTimeout=3600',
    });
    expect((await sandbox.processed(id)).progress).toMatchObject({ pendingRecords: 1 });
    await sandbox.uploaded(stores, [{ id: 's-1' }]);
    expect((await sandbox.completed(id)).progress).toMatchObject({ successfulRecords: 1 });
  });

  it('fail when a reference names another schema than the definition does', async () => {
    const { customers } = await chain();
    const batch = await sandbox.uploaded(customers, [
      { id: 'c-1', store: { type: 'shops', id: 's-1' } },
      { id: 'c-2', store: 5 },
    ]);
    expect(batch.errors.summary.byRule).toEqual({ reference_type: 1, type: 1 });
  });

  it('never miss a parent that is stored at the same moment', async () => {
    const { stores, customers } = await chain();
    const rounds = Array.from({ length: 40 }, (_, i) => i);
    const children = await Promise.all(
      rounds.map(async (i) => {
        const [child] = await Promise.all([
          sandbox.upload(customers, [{ id: `c-${i}`, store: `s-${i}` }], WAIT),
          sandbox.upload(stores, [{ id: `s-${i}` }]),
        ]);
        return child;
      }),
    );
    for (const id of children) expect((await sandbox.completed(id)).progress.successfulRecords).toBe(1);
  });
});
