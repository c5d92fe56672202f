/** The client against a platform that misbehaves: what is retried, what is not, and what is never sent. */
import http from 'node:http';
import { expect, it } from 'vitest';
import type { OnRetry } from '../../src/domain/monitoring/retries.js';
import { PlatformClient } from '../../src/platform/client.js';
import { isInDoubt } from '../../src/platform/error.js';
import { classifyStatus, retryAfterMs } from '../../src/platform/retry.js';
import { DEFAULT_PLATFORM_SETTINGS } from '../../src/platform/client-settings.js';
import { answer, BATCH, DONE, errorOf, stubPlatform, success, type Answer } from './stub-platform.js';

const look = (client: PlatformClient) => client.findBatch('b1', { tenant: 'north' });
const upload = (client: PlatformClient) =>
  client.uploadResources(
    'customer',
    '{"resources":[]}',
    { onconflict: 'upsert', dependencyWaitTimeout: 60 },
    { tenant: 'north', once: true },
  );

it('sends the token, the tenant and the parameters of the contract', async () => {
  const { client, seen } = await stubPlatform([answer(202, { success: true, data: { batchId: 'b', recordCount: 0 } })]);
  expect(await upload(client)).toEqual({ batchId: 'b', recordCount: 0 });
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/api/resources/customer/batch?onconflict=upsert&dependencyWaitTimeout=60',
    body: '{"resources":[]}',
    headers: { authorization: 'Bearer the-token', 'service-tenant-id': 'north', 'content-type': 'application/json' },
  });
});

it('reads the messages of both error shapes', async () => {
  const { client } = await stubPlatform([
    answer(400, { success: false, message: 'first shape', errors: ['one', 'two'] }),
    answer(400, { success: false, data: { error: 'second shape' } }),
  ]);
  const first = await errorOf(look(client));
  expect(first).toMatchObject({ code: 'platform_refused', details: { status: 400, errors: ['one', 'two'] } });
  // Kept apart from the message, which goes into histories and logs: a refusal may quote the record.
  expect(first.details['platformMessage']).toBe('first shape');
  expect(first.message).not.toContain('first shape');
  expect((await errorOf(look(client))).details['platformMessage']).toBe('second shape');
});

it('understands fields with an alias under either name', async () => {
  const record = { data: { a: 1 } };
  const { client } = await stubPlatform([
    success({ result: { ...record, resourceExternalId: 'x', createdAt: 't' } }),
    success({ result: { ...record, resource_external_id: 'x', created_at: 't' } }),
    success({
      result: { ...record, resource_external_id: 'old', resourceExternalId: 'x', createdAt: 't', created_at: 'old' },
    }),
  ]);
  for (let i = 0; i < 3; i++)
    expect(await client.findResource('customer', 'x', { tenant: 'north' })).toEqual({
      result: { ...record, resourceExternalId: 'x', createdAt: 't' },
    });
});

for (const status of [301, 302, 303, 307, 308]) {
  it(`follows no redirect (${status}), and sends neither token nor data elsewhere`, async () => {
    let visitors = 0;
    const elsewhere = http.createServer((_, response) => response.end(String(++visitors)));
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as { port: number };
    const login = `http://127.0.0.1:${port}`;
    const redirect = answer(status, '', { location: `${login}/login?session=secret` });
    const { client, seen } = await stubPlatform([redirect], { retryBudget: 500 });

    const error = await errorOf(look(client));
    expect(error).toMatchObject({ code: 'redirect_refused', retryable: true });
    expect(error.message).toContain(`returned ${status}, a redirect to ${login}, which is never followed`);
    expect(error.message).not.toContain('secret');
    expect(seen.length).toBeGreaterThan(1);
    // 307 and 308 alone say that what was sent has not been taken.
    expect(isInDoubt(await errorOf(upload(client)))).toBe(status < 307);
    expect(visitors).toBe(0);
    elsewhere.close();
  });

  it(`retries after one redirect (${status})`, async () => {
    const { client } = await stubPlatform([answer(status, '', { location: '/login' }), DONE]);
    expect(await look(client)).toMatchObject({ batchId: 'b1' });
  });
}

it('reports a redirect as permanent once nothing else has come for a long time', async () => {
  const redirect = answer(302, '', { location: '/login' });
  const { client } = await stubPlatform([redirect, redirect, DONE, redirect], {
    retryBudget: 0,
    redirectWait: 50,
  });
  expect(await errorOf(look(client))).toMatchObject({ retryable: true });
  await new Promise((resolve) => setTimeout(resolve, 60));
  const lasting = await errorOf(look(client));
  expect(lasting).toMatchObject({ code: 'redirect_refused', retryable: false });
  expect(lasting.message).toContain('has returned nothing else for minutes');
  expect(await look(client)).toMatchObject({ batchId: 'b1' });
  expect(await errorOf(look(client))).toMatchObject({ retryable: true });
});

for (const [status, code, again, doubt] of [
  [408, 'platform_failed', true, true],
  [425, 'platform_busy', true, false],
  [429, 'platform_busy', true, false],
  [503, 'platform_busy', true, false],
  [500, 'platform_failed', true, true],
  [502, 'platform_failed', true, true],
  [504, 'platform_failed', true, true],
  [407, 'platform_response_invalid', true, true],
  [511, 'platform_response_invalid', true, true],
  [599, 'platform_failed', true, true],
  [400, 'platform_refused', false, false],
  [401, 'platform_unauthorized', false, false],
  [403, 'platform_unauthorized', false, false],
  [409, 'platform_refused', false, false],
  [413, 'platform_too_large', false, false],
  [422, 'platform_refused', false, false],
  [501, 'platform_refused', false, false],
] as const)
  it(`${again ? 'retries' : 'does not retry'} after ${status}, and an upload is ${doubt ? '' : 'not '}in doubt`, async () => {
    const { client, seen } = await stubPlatform([answer(status, { message: 'no' }), DONE]);
    const looking = look(client);
    if (again) expect(await looking).toMatchObject({ batchId: 'b1' });
    else expect((await errorOf(looking)).code).toBe(code);
    expect(seen).toHaveLength(again ? 2 : 1);

    const other = await stubPlatform([answer(status, { message: 'no' })]);
    const error = await errorOf(upload(other.client));
    expect(error.code).toBe(code);
    expect(isInDoubt(error)).toBe(doubt);
    // Sent once: whoever sends it must look at the ledger first.
    expect(other.seen).toHaveLength(1);
  });

it('waits as long as Retry-After says, in seconds or as a date', async () => {
  const inTwoSeconds = new Date(Date.now() + 2_900).toUTCString();
  for (const header of ['1', inTwoSeconds]) {
    const { client, seen } = await stubPlatform([answer(429, {}, { 'retry-after': header }), DONE]);
    await look(client);
    expect(seen[1]!.at - seen[0]!.at).toBeGreaterThanOrEqual(900);
  }
});

it('reads Retry-After strictly, within bounds', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(retryAfterMs('120', now)).toBe(120_000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:30 GMT', now)).toBe(30_000);
  expect(retryAfterMs('315360000', now)).toBe(24 * 3600_000);
  for (const nonsense of ['0', undefined, 'soon', '-5', '', 'Thu, 01 Jan 2015 00:00:00 GMT', 'NaN', 'Infinity'])
    expect(retryAfterMs(nonsense, now), String(nonsense)).toBeNull();
});

it('reads the date of a Retry-After by the clock of its server', () => {
  const hours = (n: number) => Date.parse(`2026-01-01T0${n}:00:00Z`);
  const header = 'Thu, 01 Jan 2026 03:00:30 GMT';
  const date = 'Thu, 01 Jan 2026 03:00:00 GMT';
  for (const ours of [hours(1), hours(3), hours(5)]) expect(retryAfterMs(header, ours, date)).toBe(30_000);
});

it('gives every status an error class', () => {
  for (let status = 300; status < 600; status++) expect(classifyStatus(status)).toBeTypeOf('string');
});

it('ends an answer that arrives too slowly at the deadline of the whole request', async () => {
  const { client } = await stubPlatform(
    [
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(timer));
      },
    ],
    { requestTimeout: 500, retryBudget: 0 },
  );
  const started = performance.now();
  const error = await errorOf(upload(client));
  expect(error).toMatchObject({ code: 'platform_unreachable' });
  expect(error.message).toContain('no complete response within 500 ms');
  expect(isInDoubt(error)).toBe(true);
  expect(performance.now() - started).toBeLessThan(3_000);
});

for (const [what, send] of Object.entries({
  'longer than allowed': answer(200, { success: true, data: { ...BATCH, more: 'x'.repeat(5_000) } }),
  'a page of HTML': answer(200, '<!doctype html><p>Welcome', { 'content-type': 'text/html' }),
  'cut off': answer(200, '{"success":true,"data":{"batchId":"b1"'),
  empty: answer(200, ''),
  'a list': answer(200, '[]'),
  'without what it must hold': answer(200, { success: true, data: { recordCount: 1 } }),
  'of the wrong type': answer(200, {
    success: true,
    data: { ...BATCH, recordCount: 'one', progress: { ...BATCH.progress, totalRecords: 'one' } },
  }),
}))
  it(`refuses an answer that is ${what}, and leaves its upload in doubt`, async () => {
    const { client } = await stubPlatform([send], { retryBudget: 0, maxResponseBytes: 2_000 });
    expect((await errorOf(look(client))).code).toBe('platform_response_invalid');
    const error = await errorOf(upload(client));
    expect(error.code).toBe('platform_response_invalid');
    expect(isInDoubt(error)).toBe(true);
  });

it('distinguishes a connection that was never made from one that broke', async () => {
  const broken = await stubPlatform([(response) => response.destroy()], { retryBudget: 0 });
  expect(isInDoubt(await errorOf(upload(broken.client)))).toBe(true);

  const nobody = new PlatformClient({
    ...DEFAULT_PLATFORM_SETTINGS,
    baseUrl: 'http://127.0.0.1:1',
    token: () => Promise.resolve('t'),
    retryBudget: 0,
  });
  const error = await errorOf(upload(nobody));
  expect(error).toMatchObject({ code: 'platform_unreachable' });
  expect(isInDoubt(error)).toBe(false);
  await nobody.close();
});

it('treats "not found" as a result if the operation allows it', async () => {
  const { client } = await stubPlatform([answer(404, { message: 'no such thing' })]);
  expect(await look(client)).toBeNull();
  expect(await client.findResource('customer', 'x', { tenant: 'north' })).toBeNull();
  expect((await errorOf(upload(client))).code).toBe('platform_refused');
});

it('keeps every parameter inside its place in the path', async () => {
  const resource: Answer = (response, request) => {
    const resourceExternalId = decodeURIComponent(/[^/?]+(?=\?)/.exec(request.url)![0]);
    success({ result: { resourceExternalId, data: {} } })(response, request);
  };
  const { client, seen } = await stubPlatform([resource]);
  for (const id of ['', '.', '..', '\uD800', 'a\u0000', '語'.repeat(2_000)])
    expect((await errorOf(client.findResource('customer', id, { tenant: 'north' }))).code, id).toBe('input_invalid');
  for (const id of ['a/b', '../x', 'a?b=c', 'a#b', '%2e%2e', 'ä 😀'])
    await client.findResource('customer', id, { tenant: 'north' });
  for (const { url } of seen) expect(url).toMatch(/^\/api\/resources\/customer\/[^/?#]+\?/);
  expect(seen.map(({ url }) => decodeURIComponent(url.split('/')[4]!.split('?')[0]!))).toEqual([
    'a/b',
    '../x',
    'a?b=c',
    'a#b',
    '%2e%2e',
    'ä 😀',
  ]);
});

it('requires a tenant if the operation acts for one', async () => {
  const { client, seen } = await stubPlatform([DONE]);
  expect((await errorOf(client.findBatch('b1', {}))).code).toBe('input_invalid');
  expect(seen).toHaveLength(0);
});

it('stops between two attempts when it is cancelled', async () => {
  const { client, seen } = await stubPlatform([answer(503, {}, { 'retry-after': '3' })]);
  const abort = new AbortController();
  const looking = client.findBatch('b1', { tenant: 'north', signal: abort.signal });
  setTimeout(() => abort.abort(), 200);
  await expect(looking).rejects.toThrow();
  expect(seen).toHaveLength(1);
});

it.each([
  ['https://platform.example.com', true],
  ['https://platform.example.com/prefix/', true],
  ['http://127.0.0.1:8080', true],
  ['http://localhost:8080', true],
  ['http://[::1]:8080', true],
  ['http://platform.example.com', false],
  ['http://127.0.0.1.example.com', false],
  ['http://localhost.example.com', false],
  ['https://user:secret@platform.example.com', false],
  ['ftp://platform.example.com', false],
  ['file:///etc/passwd', false],
  ['platform.example.com', false],
  ['', false],
])('validates %s as a base URL: %s', async (baseUrl, good) => {
  const make = () => new PlatformClient({ ...DEFAULT_PLATFORM_SETTINGS, baseUrl, token: () => Promise.resolve('t') });
  if (good) await make().close();
  else expect(make).toThrowError(expect.objectContaining({ code: 'config_invalid' }) as Error);
  if (!good && baseUrl.includes('secret')) expect(make).not.toThrowError(/secret/);
});

it('keeps the prefix of its base URL', async () => {
  const { url, seen } = await stubPlatform([DONE]);
  const client = new PlatformClient({
    ...DEFAULT_PLATFORM_SETTINGS,
    baseUrl: `${url}/v1/`,
    token: () => Promise.resolve('t'),
  });
  await look(client);
  expect(seen[0]!.url).toBe('/v1/api/batches/b1?includePendingDetails=true');
  await client.close();
});

it('tells of each attempt that failed, and since when, while it sends a request again', async () => {
  const { client } = await stubPlatform([answer(503, {}), answer(502, {}), DONE]);
  const told: Parameters<OnRetry>[] = [];
  await client.findBatch('b1', { tenant: 'north', onRetry: (...failure) => told.push(failure) });
  expect(told).toEqual([
    ['platform_busy', 0],
    ['platform_failed', expect.any(Number)],
  ]);
  expect(told[1]![1]).toBeGreaterThan(0);
  await client.findBatch('b1', { tenant: 'north', onRetry: (...failure) => told.push(failure) });
  expect(told).toHaveLength(2);
});
