/** Random requests to every operation of the contract: valid ones are accepted, invalid ones refused with the place. */
import net from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationEntries, type OperationName } from '../../src/platform/contract/operations.js';
import type { Operation } from '../../src/platform/contract/operation.js';
import type { Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import type { Condition } from '../../src/sandbox/segments/condition.js';
import { inCampaign } from '../campaign.js';
import { breakages, brokenValue, LEFT_OUT, validValue, type Meaning, type Schema } from './arbitrary-values.js';
import { createDatabase, startForTest, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
let http: Pool;
/** What there is, once the sandbox runs. */
const there = { batchId: '', emailIntegration: '', schemaId: '' };

const ITEM = '00000000-0000-4000-8000-00000000000a';
const WITH_EMAIL: Condition = {
  type: 'property',
  schema: 'people',
  jsonPath: '$.email',
  operator: 'is_set',
  value: [],
  description: '',
};
const FIXTURE: Fixture = {
  library: {
    segments: [{ id: ITEM, name: 'All', description: 'all', conditionGroups: [] }],
  },
  tenants: [
    {
      id: 'north',
      name: 'North',
      segments: [
        {
          id: 'known',
          name: 'Known',
          description: 'with an email',
          conditionGroups: [{ type: 'group', description: '', logic: 'and', conditions: [WITH_EMAIL] }],
        },
      ],
      communicationGroups: [{ id: 'message' }],
      automations: [
        {
          id: 'greeting',
          name: 'Greeting',
          status: 'draft',
          automationType: 'managed',
          actionData: [],
          triggerMetadata: { triggerType: 'one_time' },
          createdAt: '2026-01-01T00:00:00Z',
          includeSegmentIds: ['known'],
        },
      ],
    },
  ],
};

beforeAll(async () => {
  database = await createDatabase('random-requests');
  sandbox = await startForTest(database, {}, FIXTURE);
  const people = { email: { type: 'string' }, friend: { $ref: 'people' }, age: { type: 'integer' } };
  there.schemaId = await sandbox.createSchema('people', people, { category: 'contacts_schema' });
  const transaction = {
    transactionDate: {},
    transactionTotal: {},
    transactionDetailUrl: {},
    customerId: { $ref: 'people' },
  };
  await sandbox.call('POST', '/partner/schema-definitions', {
    tenant: null,
    body: {
      name: 'transactions',
      category: 'transactions_schema',
      externalIdField: 'transactionId',
      schema: { properties: { transactionId: { type: 'string' }, ...transaction } },
    },
  });
  there.batchId = await sandbox.upload('people', [{ id: 'p-1' }]);
  await sandbox.completed(there.batchId);
  const integration = await sandbox.call('POST', '/partner/channel/integrations', {
    tenant: null,
    body: {
      channel_provider: 'service-managed',
      channel_integration_type: 'email',
      channel_integration_metadata: { type: 'service-managed' },
    },
  });
  there.emailIntegration = integration.body.data.id;
  http = new Pool(sandbox.url, { connections: 4 });
});
afterAll(async () => {
  await http.close();
  await sandbox.close();
  await database.drop();
});

let names = 0;
/** A name that was not used before. */
const fresh = fc.constant(null).map(() => `n${++names}`);
const leftOut = fc.constant(LEFT_OUT);
const later = (read: () => unknown) => fc.constant(null).map(read);
const schemaName = later(() => (names % 2 === 0 ? 'people' : there.schemaId));
const person = fc.record(
  {
    id: fc.constantFrom('a', 'b', 'c'),
    email: fc.string(),
    age: fc.integer(),
    friend: fc.constantFrom('a', 'p-1', null),
  },
  { requiredKeys: ['id'] },
);
const segmentIds = fc.constantFrom([], ['known']);

const REPORT: Meaning = {
  'query/cursor': leftOut,
  'query/startDate': fc.constantFrom('2026-01-31', '2026-01-31T10:00:00Z', '', LEFT_OUT),
  'query/endDate': fc.constantFrom('2026-02-01', '2026-02-01T10:00:00.5+02:00', 'null', LEFT_OUT),
};

/** What a JSON Schema cannot say of each operation: which ids exist, and what must agree with what. */
const MEANINGS: Partial<Record<OperationName, Meaning>> = {
  createSchemaDefinition: {
    'body/name': fresh,
    'body/schema': fc.constant({ type: 'object', properties: { id: { type: 'string' }, who: { $ref: 'people' } } }),
    'body/externalIdField': fc.constant('id'),
    'body/external_id_field': fc.constantFrom('id', LEFT_OUT),
    'body/plural_name': leftOut,
    'body/fields_to_expose': leftOut,
    'body/fieldsToExpose/*/jsonPath': fc.constantFrom('$.id', '$.who'),
    'body/exposeNameJsonPath': fc.constantFrom('$.id', LEFT_OUT),
  },
  uploadResources: {
    'params/schemaDefinitionNameOrId': schemaName,
    'body/resources': fc.array(person, { minLength: 1, maxLength: 4 }),
  },
  uploadTransactions: {
    'body/resources': fc.array(fc.record({ transactionId: fc.constantFrom('t', 'u'), transactionTotal: fc.nat() }), {
      minLength: 1,
      maxLength: 4,
    }),
  },
  getResource: {
    'params/schemaDefinitionNameOrId': schemaName,
    'params/externalId': fc.constant('p-1'),
    'query/include': fc.constantFrom('friend', 'friend.friend', '', LEFT_OUT),
  },
  getBatch: { 'params/batchId': later(() => there.batchId) },
  countSegments: {
    'body/includeSegments': segmentIds,
    'body/excludeSegments': segmentIds,
    'body/automationId': fc.constantFrom('greeting', LEFT_OUT),
    'body/cursor': leftOut,
  },
  createChannelAccount: {
    'body/channelIntegrationId': later(() => there.emailIntegration),
    'body/channelAccountMetadata/type': fc.constantFrom('service-managed', LEFT_OUT),
    'body/channelAccountMetadata/domainPrefix': fresh,
  },
  createChannelIntegration: { 'body/channel_provider': fc.constantFrom('service-managed', 'external-provider') },
  createSendingDomain: { 'body/apexDomain': fresh.map((name) => `${name}.example`) },
  listChannelIntegrations: { 'query/cursor': leftOut },
  listTenantUsage: REPORT,
  listVoiceAggregates: REPORT,
  getAutomation: { 'params/id': fc.constant('greeting') },
  getCommunicationGroup: { 'params/id': fc.constant('message') },
  getSmsRegistration: { 'params/id': fc.constant('north') },
  syncLibrary: {
    'params/tenantId': fc.constant('north'),
    'body/sync': fc.constantFrom([], [{ id: ITEM }], LEFT_OUT),
    'body/unsync': leftOut,
  },
};

interface Parts {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

const schemaOf = (schema: unknown): Schema => schema ?? {};

/** A request that the contract allows, and that means something where a meaning is known. */
function validRequest(name: OperationName, operation: Operation): fc.Arbitrary<Parts> {
  const meaning = MEANINGS[name] ?? {};
  return fc.record({
    params: validValue(schemaOf(operation.params), meaning, ['params']),
    query: validValue(schemaOf(operation.query), meaning, ['query']),
    body: operation.body === null ? fc.constant(undefined) : validValue(schemaOf(operation.body), meaning, ['body']),
  }) as fc.Arbitrary<Parts>;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(method: string, path: string, body?: string | Buffer, type = 'application/json'): Promise<Answer> {
  const headers = { authorization: `Bearer ${sandbox.token}`, 'service-tenant-id': 'north', 'content-type': type };
  const response = await http.request({ method: method, path, headers, body: body ?? null });
  return { status: response.statusCode, text: await response.body.text() };
}

function request({ method, path }: Operation, { params, query, body }: Parts): Promise<Answer> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const values = Object.entries(query).map(([key, value]) => [key, String(value)] as [string, string]);
  const search = values.length === 0 ? '' : `?${new URLSearchParams(values).toString()}`;
  return send(method, filled + search, body === undefined ? undefined : JSON.stringify(body));
}

const ajv = new Ajv({ strict: false });
formats.default(ajv);

describe.each(operationEntries)('%s', (name, operation) => {
  it('accepts any request that the contract allows', async () => {
    const runs = name === 'createSendingDomain' ? 8 : 25; // each makes a key
    await fc.assert(
      fc.asyncProperty(validRequest(name, operation), async (parts) => {
        const { status, text } = await request(operation, parts);
        expect(status, `${JSON.stringify(parts)}\n${text}`).toBe(operation.status);
        const { success } = JSON.parse(text) as { success: boolean };
        // A flat answer says by it whether the text was understood.
        expect(success === true || (operation.flat === true && success === false)).toBe(true);
      }),
      { numRuns: runs },
    );
  });

  const { body, query } = operation;
  if (body !== null) {
    it('refuses a body with one mistake, and names the place', async () => {
      const isValid = ajv.compile(schemaOf(body));
      const broken = validRequest(name, operation)
        .chain((parts) => brokenValue(parts.body, schemaOf(body)).map((change) => ({ parts, change })))
        .filter(({ change }) => !isValid(change.value));
      await fc.assert(
        fc.asyncProperty(broken, async ({ parts, change }) => {
          const { status, text } = await request(operation, { ...parts, body: change.value });
          expect(status, `${JSON.stringify(change)}\n${text}`).toBe(400);
          const { errors, success } = JSON.parse(text) as { errors: string[]; success: boolean };
          expect(success).toBe(false);
          const own = change.place.at(-1) ?? 'body';
          expect(
            errors.some((error) => error.startsWith('body') && error.includes(String(own))),
            text,
          ).toBe(true);
        }),
        { numRuns: 50 },
      );
    });

    it('never fails on a body with one random change', async () => {
      await Promise.all(
        fc.sample(validRequest(name, operation), 3).map(async (parts) => {
          for (const { value } of breakages(parts.body, schemaOf(body))) {
            const { status, text } = await request(operation, { ...parts, body: value });
            expect(status, `${JSON.stringify(value)}\n${text}`).toBeLessThan(500);
          }
        }),
      );
    });
  }

  const parameters = Object.entries(schemaOf(query).properties ?? {}).filter(
    ([, { type, enum: choices, anyOf }]) =>
      // Any text is a text; of all others some text is none.
      choices !== undefined || anyOf !== undefined || !['string'].includes(String(type)),
  );
  if (parameters.length > 0)
    it('refuses an invalid query parameter, and names it', async () => {
      const wrong = fc.tuple(
        fc.constantFrom(...parameters.map(([parameter]) => parameter)),
        fc.constantFrom('not-this', '-1.5', '99999999999', '[]', '2026-02-30T00:00', 'true false'),
      );
      await fc.assert(
        fc.asyncProperty(validRequest(name, operation), wrong, async (parts, [parameter, value]) => {
          const { minimum, maximum } = schemaOf(query).properties![parameter]!;
          fc.pre(!(value === '99999999999' && minimum !== undefined && maximum === undefined));
          const { status, text } = await request(operation, {
            ...parts,
            query: { ...parts.query, [parameter]: value },
          });
          expect(status, `${parameter}=${value}\n${text}`).toBe(400);
          expect(text).toContain(`query/${parameter}`);
        }),
        { numRuns: 20 },
      );
    });
});

/** Collects what is no longer used, and answers what is left. */
function heapInUse(): number {
  setFlagsFromString('--expose_gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

/** Bodies for each operation that are right but for one thing. */
const BODIES = 40;
const SHARE = inCampaign(500, 2_000);
const ROUNDS = 5;

describe('the sandbox', () => {
  it(`answers ${SHARE * ROUNDS} requests of random bytes and JSON at all routes without failing or growing`, async () => {
    const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
    const json = fc.jsonValue({ noUnicodeString: false }).map((value) => Buffer.from(JSON.stringify(value)));
    const word = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('north', '0', 'null', '..', '%', ''),
    );
    // Bodies that are nearly right get further than any others.
    const wild = fc.oneof(
      ...operationEntries.map(([name, operation]) => {
        const near = fc.sample(
          validRequest(name, operation).chain(({ body }) =>
            body === undefined
              ? fc.constant({})
              : brokenValue(body, schemaOf(operation.body)).map(({ value }) => value),
          ),
          BODIES,
        );
        const nearly = fc.constantFrom(...near).map((value) => Buffer.from(JSON.stringify(value) ?? ''));
        return fc.record({
          method: fc.constantFrom(operation.method, operation.method, 'GET', 'POST', 'PATCH', 'DELETE', 'PUT'),
          path: fc
            .array(word, { minLength: 2, maxLength: 2 })
            .map((words) => operation.path.replaceAll(/\{\w+\}/g, () => encoded(words.pop() ?? '') || 'x')),
          query: fc.array(
            fc.tuple(fc.oneof(word, fc.constantFrom('x', ...Object.keys(operation.query.properties))), word),
            {
              maxLength: 3,
            },
          ),
          body: fc.oneof(bytes, json, nearly),
          type: fc.constantFrom(
            'application/json',
            'application/json',
            'application/json; charset=utf-8',
            'text/plain',
          ),
        });
      }),
    );
    const sizes: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const requests = fc.sample(wild, SHARE);
      for (let at = 0; at < requests.length; at += 16)
        await Promise.all(
          requests.slice(at, at + 16).map(async ({ method, path, query, body, type }) => {
            const search = query.map(([key, value]) => `${encoded(key)}=${encoded(value)}`).join('&');
            const sent = method === 'GET' ? undefined : body;
            const { status, text } = await send(method, `${path}?${search}`, sent, type);
            expect(status, `${method} ${path}?${search} ${sent?.toString('latin1') ?? ''}\n${text}`).toBeLessThan(500);
            const answer = JSON.parse(text) as { success: boolean; message: string };
            if (status >= 400) expect([answer.success, typeof answer.message]).toEqual([false, 'string']);
          }),
        );
      sizes.push(heapInUse());
    }
    // What the first rounds leave is code and caches; the later ones leave nothing.
    expect(sizes.at(-1)! - sizes[1]!, sizes.join(', ')).toBeLessThan(5_000_000);
    expect((await send('GET', '/health')).status).toBe(200);
  });

  it('survives connections that do not speak HTTP', async () => {
    const { hostname, port } = new URL(sandbox.url);
    const wild = fc.uint8Array({ minLength: 1, maxLength: 400 });
    const half = fc.constantFrom('POST /api/segments/count HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{');
    const talk = (bytes: Uint8Array | string) =>
      new Promise<void>((resolve) => {
        const socket = net.connect(Number(port), hostname, () => socket.end(bytes));
        socket.on('error', () => resolve());
        socket.on('close', () => resolve());
        socket.resume();
      });
    await Promise.all(fc.sample(fc.oneof(wild, half), 200).map(talk));
    expect((await send('GET', '/health')).status).toBe(200);
  });
});

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());
