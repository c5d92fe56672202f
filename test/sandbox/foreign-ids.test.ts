/** A tenant can neither see nor change what belongs to another: a foreign id is refused like one that does not exist. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintToken } from '../../src/sandbox/token.js';
import { createDatabase, SECRET, startForTest, type Answer, type TestDatabase } from './running-sandbox.js';

const group = { type: 'group' as const, description: 'aged', logic: 'and' as const };
const condition = { type: 'property' as const, description: 'aged', schema: 'guest', jsonPath: '$.age' };
const FIXTURE = {
  tenants: [
    { id: 'asking', name: 'Asking' },
    {
      id: 'owning',
      name: 'Owning',
      automations: [
        {
          id: 'owned',
          name: 'Owned',
          status: 'draft',
          automationType: 'managed',
          actionData: [],
          triggerMetadata: { triggerType: 'one_time' },
          createdAt: '2026-01-01T00:00:00Z',
        },
      ],
      communicationGroups: [{ id: 'owned', emailSubject: 'Owned' }],
      segments: [
        {
          id: 'owned',
          name: 'Owned',
          description: 'aged',
          conditionGroups: [{ ...group, conditions: [{ ...condition, operator: 'is_set' as const, value: [] }] }],
        },
      ],
    },
  ],
};

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
let batch: string;
let token: string;
beforeAll(async () => {
  database = await createDatabase('foreign-ids');
  sandbox = await startForTest(database, {}, FIXTURE);
  await sandbox.createSchema('guest', { age: { type: 'integer' } }, { category: 'contacts_schema' });
  batch = await sandbox.upload('guest', [{ id: 'owned', age: 1 }], { tenant: 'owning' });
  await sandbox.completed(batch, 'owning');
  token = await mintToken({ secret: SECRET, scope: 'tenant', tenant: 'asking', expiresIn: '1h' });
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

type Ask = (id: string, options: { tenant: string | null; token?: string }) => Promise<Answer>;
const get =
  (path: string): Ask =>
  (id, options) =>
    sandbox.call('GET', path + id, options);
const count =
  (body: (id: string) => object): Ask =>
  (id, options) =>
    sandbox.call('POST', '/api/segments/count', { ...options, body: body(id) });

const OPERATIONS: [name: string, ask: Ask, foreign: () => string, unknown: string][] = [
  ['an automation', get('/api/automations/'), () => 'owned', 'other'],
  ['a communication group', get('/api/communication-groups/'), () => 'owned', 'other'],
  ['a batch', get('/api/batches/'), () => batch, randomUUID()],
  ['a resource', get('/api/resources/guest/'), () => 'owned', 'other'],
  ['a segment to include', count((id) => ({ includeSegments: [id] })), () => 'owned', 'other'],
  ['a segment to exclude', count((id) => ({ excludeSegments: [id] })), () => 'owned', 'other'],
  ["an automation's segments", count((id) => ({ automationId: id })), () => 'owned', 'other'],
];

describe.each(OPERATIONS)('%s of another tenant', (_name, ask, foreign, unknown) => {
  it.each([
    ['a platform token', () => ({ tenant: 'asking' })],
    ["the tenant's own token", () => ({ tenant: null, token })],
  ])('is refused like an unknown one by %s', async (_token, options) => {
    expect((await ask(foreign(), { tenant: 'owning' })).status).toBe(200);
    const [one, other] = [await ask(foreign(), options()), await ask(unknown, options())];
    expect([one.status, other.status]).toEqual([404, 404]);
    expect(JSON.stringify(one.body).replaceAll(foreign(), '<id>')).toBe(
      JSON.stringify(other.body).replaceAll(unknown, '<id>'),
    );
  });
});

it('counts no people of another tenant', async () => {
  const { body } = await sandbox.call('POST', '/api/segments/count', { body: {}, tenant: 'asking' });
  expect(body.data['count']).toBe(0);
});

it('does not merge an upload into a resource of another tenant', async () => {
  await sandbox.uploaded('guest', [{ id: 'owned', age: 2 }], { tenant: 'asking' });
  const ages = [];
  for (const tenant of ['owning', 'asking'])
    ages.push((await sandbox.read('guest', 'owned', { tenant })).body.data.result.data['age']);
  expect(ages).toEqual([1, 2]);
});
