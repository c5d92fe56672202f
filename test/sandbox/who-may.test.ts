/** Who may call which operation: every operation with every kind of token. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/platform/contract/operation.js';
import { operations } from '../../src/platform/contract/operations.js';
import { handlers } from '../../src/sandbox/handlers/table.js';
import { mintToken } from '../../src/sandbox/token.js';
import { createDatabase, SECRET, SOUTH, startForTest, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
let strict: Awaited<ReturnType<typeof startForTest>>;
let northern: string;
beforeAll(async () => {
  database = await createDatabase('who-may');
  sandbox = await startForTest(database);
  strict = await startForTest(database, { callers: { open: ['platform'] } });
  northern = await mintToken({ secret: SECRET, scope: 'tenant', tenant: 'north', expiresIn: '1h' });
});
afterAll(async () => {
  await sandbox.close();
  await strict.close();
  await database.drop();
});

const all = (Object.keys(handlers) as (keyof typeof handlers)[]).map((name): [string, Operation] => [
  name,
  operations[name],
]);
const ofScope = (...scopes: Operation['scope'][]) => all.filter(([, { scope }]) => scopes.includes(scope));

/** A call that gets as far as its token does: past it, ids are unknown and bodies empty. */
const call = (
  { method, path }: Operation,
  options: { token?: string | null; tenant: string | null },
  server = sandbox,
) => server.call(method, path.replaceAll(/\{\w+\}/g, 'unknown'), { ...options, ...(method !== 'GET' && { body: {} }) });

describe.each(ofScope('tenant'))('%s', (_name, operation) => {
  it('needs a token', async () => {
    expect((await call(operation, { token: null, tenant: 'north' })).status).toBe(401);
    expect((await call(operation, { token: 'a.b.c', tenant: 'north' })).status).toBe(401);
  });

  it('requires the tenant that a platform token acts for', async () => {
    const { status, body } = await call(operation, { tenant: null });
    expect([status, body.message]).toEqual([400, expect.stringContaining('service-tenant-id')]);
    expect([401, 403]).not.toContain((await call(operation, { tenant: 'north' })).status);
  });

  it("accepts a tenant's own token, with or without the header", async () => {
    const answers = [null, 'north'].map((tenant) => call(operation, { token: northern, tenant }));
    for (const { status, body } of await Promise.all(answers)) {
      expect([401, 403]).not.toContain(status);
      expect(body.message).not.toContain('service-tenant-id');
    }
  });

  it('refuses another tenant like one that does not exist', async () => {
    const foreign = await call(operation, { token: northern, tenant: SOUTH });
    const unknown = await call(operation, { token: northern, tenant: 'nobody' });
    expect([foreign.status, unknown.status]).toEqual([403, 403]);
    expect(foreign.body.message.replace(SOUTH, '')).toBe(unknown.body.message.replace('nobody', ''));
  });
});

describe.each(ofScope('partner'))('%s', (_name, operation) => {
  it('needs a token of the platform account', async () => {
    const tokens = [null, 'a.b.c', northern, sandbox.token];
    const statuses = [];
    for (const token of tokens) statuses.push((await call(operation, { token, tenant: null })).status);
    expect(statuses.slice(0, 3)).toEqual([401, 401, 403]);
    expect([401, 403]).not.toContain(statuses[3]);
  });

  it("refuses a tenant's token with its own tenant in the header too", async () => {
    expect((await call(operation, { token: northern, tenant: 'north' })).status).toBe(403);
  });
});

describe.each(ofScope('open'))('%s', (_name, operation) => {
  it('needs no token, but refuses one that is wrong or of a tenant', async () => {
    const statuses = [];
    for (const token of [null, sandbox.token, 'a.b.c', northern])
      statuses.push((await call(operation, { token, tenant: null })).status);
    expect(statuses).toEqual([200, 200, 401, 403]);
  });

  it('needs a token of the platform account if the setting callers.open says so', async () => {
    const statuses = [];
    for (const token of [null, northern, strict.token])
      statuses.push((await call(operation, { token, tenant: null }, strict)).status);
    expect(statuses).toEqual([401, 403, 200]);
  });
});
