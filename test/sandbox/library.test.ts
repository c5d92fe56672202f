/** 4.6: syncing library items to a tenant. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadInto } from '../../src/sandbox/fixture/load.js';
import type { AutomationTemplate, Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import { createDatabase, startForTest, undeclared, type Answer, type TestDatabase } from './running-sandbox.js';

const id = (n: number): string => `0000000a-0000-4000-8000-${String(n).padStart(12, '0')}`;
const [WELCOME, WIN_BACK, CONFLICTING] = [id(1), id(2), id(3)];

const template = (itemId: string, name: string, groups: string[], status = 'active'): AutomationTemplate => ({
  id: itemId,
  name,
  status,
  automationType: 'managed',
  triggerMetadata: { triggerType: 'customer_created' },
  actionData: groups.map((communicationGroupId) => ({
    actionType: 'send_communication',
    actionMetadata: { communicationGroupId },
  })),
  communicationGroups: groups.map((group) => ({ id: group, emailSubject: `${name}: ${group}` })),
});
const LIBRARY = {
  automations: [
    template(WELCOME, 'Welcome', ['hello', 'reminder']),
    template(WIN_BACK, 'Win-back', ['miss-you'], 'draft'),
    template(CONFLICTING, 'Conflicting', ['own-message']),
  ],
};
const FIXTURE: Fixture = {
  library: LIBRARY,
  tenants: [
    { id: 'north', name: 'North' },
    { id: 'south', name: 'South' },
    { id: 'west', name: 'West', communicationGroups: [{ id: 'own-message', emailSubject: 'our own' }] },
    { id: 'east', name: 'East' },
  ],
};

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('library');
  sandbox = await startForTest(database, {}, FIXTURE);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

interface Done {
  readonly results: { readonly type: string; readonly id: string; readonly action: string; readonly status: string }[];
  readonly jobId: string;
}
const patch = (tenant: string, body: object): Promise<Answer> =>
  sandbox.call('PATCH', `/partner/engage-library/${tenant}`, { body, tenant: null });
const items = (...ids: string[]) => ids.map((itemId) => ({ id: itemId }));
const done = async (tenant: string, body: object): Promise<Done> => {
  const answer = await patch(tenant, body);
  expect([answer.status, undeclared('syncLibrary', answer)]).toEqual([200, []]);
  return answer.body.data as unknown as Done;
};
const automation = (tenant: string, itemId: string) => sandbox.call('GET', `/api/automations/${itemId}`, { tenant });
const group = (tenant: string, groupId: string) =>
  sandbox.call('GET', `/api/communication-groups/${groupId}`, { tenant });

describe('syncing the library', () => {
  it('copies an automation template with its communication groups into the one tenant', async () => {
    const { results, jobId } = await done('north', { sync: items(WELCOME) });
    expect(results).toEqual([{ type: 'automation', id: WELCOME, action: 'sync', status: 'synced' }]);
    expect(jobId).toMatch(/^[0-9a-f]{8}-/);
    expect((await automation('north', WELCOME)).body.data).toMatchObject({
      id: WELCOME,
      name: 'Welcome',
      status: 'active',
      triggerType: 'customer_created',
      actionData: LIBRARY.automations[0]!.actionData,
    });
    expect((await group('north', 'reminder')).body.data).toEqual({ id: 'reminder', emailSubject: 'Welcome: reminder' });
    expect([(await automation('south', WELCOME)).status, (await group('south', 'hello')).status]).toEqual([404, 404]);
  });

  it('makes the usage of the tenant count an active automation', async () => {
    await done('south', { sync: items(WELCOME, WIN_BACK) });
    const { results } = (await sandbox.call('GET', '/partner/engage/tenants', { tenant: null })).body
      .data as unknown as { results: object[] };
    expect(results).toContainEqual(expect.objectContaining({ tenantId: 'south', activeAutomations: 1 }));
  });

  it('changes nothing when it is repeated', async () => {
    await done('north', { sync: items(WELCOME) });
    const before = (await automation('north', WELCOME)).body.data;
    const { results } = await done('north', { sync: items(WELCOME, WELCOME, WELCOME.toUpperCase()) });
    expect(results.map(({ status }) => status)).toEqual(['synced']);
    expect((await automation('north', WELCOME)).body.data).toEqual(before);
  });

  it('updates a synced automation if its template has changed', async () => {
    await done('east', { sync: items(WELCOME) });
    const before = (await automation('east', WELCOME)).body.data;
    const changed = { library: { automations: [template(WELCOME, 'Welcome!', ['hello'])] }, tenants: [] };
    await loadInto(database.url, changed);
    expect((await automation('east', WELCOME)).body.data).toEqual(before);
    await done('east', { sync: items(WELCOME) });
    const after = (await automation('east', WELCOME)).body.data;
    expect(after).toMatchObject({ name: 'Welcome!', createdAt: before['createdAt'] });
    expect(String(after['updatedAt']) > String(before['updatedAt'])).toBe(true);
    expect([(await group('east', 'hello')).status, (await group('east', 'reminder')).status]).toEqual([200, 404]);
    await loadInto(database.url, { library: LIBRARY, tenants: [] });
  });

  it('removes what it has copied, with the same result if that is already gone', async () => {
    await done('south', { sync: items(WELCOME, WIN_BACK) });
    const first = await done('south', { unsync: items(WELCOME) });
    const again = await done('south', { unsync: items(WELCOME) });
    expect(first.results).toEqual([{ type: 'automation', id: WELCOME, action: 'unsync', status: 'unsynced' }]);
    expect(again.results).toEqual(first.results);
    expect([(await automation('south', WELCOME)).status, (await group('south', 'hello')).status]).toEqual([404, 404]);
    expect([(await automation('south', WIN_BACK)).status, (await group('south', 'miss-you')).status]).toEqual([
      200, 200,
    ]);
  });

  it('syncs and unsyncs in one call, with a result for each item in the order of the lists', async () => {
    await done('north', { sync: items(WELCOME) });
    const { results } = await done('north', { sync: items(WIN_BACK), unsync: items(WELCOME) });
    expect(results.map((result) => [result.id, result.action, result.status])).toEqual([
      [WIN_BACK, 'sync', 'synced'],
      [WELCOME, 'unsync', 'unsynced'],
    ]);
  });

  it("does not change a tenant's own objects, and reports the item that needs their id", async () => {
    const { results } = await done('west', { sync: items(CONFLICTING, WELCOME) });
    expect(results.map(({ status }) => status)).toEqual(['conflict', 'synced']);
    expect((await automation('west', CONFLICTING)).status).toBe(404);
    await done('west', { unsync: items(CONFLICTING) });
    expect((await group('west', 'own-message')).body.data).toMatchObject({ emailSubject: 'our own' });
  });

  it('reports a template that needs a communication group of another one, whether or not that is copied with it', async () => {
    // Each came with a fixture of its own.
    await loadInto(database.url, {
      library: { automations: [template(id(4), 'Hello again', ['hello'])] },
      tenants: [],
    });
    await done('east', { unsync: items(WELCOME, id(4)) });
    const { results } = await done('east', { sync: items(id(4), WELCOME) });
    expect(results.map(({ status }) => status)).toEqual(['synced', 'conflict']);
    expect((await done('east', { sync: items(WELCOME) })).results[0]!.status).toBe('conflict');
    await done('east', { unsync: items(id(4)) });
    expect((await done('east', { sync: items(WELCOME) })).results[0]!.status).toBe('synced');
  });

  it('stores each job with its results', async () => {
    const { results, jobId } = await done('east', { sync: items(WIN_BACK) });
    const { rows } = await database.query('select tenant_id, results from sandbox.library_jobs where id = $1', [jobId]);
    expect(rows).toEqual([{ tenant_id: 'east', results }]);
  });

  it.each([{}, { sync: [] }, { sync: [], unsync: [] }])(
    'returns null data for %j, which lists no item',
    async (body) => {
      const answer = await patch('north', body);
      expect([answer.status, answer.body.success, answer.body.data]).toEqual([200, true, null]);
      expect(undeclared('syncLibrary', answer)).toEqual([]);
    },
  );

  it('refuses unknown items, naming each, and changes nothing', async () => {
    const { status, body } = await patch('east', { sync: items(CONFLICTING, id(8)), unsync: items(WIN_BACK, id(9)) });
    expect([status, body.errors]).toEqual([
      404,
      [`body/sync: no library item has the id ${id(8)}`, `body/unsync: no library item has the id ${id(9)}`],
    ]);
    expect((await automation('east', CONFLICTING)).status).toBe(404);
  });

  it('refuses to sync and unsync the same item', async () => {
    const { status, body } = await patch('east', { sync: items(WELCOME), unsync: items(WELCOME) });
    expect([status, body.errors?.join()]).toEqual([400, expect.stringContaining(WELCOME)]);
  });

  it('refuses an unknown tenant', async () => {
    for (const tenant of ['nobody', '%00', 'a%20b'])
      expect((await patch(tenant, { sync: items(WELCOME) })).status).toBe(404);
  });

  it.each([
    [{ sync: [{ id: 'x' }] }, 'body/sync/0/id'],
    [{ sync: [{}] }, "body/sync/0 must have required property 'id'"],
    [{ sync: WELCOME }, 'body/sync must be array'],
    [{ items: [] }, '"items"'],
  ])('refuses %j, naming the place', async (body, place) => {
    const answer = await patch('north', body);
    expect([answer.status, answer.body.errors?.join()]).toEqual([400, expect.stringContaining(place)]);
  });

  it('has the same result for many simultaneous requests as for one', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => done('west', { sync: items(WELCOME, WIN_BACK) })),
    );
    expect(new Set(answers.map(({ results }) => JSON.stringify(results))).size).toBe(1);
    expect((await group('west', 'miss-you')).status).toBe(200);
  });
});
