/** 4.17: a tenant's SMS registration. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, startForTest, undeclared, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('sms-registration');
  const smsRegistration = {
    id: 'r-1',
    status: 'approved',
    application: { brand: 'North', volume: 200 },
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-09T10:00:00Z',
  };
  const tenants = [
    { id: 'north', name: 'North', smsRegistration },
    { id: 'south', name: 'South' },
  ];
  sandbox = await startForTest(database, {}, { tenants });
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const read = (id: string) => sandbox.call('GET', `/partner/tenants/${id}/sms-registration`, { tenant: null });

describe('an SMS registration', () => {
  it('is returned with its status and application', async () => {
    const answer = await read('north');
    expect(undeclared('getSmsRegistration', answer)).toEqual([]);
    expect([answer.status, answer.body.data]).toEqual([
      200,
      {
        id: 'r-1',
        status: 'approved',
        application: { brand: 'North', volume: 200 },
        createdAt: '2026-01-01T00:00:00.000Z',
        updatedAt: '2026-01-09T10:00:00.000Z',
      },
    ]);
  });

  it('is null if the tenant has made no application', async () => {
    const { status, body } = await read('south');
    expect([status, body.success, body.data]).toEqual([200, true, null]);
  });

  it('is refused for an unknown tenant', async () => {
    for (const id of ['nobody', '%00', 'a%20b', 'x'.repeat(300)]) expect((await read(id)).status, id).toBe(404);
  });
});
