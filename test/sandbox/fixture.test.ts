/** The fixture: problems of a file are reported with their place; a valid one is stored, any number of times. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_FIXTURE_FILE, defaultFixture, parseFixture } from '../../src/sandbox/fixture/parse.js';
import { loadInto } from '../../src/sandbox/fixture/load.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { createDatabase, SECRET, startForTest, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase('fixture');
});
afterAll(() => database.drop());

const tenant = (more: object) => ({ tenants: [{ id: 'north', name: 'North', ...more }] });
const automation = {
  id: 'a',
  name: 'A',
  status: 'draft',
  automationType: 'managed',
  triggerMetadata: { triggerType: 'visit' },
  actionData: [],
  createdAt: '2026-01-01T00:00:00Z',
};
const problemsOf = (value: unknown): string => {
  try {
    parseFixture(value, 'mine.json');
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('an invalid fixture', () => {
  it.each([
    [7, '/: must be object; found 7'],
    [{}, '/tenants: missing'],
    [{ tenants: {} }, '/tenants: must be array; found {}'],
    [{ tenants: [], platformId: 'x' }, '/platformId: must match format "uuid" (id of the platform account); found "x"'],
    [
      tenant({ id: 'a b' }),
      '/tenants/0/id: must match pattern "^[A-Za-z0-9_-]{1,64}$" (1 to 64 letters, digits, "_" or "-"); found "a b"',
    ],
    [tenant({ nmae: 'x' }), '/tenants/0/nmae: unknown field; did you mean "name"?'],
    [tenant({ colour: 'x' }), '/tenants/0/colour: unknown field; expected one of: id, name, externalId,'],
    [{ tenants: [{ id: 'north' }] }, "/tenants/0/name: missing (the tenant's name)"],
    [
      tenant({ onboardedAt: 'today' }),
      '/tenants/0/onboardedAt: must match format "date-time" (when it finished the onboarding wizard: ISO 8601 with its zone); found "today"',
    ],
    [
      tenant({ sends: [{ id: 's', channel: 'fax', messages: 0, sentAt: '2026-01-01T00:00:00Z' }] }),
      '/tenants/0/sends/0/channel: must be one of "email", "sms"; found "fax"\n  /tenants/0/sends/0/messages: must be >= 1 (how many people it went to); found 0',
    ],
    [
      tenant({ phoneNumbers: [{ number: '555', sms: true, voice: true }] }),
      '/tenants/0/phoneNumbers/0/number: must match pattern "^\\+[1-9][0-9]{6,14}$" (in the form of E.164, such as +15555550100); found "555"',
    ],
    [tenant({ name: `x${'y'.repeat(100)}\u0000` }), '/tenants/0/name contains the character U+0000'],
    [
      tenant({ automations: [automation, automation] }),
      '/tenants/0/automations/1: "a" occurs twice; each must be unique',
    ],
    [
      tenant({
        automations: [
          {
            ...automation,
            actionData: [{ actionType: 'send_communication', actionMetadata: { communicationGroupId: 'lost' } }],
          },
        ],
        communicationGroups: [{ id: 'found' }],
      }),
      '/tenants/0/automations/0/actionData/0/actionMetadata/communicationGroupId: must be the id of a communication group beside it: found; found "lost"',
    ],
  ])('is refused: %j', (value, problem) => {
    expect(problemsOf(value)).toContain(`mine.json cannot be stored:\n  ${problem}`);
  });

  it('is refused with all of its problems at once', () => {
    const problems = problemsOf({
      tenants: [
        { id: '', calls: [{}] },
        { id: 'north', name: 5 },
      ],
    }).split('\n');
    expect(problems.length).toBeGreaterThan(6);
  });

  it('is refused if two templates of the library need the same id in a tenant', () => {
    const template = (n: number) => {
      const { createdAt: _, ...fields } = automation;
      return { ...fields, id: `00000000-0000-4000-8000-00000000000${n}`, communicationGroups: [{ id: 'same' }] };
    };
    expect(problemsOf({ library: { automations: [template(1), template(2)] }, tenants: [] })).toContain(
      '/library/automations/*/communicationGroups/1: "same" occurs twice',
    );
  });
});

describe('loading a fixture', () => {
  it('adds what is new, updates what exists, and removes nothing', async () => {
    const server = await startForTest(database, {}, { tenants: [{ id: 'north', name: 'North', externalId: 'n-1' }] });
    const usage = async () =>
      (await server.call('GET', '/partner/engage/tenants', { tenant: null })).body.data as unknown as {
        results: object[];
      };
    const send = { id: 's', channel: 'email', messages: 5, sentAt: '2026-01-01T00:00:00Z' } as const;
    await loadInto(database.url, { tenants: [{ id: 'north', name: 'Norden', sends: [send] }] });
    await loadInto(database.url, { tenants: [{ id: 'north', name: 'Norden', sends: [{ ...send, messages: 6 }] }] });
    await loadInto(database.url, { tenants: [{ id: 'east', name: 'East', onboardedAt: '2026-01-01T00:00:00Z' }] });
    const { results } = await usage();
    await server.close();
    expect(results).toMatchObject([
      { tenantId: 'north', tenantName: 'Norden', emailsSent: 6, tenantExternalId: null },
      { tenantId: 'east' },
    ]);
  });

  it('creates schema definitions and records, but does not change existing ones', async () => {
    const fixture = parseFixture({
      schemaDefinitions: [
        {
          name: 'pet',
          category: 'custom_schema',
          externalIdField: 'id',
          schema: { properties: { id: { type: 'string' }, owner: { $ref: 'owner' }, age: { type: 'integer' } } },
        },
        {
          name: 'owner',
          category: 'custom_schema',
          external_id_field: 'id',
          schema: { properties: { id: { type: 'string' } } },
        },
      ],
      tenants: [
        {
          id: 'north',
          name: 'North',
          resources: { owner: [{ id: 'o' }], pet: [{ id: 'p', owner: 'o', age: 3 }] },
        },
      ],
    });
    const server = await startForTest(database, {}, fixture);
    await server.uploaded('pet', [{ id: 'p', age: 4 }]);
    await loadInto(database.url, fixture);
    const { result, included } = (await server.read('pet', 'p', { query: '?include=owner' })).body.data;
    await server.close();
    expect([result.data['age'], included.length]).toEqual([4, 1]);
    expect((await database.query('select from sandbox.batches')).rowCount).toBe(1);
  });

  it('releases the records that wait for a record of the fixture', async () => {
    const server = await startForTest(database);
    const id = await server.upload('pet', [{ id: 'q', owner: 'late' }], { query: '?dependencyWaitTimeout=600' });
    await server.processed(id);
    const waiting = await server.read('pet', 'q');
    await loadInto(database.url, { tenants: [{ id: 'north', name: 'North', resources: { owner: [{ id: 'late' }] } }] });
    const arrived = await server.read('pet', 'q');
    await server.close();
    expect([waiting.status, arrived.status]).toEqual([404, 200]);
  });

  it.each([
    [{ pet: [{ id: 'x', age: 'old' }] }, '/tenants/0/resources/pet/0: /age must be integer'],
    [{ pet: [{ id: 'x' }, { id: 'y', owner: 'nobody' }] }, '/tenants/0/resources/pet/1: missing dependency owner'],
    [{ pet: [{ age: 1 }] }, '/tenants/0/resources/pet/0: /id is missing'],
    [{ pet: [{ id: 'x', colour: 'red' }] }, '/tenants/0/resources/pet/0/colour: not a field'],
    [{ dragon: [{ id: 'x' }] }, '/tenants/0/resources/dragon: no schema definition has this name'],
  ])('refuses the records %j with their places, and stores nothing', async (resources, problem) => {
    const fixture = { tenants: [{ id: 'refused', name: 'Refused', resources }] };
    await expect(loadInto(database.url, fixture)).rejects.toThrowError(`the fixture cannot be stored:\n  ${problem}`);
    expect((await database.query(`select from sandbox.tenants where id = 'refused'`)).rowCount).toBe(0);
  });

  it('refuses a schema definition that 4.4 would refuse', async () => {
    const schemaDefinitions = [
      { name: 'bad', category: 'custom_schema' as const, externalIdField: 'no', schema: { properties: { id: {} } } },
    ];
    await expect(loadInto(database.url, { schemaDefinitions, tenants: [] })).rejects.toThrowError(
      '/schemaDefinitions/0/externalIdField "no" is not a property of the schema',
    );
  });

  it('stores nothing of a fixture that cannot be stored completely', async () => {
    const platformId = '00000000-0000-4000-8000-000000000001';
    await expect(
      loadInto(database.url, { platformId, tenants: [{ id: 'never', name: 'Never' }] }),
    ).rejects.toThrowError(/belongs to platform/);
    expect((await database.query(`select from sandbox.tenants where id = 'never'`)).rowCount).toBe(0);
  });
});

describe('the bundled fixture', () => {
  it('says that its data is made up', () => {
    expect(defaultFixture().description).toMatch(/^Made-up data/);
  });

  it('has no address and no number that could belong to anybody', () => {
    const text = readFileSync(DEFAULT_FIXTURE_FILE, 'utf8');
    expect(text.match(/[^"]*@[^"]*/g)?.filter((address) => !/^[a-z]+@customers\.example$/.test(address))).toEqual([]);
    const numbers = [...text.matchAll(/"\+\d+"/g)].map(([number]) => number);
    expect(numbers.length).toBeGreaterThan(0);
    // 555-0100 to 555-0199 are kept free for fiction.
    expect(numbers.filter((number) => !/^"\+1202555 ?01\d\d"$/.test(number))).toEqual([]);
  });

  it('is stored when the sandbox starts without a fixture, if there is no tenant yet', async () => {
    const empty = await createDatabase('fixture-default');
    const start = () => startSandbox({ stateUrl: empty.url, port: 0, jwtSecret: SECRET });
    const tenants = async () => (await empty.query('select id from sandbox.tenants')).rows.length;
    await (await start()).close();
    const first = await tenants();
    await empty.query(`delete from sandbox.calls; delete from sandbox.tenants where id = 'grove-gym'`);
    await (await start()).close();
    const second = await tenants();
    await empty.drop();
    expect([first, second]).toEqual([defaultFixture().tenants.length, first - 1]);
  });

  it('has data for every operation that reads what no operation creates', async () => {
    const empty = await createDatabase('fixture-shows');
    const server = await startForTest(empty, {}, defaultFixture());
    const read = async (path: string, tenant: string | null = null) =>
      (await server.call('GET', path, { tenant })).body.data;
    const shown = {
      usage: await read('/partner/engage/tenants'),
      voice: await read('/partner/voice/calls/aggregates'),
      automation: await read('/api/automations/autumn-sale', 'acme-outdoor'),
      hidden: await read('/api/automations/review-request?feature=reputation', 'acme-outdoor'),
      group: await read('/api/communication-groups/autumn-sale-message', 'acme-outdoor'),
      registration: await read('/partner/tenants/acme-outdoor/sms-registration'),
      record: await read('/api/resources/customer/c-001', 'acme-outdoor'),
    };
    const count = await server.call('POST', '/api/segments/count', {
      body: { includeSegments: ['british-regulars'] },
      tenant: 'acme-outdoor',
    });
    const understood = await server.call('POST', '/api/segments/text-to-segment', {
      body: { text: 'customers in France who spent over 100 and have an email' },
      tenant: 'acme-outdoor',
    });
    const sync = await server.call('PATCH', '/partner/engage-library/grove-gym', {
      body: { sync: defaultFixture().library!.automations!.map(({ id }) => ({ id })) },
      tenant: null,
    });
    await server.close();
    await empty.drop();
    expect((shown.usage as unknown as { results: object[] }).results.length).toBeGreaterThan(4);
    expect((shown.voice as unknown as { results: object[] }).results.length).toBeGreaterThan(2);
    expect(shown).toMatchObject({
      automation: { status: 'draft' },
      hidden: { automationType: 'managed_hidden' },
      group: { emailSubject: expect.any(String) as string },
      registration: { status: 'approved' },
    });
    expect(count.body.data).toMatchObject({ count: 3 });
    expect(understood.body.success).toBe(true);
    expect((sync.body.data as unknown as { results: { status: string }[] }).results).toMatchObject([
      { status: 'synced' },
      { status: 'synced' },
      { status: 'synced' },
    ]);
  });
});
