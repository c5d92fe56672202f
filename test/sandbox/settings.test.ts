/** The settings: what each of them changes, demonstrated on a sandbox that runs with it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadInto } from '../../src/sandbox/fixture/load.js';
import type { Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { completeSettings, DEFAULT_SETTINGS, parseSettings, SETTINGS } from '../../src/sandbox/settings.js';
import { createDatabase, startForTest, type TestDatabase } from './running-sandbox.js';
import { access } from './settings/access.js';
import { responses } from './settings/responses.js';
import { capacity } from './settings/capacity.js';
import type { Demonstrations, Open } from './settings/demonstration.js';
import { messaging } from './settings/messaging.js';
import { uploads } from './settings/uploads.js';

const DEMONSTRATIONS: Demonstrations = { ...messaging, ...access, ...capacity, ...responses, ...uploads };

const automation = (id: string, more: object = {}) => ({
  id,
  name: id,
  status: 'draft',
  automationType: 'managed',
  createdAt: '2026-01-01T00:00:00Z',
  triggerMetadata: { triggerType: 'one_time' },
  actionData: [{ actionType: 'wait', actionMetadata: {} }],
  ...more,
});
const segment = (id: string, jsonPath: string, test: object) => ({
  id,
  name: id,
  description: id,
  conditionGroups: [
    {
      type: 'group' as const,
      description: id,
      logic: 'and' as const,
      conditions: [{ type: 'property' as const, description: id, schema: 'person', jsonPath, ...test }],
    },
  ] as NonNullable<NonNullable<Fixture['tenants'][number]['segments']>[number]['conditionGroups']>,
});
const FRENCH = { operator: 'is', value: ['France'] };
const IS_SET = { operator: 'is_set', value: [] };
const [ITEM, OWN] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];

const FIXTURE: Fixture = {
  library: { segments: [segment(ITEM, '$.country', FRENCH), segment(OWN, '$.country', FRENCH)] },
  schemaDefinitions: [
    {
      name: 'person',
      category: 'contacts_schema',
      externalIdField: 'id',
      schema: {
        properties: {
          id: { type: 'string' },
          firstName: { type: 'string' },
          nickName: { type: 'string' },
          email: { type: 'string' },
          country: { type: 'string' },
          quiet: { type: 'boolean' },
          agreed: { type: 'boolean' },
        },
      },
    },
  ],
  tenants: [
    { id: 'north', name: 'North' },
    { id: 'planner', name: 'Planner', automations: [automation('plan')] },
    {
      id: 'sender',
      name: 'Sender',
      sends: [{ id: 's-1', channel: 'email', messages: 9, sentAt: '2026-01-10T08:00:00Z' }],
    },
    {
      id: 'shop',
      name: 'Shop',
      onboardedAt: '2026-01-01T00:00:00Z',
      sends: [{ id: 's-1', channel: 'email', messages: 5, sentAt: '2026-03-10T08:00:00Z' }],
      automations: [automation('news', { includeSegmentIds: ['french'] })],
      segments: [
        segment('french', '$.country', FRENCH),
        segment('with-email', '$.email', IS_SET),
        segment(OWN, '$.email', IS_SET),
      ],
      resources: {
        person: [
          { id: 'ann', firstName: 'Ann', nickName: 'Annie', country: 'France', quiet: true, agreed: false },
          { id: 'bob', firstName: 'Bob', email: 'bob@example.com', country: 'France' },
          { id: 'cleo', firstName: 'Cleo', country: 'Norway' },
        ],
      },
    },
  ],
};

let database: TestDatabase;
let running: Sandbox | undefined;
beforeAll(async () => {
  database = await createDatabase('settings');
  await loadInto(database.url, FIXTURE);
});
afterEach(async () => {
  await running?.close();
  running = undefined;
});
afterAll(() => database.drop());

const open: Open = async (settings) => {
  await running?.close();
  const sandbox = await startForTest(database, settings, { tenants: [] });
  running = sandbox;
  return sandbox;
};

describe('a setting', () => {
  it.each(Object.entries(DEMONSTRATIONS))('changes what the sandbox does: %s', (_name, show) => show(open, database));

  it('always has a test', () => {
    expect(Object.keys(DEMONSTRATIONS).sort()).toEqual(Object.keys(SETTINGS).sort());
  });
});

describe('a settings file', () => {
  it('may set some members of a group; the others keep their defaults', () => {
    const given = parseSettings({ statuses: { taken: 422 }, usage: {} }, 'settings.json');
    const { statuses, usage } = completeSettings(given);
    expect(statuses).toEqual({ ...DEFAULT_SETTINGS.statuses, taken: 422 });
    expect(usage).toEqual(DEFAULT_SETTINGS.usage);
  });

  it.each([
    [{ statuses: { takn: 422 } }, '/statuses/takn: unknown field; did you mean "taken"?'],
    [{ statuses: { notFound: 200 } }, '/statuses/notFound: must be one of 404, 410'],
    [{ records: 'deep' }, '/records: must be object'],
    [{ records: { merge: 'all' } }, '/records/merge: must be one of "fields", "deep"'],
    [
      { alsoRequired: { createSchemaDefinition: ['colour'] } },
      '/alsoRequired/createSchemaDefinition/0: must be one of',
    ],
  ])('is refused with the place, what was expected and what was found: %j', (given, words) => {
    expect(() => parseSettings(given, 'settings.json')).toThrowError(words);
  });
});
