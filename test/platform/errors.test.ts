/** Errors of the client contain the call, the answer and the platform's message, and never the token. */
import { describe, expect, it } from 'vitest';
import { PlatformClient } from '../../src/platform/client.js';
import * as errors from '../../src/platform/error.js';
import { isNotFound, PlatformError } from '../../src/platform/error.js';
import { answer, DONE, errorOf, stubPlatform, success } from './stub-platform.js';

async function platformErrorOf(work: Promise<unknown>): Promise<PlatformError> {
  const error = await errorOf(work);
  if (error instanceof PlatformError) return error;
  throw new Error(`no error of the platform: ${error.message}`);
}

describe('an error of the platform', () => {
  it('names status, method, path, request id and what the platform listed', async () => {
    const { client } = await stubPlatform([
      answer(400, { success: false, message: 'not valid', errors: ['body/text is empty'] }, { 'x-request-id': 'r-7' }),
    ]);
    const error = await platformErrorOf(client.listChannelIntegrations({ limit: 0 }));
    expect(error).toMatchObject({
      code: 'platform_refused',
      status: 400,
      method: 'GET',
      path: '/partner/channel/integrations',
      requestId: 'r-7',
      platformMessage: 'not valid',
      errors: ['body/text is empty'],
      message: 'GET /partner/channel/integrations returned 400: not valid',
    });
  });

  it('contains the path of the contract, so that ids stay out of logs', async () => {
    const { client } = await stubPlatform([answer(404, { success: false, message: 'no such automation' })]);
    const error = await platformErrorOf(client.getAutomation('a-secret-id', {}, { tenant: 'north' }));
    expect(error.path).toBe('/api/automations/{id}');
    expect(JSON.stringify([error.message, error.details])).not.toContain('a-secret-id');
    expect(isNotFound(error)).toBe(true);
  });

  it.each([
    ['no', 'no'],
    ['no; it is empty', 'no; it is empty'],
    ['because', 'no; because'],
  ])('contains a repeated message once, in whichever shape it comes: %s', async (error, message) => {
    const { client } = await stubPlatform([answer(400, { success: false, message: 'no', data: { error } })]);
    expect((await platformErrorOf(client.getBatch('b', {}, { tenant: 'north' }))).platformMessage).toBe(message);
  });

  it('shortens messages and removes control characters', async () => {
    const { client } = await stubPlatform([answer(400, { message: `\u001b[31m${'x'.repeat(1_000_000)}` })]);
    const { message } = await platformErrorOf(client.listTenantUsage());
    expect(message.length).toBeLessThan(400);
    expect(message).not.toMatch(/\p{Cc}/u);
  });
});

describe('what the platform says about records', () => {
  const about = {
    success: false,
    message: 'no: {"email":"jo@example.org"}',
    errors: ['Jo Smith'],
    data: { error: 'Jo' },
  };
  const upload = (client: PlatformClient) =>
    client.uploadResources('customer', '{"resources":[]}', {}, { tenant: 'north', once: true });
  const poll = (client: PlatformClient) => client.getBatch('b', {}, { tenant: 'north' });

  it.each([400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 500, 502, 503, 504, 511])(
    'is not in the message of an error, which goes into histories and logs, if it answers an upload with %i',
    async (status) => {
      const { client } = await stubPlatform([answer(status, about)], { retryBudget: 0 });
      const error = await platformErrorOf(upload(client));
      expect(error.message).toBe(`POST /api/resources/{schemaDefinitionNameOrId}/batch returned ${status}`);
      expect(error.platformMessage).toContain('jo@example.org');
    },
  );

  it.each([400, 404, 429, 500, 503])('is not there either if the platform may tell of a batch: %i', async (status) => {
    const { client } = await stubPlatform([answer(status, about)], { retryBudget: 0 });
    expect((await platformErrorOf(poll(client))).message).toBe(`GET /api/batches/{batchId} returned ${status}`);
  });

  it.each([401, 403])('cannot be about records if a request without any was not allowed: %i', async (status) => {
    const { client } = await stubPlatform([answer(status, { message: 'it has expired' })], { retryBudget: 0 });
    expect((await platformErrorOf(poll(client))).message).toBe(
      `GET /api/batches/{batchId} returned ${status}: it has expired`,
    );
  });
});

describe('the class of an error', () => {
  it.each([
    ['PlatformRefused', 400],
    ['PlatformUnauthorized', 401],
    ['PlatformUnauthorized', 403],
    ['PlatformRefused', 409],
    ['PlatformTooLarge', 413],
    ['PlatformRefused', 422],
    ['PlatformBusy', 429],
    ['PlatformFailed', 500],
    ['PlatformBusy', 503],
    ['RedirectRefused', 302],
    ['PlatformResponseInvalid', 200],
  ] as const)('is %s if the platform answers %i', async (name, status) => {
    const { client } = await stubPlatform([answer(status, { message: 'no' })], { retryBudget: 0 });
    const error = await platformErrorOf(client.listTenantUsage());
    expect([error.constructor.name, error instanceof errors[name]]).toEqual([name, true]);
  });

  it('is PlatformUnreachable if there is no answer', async () => {
    const { client } = await stubPlatform([(response) => response.destroy()], { retryBudget: 0 });
    expect(await platformErrorOf(client.listTenantUsage())).toBeInstanceOf(errors.PlatformUnreachable);
  });
});

describe.each([
  ['a page of HTML', '<!doctype html><p>Bad gateway', 'text/html', 'HTML'],
  ['half of an answer', '{"success":false,"mess', 'application/json', 'JSON that is cut off or malformed'],
  ['a list', '[1,2]', 'application/json', 'JSON that is not an object'],
  ['plain words', 'upstream connect error', 'text/plain', 'text that is not JSON'],
  ['nothing at all', '', '', 'an empty body'],
])('an answer that is %s', (_what, text, type, name) => {
  it.each([200, 404, 502])(`is named "${name}" with the status %i, and not quoted`, async (status) => {
    const headers = { 'content-type': type };
    const { client } = await stubPlatform([answer(status, text, headers)], { retryBudget: 0 });
    const { message } = await platformErrorOf(client.listTenantUsage());
    expect(message).toContain(`${status} with ${name} (${type || 'no content type'}, ${text.length} characters)`);
    if (text !== '') expect(message).not.toContain(text);
  });
});

describe('the token', () => {
  const at = (url: string, token: string) => new PlatformClient({ baseUrl: url, token, retryBudget: 0 });

  it.each(['two\nlines', 'ünïcode', 'a blank', ''])('is refused as %j, without being quoted', async (token) => {
    const { url, seen } = await stubPlatform([DONE]);
    const client = at(url, token);
    const error = await errorOf(client.getBatch('b', {}, { tenant: 'north' }));
    expect(error.code).toBe('config_invalid');
    if (token !== '') expect(error.message).not.toContain(token);
    expect(seen).toEqual([]);
    await client.close();
  });

  it('is in no error, whatever the platform answers', async () => {
    const { url } = await stubPlatform([
      answer(401, { message: 'who are you?' }),
      answer(500, 'x'),
      (r) => r.destroy(),
    ]);
    const client = at(url, 'the.secret.token');
    for (let i = 0; i < 3; i++) {
      const error = await errorOf(client.listTenantUsage());
      expect(JSON.stringify([error.message, error.details, error.stack])).not.toContain('secret');
    }
    await client.close();
  });

  it('is presented as the settings say', async () => {
    const { url, seen } = await stubPlatform([DONE]);
    for (const authScheme of ['JWT', '']) {
      const client = new PlatformClient({ baseUrl: url, token: 'abc', authHeader: 'x-api-token', authScheme });
      await client.getBatch('b', {}, { tenant: 'north' });
      await client.close();
    }
    expect(seen.map(({ headers }) => headers['x-api-token'])).toEqual(['JWT abc', 'abc']);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });
});

describe('the tenant', () => {
  it('may be left out with its own token', async () => {
    const { client, seen } = await stubPlatform([DONE], { tokenScope: 'tenant' });
    await client.getBatch('b', {}, {});
    expect(seen[0]!.headers).not.toHaveProperty('service-tenant-id');
  });

  it('is sent with reports that it limits, and with no other partner operation', async () => {
    const page = success({ results: [], pagination: { hasNextPage: false } });
    const { client, seen } = await stubPlatform([page]);
    await client.listVoiceAggregates({}, { tenant: 'north' });
    await client.listVoiceAggregates();
    await client.listChannelIntegrations({}, { tenant: 'north' });
    expect(seen.map(({ headers }) => headers['service-tenant-id'])).toEqual(['north', undefined, undefined]);
  });

  it('is refused if it is not a tenant id', async () => {
    const { client, seen } = await stubPlatform([DONE]);
    for (const tenant of ['', ' north', 'north\r\nx: y', 'nörth', 'x'.repeat(65)])
      expect((await errorOf(client.getBatch('b', {}, { tenant }))).code, tenant).toBe('input_invalid');
    expect(seen).toEqual([]);
  });
});
