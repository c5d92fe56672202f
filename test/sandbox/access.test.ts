/** Who has access, and how invalid requests are refused. */
import { SignJWT } from 'jose';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.js';
import { mintToken } from '../../src/sandbox/token.js';
import { createDatabase, SECRET, SOUTH, startForTest, statusWithHost, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('access');
  sandbox = await startForTest(database, { maxBodyBytes: 20_000, maxRecordsPerBatch: 5 });
  await sandbox.createSchema('people', { email: { type: 'string', format: 'email' } });
  await sandbox.uploaded('people', [{ id: 'p-1' }]);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const READ = '/api/resources/people/p-1';
const UPLOAD = '/api/resources/people/batch';

describe('access to the sandbox', () => {
  it('reports its health to anyone', async () => {
    const response = await fetch(`${sandbox.url}/health`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('refuses a call without a token, and says how to send one', async () => {
    const answer = await sandbox.call('GET', READ, { token: null });
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ success: false, message: expect.stringContaining('Bearer') as string });
  });

  it('refuses tokens that are expired, unsigned, wrongly signed, for another audience, or without an expiry', async () => {
    const now = Math.floor(Date.now() / 1000);
    const sign = (claims: Record<string, unknown>, alg = 'HS256', secret = SECRET) =>
      new SignJWT({ scope: 'platform', aud: 'platform', exp: now + 60, ...claims })
        .setProtectedHeader({ alg })
        .sign(new TextEncoder().encode(secret));
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const tokens = [
      await sign({ exp: now - 10 }),
      await sign({ exp: undefined }),
      await sign({ aud: 'elsewhere' }),
      await sign({}, 'HS512', SECRET.repeat(2)),
      await mintToken({ secret: 'another secret of good length', scope: 'platform', expiresIn: '1h' }),
      `${part({ alg: 'none' })}.${part({ scope: 'platform', aud: 'platform', exp: now + 60 })}.`,
      'nonsense',
    ];
    for (const token of tokens) expect((await sandbox.call('GET', READ, { token })).status, token).toBe(401);
  });

  it('refuses a token of an unknown scope', async () => {
    const token = await new SignJWT({ scope: 'reports', aud: 'platform' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(SECRET));
    expect((await sandbox.call('GET', READ, { token })).status).toBe(403);
  });

  it('stops accepting a cached token once it expires', async () => {
    const token = await mintToken({ secret: SECRET, scope: 'platform', expiresIn: 2 });
    expect((await sandbox.call('GET', READ, { token })).status).toBe(200);
    const deadline = Date.now() + 20_000;
    while ((await sandbox.call('GET', READ, { token })).status === 200 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await sandbox.call('GET', READ, { token })).status).toBe(401);
  });

  it('requires the tenant header with a platform token, and accepts only existing tenants', async () => {
    const none = await sandbox.call('GET', READ, { tenant: null });
    expect([none.status, none.body.message]).toEqual([400, expect.stringContaining('service-tenant-id')]);
    expect((await sandbox.call('GET', READ, { tenant: 'no such' })).status).toBe(400);
    expect((await sandbox.call('GET', READ, { tenant: 'nobody' })).status).toBe(403);
  });

  it('does not let a token of one tenant act for another', async () => {
    const token = await mintToken({ secret: SECRET, scope: 'tenant', tenant: 'north', expiresIn: '1h' });
    expect((await sandbox.call('GET', READ, { token, tenant: null })).status).toBe(200);
    expect((await sandbox.call('GET', READ, { token, tenant: 'north' })).status).toBe(200);
    expect((await sandbox.call('GET', READ, { token, tenant: SOUTH })).status).toBe(403);
  });

  it('keeps tenant tokens out of partner operations', async () => {
    const token = await mintToken({ secret: SECRET, scope: 'tenant', tenant: 'north', expiresIn: '1h' });
    const answer = await sandbox.call('POST', '/partner/schema-definitions', { body: {}, token });
    expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining('platform account')]);
  });

  it('refuses a tenant token that names no tenant', async () => {
    const token = await new SignJWT({ scope: 'tenant', aud: 'platform' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(SECRET));
    expect((await sandbox.call('GET', READ, { token })).status).toBe(403);
  });

  it('reads the token from the header and scheme of its settings', async () => {
    const other = await startForTest(database, { authHeader: 'X-Platform-Key', authScheme: '' });
    const read = (headers: Record<string, string>) => other.call('GET', READ, { token: null, headers });
    const statuses = [
      (await read({ 'x-platform-key': other.token })).status,
      (await read({ 'x-platform-key': `Bearer ${other.token}` })).status,
      (await read({ authorization: `Bearer ${other.token}` })).status,
    ];
    await other.close();
    expect(statuses).toEqual([200, 401, 401]);
  });

  it('ignores the tenant header on partner operations', async () => {
    const body = {
      name: 'partner_op',
      category: 'custom_schema',
      externalIdField: 'id',
      schema: { properties: { id: {} } },
    };
    const answer = await sandbox.call('POST', '/partner/schema-definitions', { body, tenant: 'not a tenant' });
    expect(answer.status).toBe(200);
  });

  it('refuses calls under a foreign host name', async () => {
    expect(await statusWithHost(sandbox.url, '/health', 'evil.example:80')).toBe(403);
    expect(await statusWithHost(sandbox.url, '/health', 'localhost:1234')).toBe(200);
    expect(await statusWithHost(sandbox.url, '/health', '[::1]')).toBe(200);
  });

  it('refuses unknown operations with 404 in the error envelope', async () => {
    for (const [method, path] of [
      ['GET', '/api/nothing'],
      ['DELETE', READ],
      ['POST', '/'],
    ] as const) {
      const answer = await sandbox.call(method, path);
      expect([answer.status, answer.body.success, typeof answer.body.message]).toEqual([404, false, 'string']);
    }
  });

  it('gives each request an id, in the answer and in the log', async () => {
    const names = await Promise.all(
      [1, 2].map(async () => (await fetch(`${sandbox.url}/`)).headers.get('x-request-id')),
    );
    expect(new Set(names).size).toBe(2);
    expect(names.join(' ')).toMatch(/^[0-9a-f-]{36} [0-9a-f-]{36}$/);
  });

  it('redirects a browser at its bare address to the reference', async () => {
    const answer = await fetch(sandbox.url);
    expect([answer.status, new URL(answer.url).pathname]).toEqual([200, '/reference']);
  });

  it('says what to do about another content type, a misspelt field and text in a wrong form', async () => {
    const domain = { apexDomain: 'shop.example', subdomain: 'mail', userPart: '.news', emailFromNam: 'News' };
    const answer = await sandbox.call('POST', '/api/sending-domains', { body: domain });
    expect(answer.body.errors).toEqual([
      "body must have required property 'emailFromName'",
      'body has the unknown field "emailFromNam"; did you mean "emailFromName"?',
      "body/userPart must be letters, digits and ! # $ % & ' * + / = ? ^ _ ` { | } ~ -, with single dots between them",
    ]);
    const headers = { 'content-type': 'text/csv' };
    const table = await sandbox.call('POST', '/api/sending-domains', { raw: 'a,b', headers });
    expect(table.body.message).toBe('the body must be JSON, with the content-type application/json');
  });

  it('refuses unknown schemas, resources and batches with 404', async () => {
    for (const path of [
      '/api/resources/unknown/p-1',
      '/api/resources/people/p-2',
      '/api/resources/people/%00',
      '/api/batches/nonsense',
      '/api/batches/00000000-0000-4000-8000-000000000000',
    ])
      expect((await sandbox.call('GET', path)).status, path).toBe(404);
    const upload = await sandbox.call('POST', '/api/resources/unknown/batch', { body: { resources: [{ id: '1' }] } });
    expect([upload.status, upload.body.message]).toEqual([404, expect.stringContaining('"unknown"')]);
  });

  it('refuses uploads that are too large with 413', async () => {
    const many = await sandbox.call('POST', UPLOAD, { body: { resources: Array(6).fill({ id: 'p' }) } });
    expect([many.status, many.body.message]).toEqual([413, expect.stringContaining('at most 5')]);
    const large = await sandbox.call('POST', UPLOAD, { body: { resources: [{ id: 'x'.repeat(20_000) }] } });
    expect([large.status, large.body.message]).toEqual([
      413,
      expect.stringMatching(/^the body is larger than \d+ bytes$/),
    ]);
  });

  it('refuses any invalid request with a 4xx in the error envelope', async () => {
    const bodies: (string | Uint8Array<ArrayBuffer>)[] = [
      '',
      '{',
      'null',
      '[]',
      '"text"',
      '{"resources":{}}',
      '{"resources":[]}',
      '{"resources":[null]}',
      '{"resources":[1]}',
      '{"resources":[{"__proto__":{"id":"1"}}]}',
      '<html>',
      new Uint8Array([0, 1, 2, 255]),
      new Uint8Array(
        Buffer.concat([Buffer.from('{"resources":[{"id":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}]}')]),
      ),
      '['.repeat(9_000),
    ];
    for (const path of [UPLOAD, '/api/resources/transactions/batch', '/partner/schema-definitions'])
      for (const raw of bodies) {
        const answer = await sandbox.call('POST', path, { raw });
        expect([400, 404], `${path} ${String(raw).slice(0, 40)} ${answer.status}`).toContain(answer.status);
        expect(answer.body.success).toBe(false);
      }
    const paths = [
      '/api/resources/people/%E0%A4%A',
      '/api/resources/..%2f..%2fpartner/x',
      '/api/resources/people/%ff',
      `/api/batches/${'%00'.repeat(50)}`,
    ];
    for (const path of [...paths, `/api/resources/people/${'x'.repeat(9_000)}`]) {
      const answer = await sandbox.call('GET', path);
      expect([400, 404, 414], path.slice(0, 60)).toContain(answer.status);
      expect(answer.body.success).toBe(false);
    }
    const other = await sandbox.call('POST', UPLOAD, { raw: 'a=1', headers: { 'content-type': 'text/plain' } });
    expect([other.status, other.body.success]).toEqual([415, false]);
  });

  it('names every invalid place of a request at once', async () => {
    const answer = await sandbox.call(
      'POST',
      `${UPLOAD}?onconflict=merge&dependencyWaitTimeout=86401&ignoreUnknownFields=maybe`,
      { body: {} },
    );
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([
      'query/onconflict must be "upsert" or "reject"',
      'query/ignoreUnknownFields must be boolean or null',
      'query/dependencyWaitTimeout must be <= 86400',
      "body must have required property 'resources'",
    ]);
  });

  it('treats an empty or null value of a nullable query parameter as its default', async () => {
    const query = '?ignoreUnknownFields=null&dependencyWaitTimeout=';
    expect((await sandbox.uploaded('people', [{ id: 'p-9' }], { query })).progress.successfulRecords).toBe(1);
  });

  it('uses the query parameter names of its settings', async () => {
    const names = { include: 'resolve', referenceFormat: 'refs', includePendingDetails: 'pending' };
    const renamed = await startForTest(database, { parameterNames: names });
    await renamed.createSchema('friends', { friend: { $ref: 'people' } });
    await renamed.uploaded('friends', [{ id: 'f-1', friend: 'p-1' }]);
    const answer = await renamed.read('friends', 'f-1', { query: '?refs=id&resolve=friend' });
    await renamed.close();
    expect(answer.body.data.result.data.friend).toBe('p-1');
    expect(answer.body.data.included).toHaveLength(1);
  });

  it('logs its address and refusals, but no content of requests', async () => {
    let log = '';
    const logger = pino({}, { write: (line: string) => void (log += line) });
    const options = { stateUrl: database.url, port: 0, jwtSecret: SECRET, logger };
    const logging = await startSandbox(options);
    const headers = {
      authorization: `Bearer ${sandbox.token}`,
      'service-tenant-id': 'north',
      'content-type': 'application/json',
    };
    for (const body of ['{"resources":[{"id":"private","private_field":1}]}', '{"private', '{"private":1}'])
      expect((await fetch(`${logging.url}${UPLOAD}`, { method: 'POST', headers, body })).status).toBe(400);
    expect((await fetch(`${logging.url}/api/resources/people/private`, { headers })).status).toBe(404);
    await Promise.all([logging.close(), logging.close()]);
    expect(log).toContain(logging.url);
    expect(log).toContain('"status":404');
    expect(log).not.toContain('private');
    expect(log).not.toContain(sandbox.token);
  });
});
