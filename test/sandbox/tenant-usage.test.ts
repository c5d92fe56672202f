/** 4.1: usage per tenant. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadInto } from '../../src/sandbox/fixture/load.js';
import type { Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import { createDatabase, startForTest, undeclared, type Answer, type TestDatabase } from './running-sandbox.js';

type Tenant = Fixture['tenants'][number];
type Send = NonNullable<Tenant['sends']>[number];

const send = (id: string, channel: Send['channel'], messages: number, sentAt: string): Send => ({
  id,
  channel,
  messages,
  sentAt,
});
const automation = (id: string, status: string, triggerType: string) => ({
  id,
  name: id,
  status,
  automationType: 'managed',
  triggerMetadata: { triggerType },
  actionData: [],
  createdAt: '2026-01-01T00:00:00Z',
});

/** One tenant for each reason to be listed, and some for none. */
const TENANTS: Tenant[] = [
  { id: 'onboarded', name: 'Onboarded', externalId: 'x-1', onboardedAt: '2026-01-01T00:00:00Z' },
  {
    id: 'sender',
    name: 'Sender',
    sends: [
      send('march', 'email', 100, '2026-03-31T23:59:59.999Z'),
      send('april', 'email', 40, '2026-04-01T00:00:00Z'),
      send('april-sms', 'sms', 7, '2026-04-30T12:00:00Z'),
      send('may', 'sms', 3, '2026-05-01T00:00:00+02:00'),
    ],
  },
  {
    id: 'broadcaster',
    name: 'Broadcaster',
    automations: [automation('b-1', 'draft', 'one_time'), automation('b-2', 'draft', 'inactivity')],
  },
  {
    id: 'automated',
    name: 'Automated',
    automations: [
      automation('a-1', 'active', 'inactivity'),
      automation('a-2', 'active', 'one_time'),
      automation('a-3', 'paused', 'one_time'),
    ],
  },
  {
    id: 'numbered',
    name: 'Numbered',
    phoneNumbers: [
      { number: '+12025550101', sms: true, voice: true },
      { number: '+12025550102', sms: true, voice: false },
      { number: '+12025550103', sms: false, voice: true },
    ],
  },
  { id: 'voice-only', name: 'Voice only', phoneNumbers: [{ number: '+12025550104', sms: false, voice: true }] },
  { id: 'drafting', name: 'Drafting', automations: [automation('d-1', 'draft', 'inactivity')] },
  { id: 'nothing', name: 'Nothing' },
];

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('tenant-usage');
  sandbox = await startForTest(database, {}, { tenants: TENANTS });
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

interface Usage {
  readonly results: { readonly tenantId: string; readonly [count: string]: unknown }[];
  readonly pagination: { readonly hasNextPage: boolean; readonly cursor: string | null; readonly total: number };
}
const list = (query = ''): Promise<Answer> => sandbox.call('GET', `/partner/engage/tenants${query}`, { tenant: null });
const usage = async (query = ''): Promise<Usage> => (await list(query)).body.data as unknown as Usage;
const row = async (tenantId: string, query = '') =>
  (await usage(query)).results.find((result) => result.tenantId === tenantId);

describe('usage of tenants', () => {
  it('lists a tenant that was onboarded, has sent, has a broadcast, an active automation or an SMS number', async () => {
    const { results, pagination } = await usage();
    expect(results.map(({ tenantId }) => tenantId)).toEqual([
      'sender',
      'automated',
      'broadcaster',
      'numbered',
      'onboarded',
    ]);
    expect(pagination).toEqual({ hasNextPage: false, cursor: null, total: 5 });
  });

  it('counts stored sends, active automations and SMS numbers', async () => {
    const answer = await list();
    expect(undeclared('listTenantUsage', answer)).toEqual([]);
    expect(await row('sender')).toEqual({
      tenantId: 'sender',
      tenantExternalId: null,
      tenantName: 'Sender',
      emailsSent: 140,
      smsSent: 10,
      totalSends: 150,
      activeAutomations: 0,
      smsNumberCount: 0,
    });
    expect(await row('automated')).toMatchObject({ activeAutomations: 2, totalSends: 0 });
    expect(await row('numbered')).toMatchObject({ smsNumberCount: 2 });
    expect(await row('onboarded')).toMatchObject({ tenantExternalId: 'x-1', tenantName: 'Onboarded' });
  });

  it('counts only sends within the range of dates, including both ends', async () => {
    expect(await row('sender', '?startDate=2026-04-01&endDate=2026-04-30')).toMatchObject({
      // "may" was sent on the 30th of April in UTC.
      emailsSent: 40,
      smsSent: 10,
      totalSends: 50,
    });
    expect(await row('sender', '?endDate=2026-03-31')).toMatchObject({ emailsSent: 100, smsSent: 0 });
    expect(await row('sender', '?startDate=2026-04-30T12:00:00Z&endDate=2026-04-30T12:00:00Z')).toMatchObject({
      emailsSent: 0,
      smsSent: 7,
    });
  });

  it('does not apply the range to automations, numbers and which tenants are listed', async () => {
    const { results } = await usage('?startDate=2020-01-01&endDate=2020-12-31');
    expect(results.map(({ tenantId }) => tenantId).sort()).toEqual([
      'automated',
      'broadcaster',
      'numbered',
      'onboarded',
      'sender',
    ]);
    expect(results.find(({ tenantId }) => tenantId === 'automated')).toMatchObject({ activeAutomations: 2 });
    expect(results.find(({ tenantId }) => tenantId === 'sender')).toMatchObject({ totalSends: 0 });
  });

  it('accepts the first and the last day that can be written', async () => {
    expect(await row('sender', '?startDate=0000-01-01&endDate=9999-12-31')).toMatchObject({ totalSends: 150 });
  });

  it('treats an empty date or the word null as no date', async () => {
    expect(await row('sender', '?startDate=null&endDate=')).toMatchObject({ totalSends: 150 });
  });

  it.each([
    ['?startDate=yesterday', /query\/startDate/],
    ['?startDate=2026-02-30', /query\/startDate/],
    ['?endDate=2026-04-01T10:00', /query\/endDate/],
    ['?endDate=2016-12-31T23:59:60Z', /query\/endDate/],
    ['?startDate=2026-05-01&endDate=2026-04-01', /endDate "2026-04-01" is before startDate "2026-05-01"/],
    ['?limit=0', /query\/limit/],
    ['?limit=101', /query\/limit/],
    ['?limit=1.5', /query\/limit/],
    ['?limit=many', /query\/limit/],
  ])('refuses %s with 400 in the error envelope, and names the place', async (query, place) => {
    const { status, body } = await list(query);
    expect([status, body.success]).toEqual([400, false]);
    expect(body.errors?.join()).toMatch(place);
  });

  it('has 25 tenants per page by default, and up to 100', async () => {
    const many = await createDatabase('tenant-usage-many');
    const tenants = Array.from({ length: 101 }, (_, i) => ({
      id: `t-${i}`,
      name: `Tenant ${i}`,
      onboardedAt: '2026-01-01T00:00:00Z',
    }));
    const server = await startForTest(many, {}, { tenants });
    const page = async (query: string) =>
      (await server.call('GET', `/partner/engage/tenants${query}`, { tenant: null })).body.data as unknown as Usage;
    const [standard, largest] = [await page(''), await page('?limit=100')];
    await server.close();
    await many.drop();
    expect([standard.results.length, largest.results.length]).toEqual([25, 100]);
    expect(standard.pagination).toMatchObject({ hasNextPage: true, total: 101 });
  });

  it('returns all pages by cursor, whatever their size', async () => {
    const whole = (await usage()).results;
    for (const limit of [1, 2, 3, 4]) {
      const seen: Usage['results'] = [];
      let page = await usage(`?limit=${limit}`);
      seen.push(...page.results);
      while (page.pagination.hasNextPage) {
        expect(page.results).toHaveLength(limit);
        page = await usage(`?limit=${limit}&cursor=${page.pagination.cursor}`);
        seen.push(...page.results);
      }
      expect(seen).toEqual(whole);
    }
  });

  it('neither repeats nor skips a tenant if sends change the ranking between two pages', async () => {
    const race = await createDatabase('tenant-usage-race');
    const tenant = (id: string, messages: number): Tenant => ({
      id,
      name: id,
      sends: [send('first', 'email', messages, '2026-01-01T00:00:00Z')],
    });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const tenants = names.map((id, i) => tenant(id, 600 - i * 100));
    const server = await startForTest(race, {}, { tenants });
    const page = async (cursor: string | null) =>
      (
        await server.call('GET', `/partner/engage/tenants?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`, {
          tenant: null,
        })
      ).body.data as unknown as Usage;
    const pages = [await page(null)];
    // The last of the ranking becomes the first, a new tenant comes in at the top, another one sends for the first time.
    const overtaking = [
      { ...tenant('f', 100), sends: [send('second', 'sms', 9_000, '2026-01-02T00:00:00Z')] },
      tenant('new', 8_000),
    ];
    await loadInto(race.url, { tenants: overtaking });
    while (pages.at(-1)!.pagination.hasNextPage) pages.push(await page(pages.at(-1)!.pagination.cursor));
    const after = await page(null);
    await server.close();
    await race.drop();
    expect(pages.flatMap(({ results }) => results.map(({ tenantId, totalSends }) => [tenantId, totalSends]))).toEqual(
      names.map((id, i) => [id, 600 - i * 100]),
    );
    expect(after.results.map(({ tenantId }) => tenantId)).toEqual(['f', 'new']);
  });

  it('refuses a cursor that was changed, or that another list has issued', async () => {
    const { cursor } = (await usage('?limit=1')).pagination;
    const changed = `${cursor!.slice(0, -2)}AA`;
    for (const query of [
      `?limit=1&cursor=${changed}`,
      `?limit=1&cursor=${cursor!.slice(5)}`,
      '?cursor=x',
      `?startDate=2026-01-01&cursor=${cursor}`,
    ]) {
      const { status, body } = await list(query);
      expect([status, body.message], query).toEqual([400, expect.stringContaining('cursor')]);
    }
    expect((await list(`?limit=3&cursor=${cursor}`)).status).toBe(200);
  });
});
