/** A sandbox for one test file: its own database, a server on a free port, and short forms of calls. */
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type pg from 'pg';
import type { Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import { errorTexts } from '../../src/sandbox/validation-messages.js';
import { operations, type OperationName } from '../../src/platform/contract/operations.js';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server.js';
import { createAjv, schemaOf } from '../../src/sandbox/json-schema.js';
import { mintToken } from '../../src/sandbox/token.js';
import { copyDatabase, STATE } from '../databases.js';

export const SECRET = 'a secret for tests, long enough for HS256';
export const FIXTURE = {
  tenants: [
    { id: 'north', name: 'North' },
    { id: '3f2b8c1e-0000-4000-8000-000000000001', name: 'South', externalId: 's-1' },
  ],
};
export const SOUTH = FIXTURE.tenants[1]!.id;

export interface TestDatabase {
  readonly url: string;
  query(sql: string, values?: unknown[]): Promise<pg.QueryResult>;
  drop(): Promise<void>;
}

/** A new database with the sandbox's tables, named after the test file so that people can tell whose it is. */
export async function createDatabase(file: string): Promise<TestDatabase> {
  const database = await copyDatabase(STATE, file);
  return { url: database.url, query: (sql, values) => database.ask(sql, values), drop: () => database.drop() };
}

/** A resource as responses show it; aliases and the like by name. */
export interface ResourceAnswer {
  readonly [name: string]: unknown;
  readonly id: string;
  readonly resourceExternalId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly data: Record<string, unknown>;
}

export interface BatchAnswer {
  readonly progress: Record<string, number>;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly schemaDefinitionId: string;
  /** null where nothing failed; tests look into it where something did. */
  readonly errors: {
    readonly summary: { readonly failed: number; readonly byRule: Record<string, number> };
    readonly recordErrors: string[];
  };
  readonly pendingResources: { readonly missingDependencies: object[] }[];
}

/** Whatever `data` may hold, over all operations; each test reads what its own operation answers. */
export interface AnswerData extends BatchAnswer {
  readonly [name: string]: unknown;
  readonly id: string;
  readonly name: string;
  readonly batchId: string;
  readonly error: string;
  readonly result: ResourceAnswer;
  readonly included: ResourceAnswer[];
}

export interface Answer {
  readonly status: number;
  readonly body: {
    readonly success: boolean;
    readonly message: string;
    readonly errors?: string[];
    readonly data: AnswerData;
  };
}

export interface Caller {
  readonly url: string;
  readonly token: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createSchema(name: string, properties: object, more?: object): Promise<string>;
  upload(schema: string, resources: unknown[], options?: { query?: string; tenant?: string }): Promise<string>;
  batch(batchId: string, tenant?: string): Promise<BatchAnswer>;
  /** The batch once nothing in it is unprocessed; records may still be pending. */
  processed(batchId: string, tenant?: string): Promise<BatchAnswer>;
  /** The batch once `completedAt` is set. */
  completed(batchId: string, tenant?: string): Promise<BatchAnswer>;
  /** Uploads and waits for completion. */
  uploaded(schema: string, resources: unknown[], options?: { query?: string; tenant?: string }): Promise<BatchAnswer>;
  read(schema: string, externalId: string, options?: { query?: string; tenant?: string }): Promise<Answer>;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly tenant?: string | null;
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
}

export async function startForTest(
  database: TestDatabase,
  settings: SandboxOptions['settings'] = {},
  fixture: Fixture = FIXTURE,
  more: Pick<SandboxOptions, 'now'> = {},
): Promise<Sandbox & Caller> {
  const sandbox = await startSandbox({
    stateUrl: database.url,
    port: 0,
    jwtSecret: SECRET,
    fixture,
    settings: { expiryCheckInterval: 50, ...settings },
    ...more,
  });
  return { ...(await callerOf(sandbox.url)), url: sandbox.url, close: () => sandbox.close() };
}

/** What an answer's `data` breaks of the operation's declaration; empty when it is as declared. */
export function undeclared(name: OperationName, { body }: Answer): string[] {
  const validate = createAjv().compile(schemaOf(operations[name].data));
  return validate(body.data) ? [] : errorTexts(validate.errors);
}

async function callerOf(url: string): Promise<Caller> {
  const token = await mintToken({ secret: SECRET, scope: 'platform', expiresIn: '1h' });
  const caller: Caller = {
    url,
    token,
    async call(method, path, options = {}) {
      const headers: Record<string, string> = { ...options.headers };
      if (options.token !== null) headers['authorization'] = `Bearer ${options.token ?? token}`;
      if (options.tenant !== null) headers['service-tenant-id'] = options.tenant ?? 'north';
      const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
      if (body !== undefined) headers['content-type'] ??= 'application/json';
      const response = await fetch(`${url}${path}`, { method, headers, body: body ?? null });
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    },
    async createSchema(name, properties, more = {}) {
      const schema = { type: 'object', properties: { id: { type: 'string' }, ...properties } };
      const body = { name, category: 'custom_schema', externalIdField: 'id', schema, ...more };
      const answer = await caller.call('POST', '/partner/schema-definitions', { body, tenant: null });
      if (answer.status !== 200) throw new Error(`schema ${name}: ${JSON.stringify(answer.body)}`);
      return answer.body.data.id;
    },
    async upload(schema, resources, { query = '', tenant = 'north' } = {}) {
      const answer = await caller.call('POST', `/api/resources/${schema}/batch${query}`, {
        body: { resources },
        tenant,
      });
      if (answer.status !== 202)
        throw new Error(`upload to ${schema}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.data.batchId;
    },
    async batch(batchId, tenant = 'north') {
      const answer = await caller.call('GET', `/api/batches/${batchId}?includePendingDetails=true`, { tenant });
      return answer.body.data;
    },
    processed: (batchId, tenant) =>
      poll(
        () => caller.batch(batchId, tenant),
        (batch) => batch.startedAt !== null,
      ),
    completed: (batchId, tenant) =>
      poll(
        () => caller.batch(batchId, tenant),
        (batch) => batch.completedAt !== null,
      ),
    async uploaded(schema, resources, options = {}) {
      return caller.completed(await caller.upload(schema, resources, options), options.tenant);
    },
    read: (schema, externalId, { query = '', tenant = 'north' } = {}) =>
      caller.call('GET', `/api/resources/${schema}/${encodeURIComponent(externalId)}${query}`, { tenant }),
  };
  return caller;
}

async function poll(read: () => Promise<BatchAnswer>, until: (batch: BatchAnswer) => boolean): Promise<BatchAnswer> {
  const deadline = Date.now() + 30_000;
  while (true) {
    const batch = await read();
    if (until(batch)) return batch;
    if (Date.now() > deadline) throw new Error(`the batch did not get there: ${JSON.stringify(batch)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A request with any Host header, which fetch does not allow to set. */
export function statusWithHost(url: string, path: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.get(`${url}${path}`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
  });
}

/** A name that no other test uses. */
export const unique = (name: string): string => `${name}_${randomUUID().slice(0, 8)}`;

/** What must hold for every batch at every moment. */
export function addsUp({ progress }: BatchAnswer, finished: boolean): boolean {
  const count = (name: string): number => progress[name] ?? NaN;
  const [processed, pending] = [count('processedRecords'), count('pendingRecords')];
  if (processed !== count('successfulRecords') + count('failedRecords')) return false;
  return finished ? count('totalRecords') === processed + pending : processed + pending === 0;
}

/** A schema of people with a name of its own: an id, and fields of several types. */
export async function createPeople(caller: Caller): Promise<string> {
  const name = unique('people');
  const properties = {
    id: { type: ['string', 'integer'] },
    email: { type: 'string', format: 'email' },
    age: { type: 'integer' },
    address: { type: 'object' },
  };
  await caller.createSchema(name, {}, { schema: { type: 'object', required: ['id'], properties } });
  return name;
}
