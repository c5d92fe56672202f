/** 4.9, 4.11 and 4.12: channel integrations of the platform account, channel accounts of its tenants. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadInto } from '../../src/sandbox/fixture/load.js';
import { createDatabase, SOUTH, startForTest, undeclared, unique, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('channels');
  sandbox = await startForTest(database);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const integrate = (provider: string, type: string, metadata: object = {}) =>
  sandbox.call('POST', '/partner/channel/integrations', {
    body: { channel_provider: provider, channel_integration_type: type, channel_integration_metadata: metadata },
    tenant: null,
  });
const integration = async (type: string, metadata: object = {}): Promise<string> =>
  (await integrate('service-managed', type, metadata)).body.data.id;
const open = (channelIntegrationId: string, channelAccountMetadata: object, tenant = 'north') =>
  sandbox.call('POST', '/api/channel/accounts', { body: { channelIntegrationId, channelAccountMetadata }, tenant });

interface List {
  readonly results: { readonly id: string; readonly [name: string]: unknown }[];
  readonly pagination: { readonly hasNextPage: boolean; readonly cursor: string | null; readonly total: number };
}
const list = async (query = ''): Promise<List> => {
  const answer = await sandbox.call('GET', `/partner/channel/integrations${query}`, { tenant: null });
  expect([answer.status, undeclared('listChannelIntegrations', answer)]).toEqual([200, []]);
  return answer.body.data as unknown as List;
};

describe('a channel integration', () => {
  it('is created, returned with its metadata, and listed', async () => {
    const answer = await integrate('service-managed', 'email', { customDomainEnabled: true, region: 'eu' });
    expect([answer.status, undeclared('createChannelIntegration', answer)]).toEqual([200, []]);
    const metadata = {
      type: 'service-managed',
      customDomainEnabled: true,
      cloudCustomDomainInfo: null,
      region: 'eu',
    };
    const { id } = answer.body.data;
    expect(answer.body.data).toEqual({ id, channel_integration_metadata: metadata });
    expect((await list()).results.at(-1)).toEqual({
      id,
      name: 'service-managed email',
      channel_integration_metadata: metadata,
      created_at: expect.stringMatching(/Z$/) as string,
    });
  });

  it.each([
    ['service-managed', 'email', 200],
    ['service-managed', 'sms', 200],
    ['external-provider', 'email', 200],
    ['external-provider', 'sms', 200],
    ['service-managed-mail', 'email', 200],
    ['service-managed-sms', 'sms', 200],
    ['service-managed-mail', 'sms', 400],
    ['service-managed-sms', 'email', 400],
    ['smoke-signals', 'email', 400],
    ['service-managed', 'fax', 400],
  ])('of the provider %s for %s is answered with %i', async (provider, type, status) => {
    expect((await integrate(provider, type)).status).toBe(status);
  });

  it('needs all three of its fields, and no others', async () => {
    const body = { name: 'x' };
    const answer = await sandbox.call('POST', '/partner/channel/integrations', { body, tenant: null });
    expect(answer.status).toBe(400);
    for (const place of ['channel_provider', 'channel_integration_type', 'channel_integration_metadata', '"name"'])
      expect(answer.body.errors?.join()).toContain(place);
    expect((await integrate('service-managed', 'email', { customDomainEnabled: 'yes' })).status).toBe(400);
    expect((await integrate('service-managed', 'email', { note: '\u0000' })).status).toBe(400);
  });
});

describe('the list of channel integrations', () => {
  it('returns all of them page by page while more are added', async () => {
    for (let i = 0; i < 3; i++) await integration('sms');
    const before = (await list('?limit=1000')).results.map(({ id }) => id);
    const seen: string[] = [];
    let page = await list('?limit=2');
    const added = await Promise.all(Array.from({ length: 5 }, () => integration('email')));
    while (true) {
      seen.push(...page.results.map(({ id }) => id));
      if (!page.pagination.hasNextPage) break;
      page = await list(`?limit=2&cursor=${page.pagination.cursor}`);
    }
    expect(seen.slice(0, before.length)).toEqual(before);
    expect(seen.slice(before.length).sort()).toEqual([...added].sort());
    expect(page.pagination).toEqual({ hasNextPage: false, cursor: null, total: seen.length });
  });

  it('has 100 entries per page if no limit, or the word null, is sent', async () => {
    await Promise.all(Array.from({ length: 101 }, () => integration('sms')));
    for (const query of ['', '?limit=null', '?limit=']) expect((await list(query)).results).toHaveLength(100);
    expect((await list('?limit=1e20')).results.length).toBeGreaterThan(100);
  });

  it('refuses a limit below 1 and a cursor that it has not issued', async () => {
    for (const query of ['?limit=0', '?limit=-1', '?cursor=MTIz'])
      expect((await sandbox.call('GET', `/partner/channel/integrations${query}`, { tenant: null })).status).toBe(400);
  });
});

describe('a channel account', () => {
  it("for email is below the platform's mail domain, which is verified", async () => {
    const id = await integration('email');
    const answer = await open(id, { type: 'service-managed', domainPrefix: 'News' });
    expect([answer.status, undeclared('createChannelAccount', answer)]).toEqual([200, []]);
    const baseDomain = expect.stringMatching(/^news\.t-[0-9a-f]{12}\.mail\.sandbox\.example$/) as string;
    expect(answer.body.data).toEqual({
      id: expect.any(String) as string,
      name: baseDomain,
      createdAt: expect.stringMatching(/Z$/) as string,
      channelAccountMetadata: {
        type: 'service-managed',
        baseDomain,
        dkimVerified: true,
        dmarcVerified: true,
        verifiedReturnPath: true,
      },
    });
  });

  it('is not verified yet if the integration lets tenants use their own domain', async () => {
    const id = await integration('email', { customDomainEnabled: true });
    expect((await open(id, { domainPrefix: 'news' })).body.data['channelAccountMetadata']).toMatchObject({
      dkimVerified: false,
      dmarcVerified: false,
      verifiedReturnPath: false,
    });
  });

  it('for SMS has no domain', async () => {
    const id = await integration('sms');
    expect((await open(id, {})).body.data['channelAccountMetadata']).toEqual({ type: 'service-managed' });
    const refused = await open(id, { domainPrefix: 'news' }, SOUTH);
    expect([refused.status, refused.body.errors?.join()]).toEqual([400, expect.stringContaining('domainPrefix')]);
  });

  it('exists once for each tenant, integration and prefix', async () => {
    const [id, other] = [await integration('email'), await integration('email')];
    const statuses = [];
    for (const [integrationId, prefix, tenant] of [
      [id, 'a', 'north'],
      [id, 'A', 'north'],
      [id, 'b', 'north'],
      [other, 'a', 'north'],
      [id, 'a', SOUTH],
    ] as const)
      statuses.push((await open(integrationId, { domainPrefix: prefix }, tenant)).status);
    expect(statuses).toEqual([200, 409, 200, 200, 200]);
  });

  it('has a domain of its own for each tenant', async () => {
    const id = await integration('email');
    const domains = await Promise.all(
      ['north', SOUTH].map(async (tenant) => (await open(id, { domainPrefix: 'shop' }, tenant)).body.data.name),
    );
    expect(new Set(domains).size).toBe(2);
  });

  it('has a domain of its own for each tenant whose id begins like that of another', async () => {
    const tenants = [1, 2].map((n) => `0191aaaa-0000-7000-8000-00000000000${n}`);
    await loadInto(database.url, { tenants: tenants.map((id) => ({ id, name: id })) });
    const id = await integration('email');
    const domains = [];
    for (const tenant of tenants) domains.push((await open(id, { domainPrefix: 'shop' }, tenant)).body.data.name);
    expect(new Set(domains).size).toBe(2);
  });

  it('needs an integration that exists', async () => {
    for (const id of ['00000000-0000-4000-8000-000000000000', unique('x'), '\u0000'])
      expect((await open(id, { domainPrefix: 'a' })).status).toBe(404);
  });

  it.each([
    [{}, 'domainPrefix is required'],
    [{ domainPrefix: 'a.b' }, 'domainPrefix must be one label'],
    [{ domainPrefix: '-a' }, 'domainPrefix must be one label'],
    [{ domainPrefix: '' }, 'domainPrefix must be one label'],
    [{ domainPrefix: 'x'.repeat(64) }, 'domainPrefix must be one label'],
    [{ domainPrefix: 'a', type: 'external-provider' }, '/type is "external-provider"'],
    [{ domainPrefix: 'a', note: '\u0000' }, 'U+0000'],
    [{ domainPrefix: 7 }, 'body/channelAccountMetadata/domainPrefix must be string'],
  ])('for email refuses %j, naming the place', async (metadata, place) => {
    const { status, body } = await open(await integration('email'), metadata);
    expect([status, body.errors?.join()]).toEqual([400, expect.stringContaining(place)]);
  });
});
