/** Proofs of the reports (4.1, 4.16, 4.17) and of the interface as a whole. */
import { expect } from 'vitest';
import { operationEntries } from '../../../src/platform/contract/operations.js';
import { anyNumber, anyText, textWith } from '../matchers.js';
import type { Proofs } from '../proof.js';
import { ACME, CROWD, refusalOf, type Setting } from '../setting.js';

const all = async <T>(entries: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const entry of entries) list.push(entry);
  return list;
};
const usageOf = async ({ platform }: Setting, query = {}) => {
  const rows = await all(platform.each('listTenantUsage', { query }));
  return new Map(rows.map((row) => [row.tenantId, row]));
};

export const theInterface: Proofs<'the interface'> = {
  async '4: every path is relative to the base URL, and bodies are JSON'({ raw }) {
    const { status, body } = await raw('POST', '/api/segments/count', { ...ACME, body: {} });
    expect([status, body['success']]).toEqual([200, true]);
  },
  async '7.1: an error body has message, success: false and optionally errors'({ raw }) {
    const { status, body } = await raw('GET', '/partner/engage/tenants?limit=0');
    expect([status, body]).toEqual([400, { success: false, message: anyText, errors: [textWith('limit')] }]);
  },
  async '7.2: resource and batch-upload operations may also answer with { success, message, data: { error } }'({
    raw,
    settings,
    platform,
  }) {
    const path = '/api/resources/no-such-schema/x';
    const { body } = await raw('GET', path, ACME);
    const alternative = settings.errorShape === 'alternative';
    expect(body).toEqual({
      success: false,
      message: anyText,
      ...(alternative && { data: { error: anyText } }),
    });
    const error = await refusalOf(platform.getResource('no-such-schema', 'x', {}, ACME));
    expect([error.status, error.platformMessage]).toEqual([404, textWith('no-such-schema')]);
  },
  async '9.1: the machine-readable description carries version 1.0.0'({ raw }) {
    expect((await raw('GET', '/openapi.json')).body).toMatchObject({ info: { version: '1.0.0' } });
  },
  async '9.2: paths carry no version segment'({ raw }) {
    const { paths } = (await raw('GET', '/openapi.json')).body as { paths: object };
    expect(Object.keys(paths)).toHaveLength(new Set(operationEntries.map(([, { path }]) => path)).size);
    for (const path of Object.keys(paths)) expect(path).toMatch(/^\/(api|partner)\/(?!v\d)/);
  },
};

export const listTenantUsage: Proofs<'listTenantUsage'> = {
  async '4.1: a tenant is included when it finished the onboarding wizard, has sent a message, has created a broadcast, has an active automation, or has an SMS number'(
    setting,
  ) {
    const shipped = [...(await usageOf(setting)).keys()].filter((id) => !id.startsWith('crowd-'));
    // Each of the first six has another reason; grove-gym has calls only.
    expect(shipped.sort()).toEqual([
      'acme-outdoor',
      'blue-bakery',
      'cedar-clinic',
      'dune-travel',
      'elm-garage',
      'fern-books',
    ]);
  },
  async '4.1: results are ranked by total sends'(setting) {
    const sends = [...(await usageOf(setting)).values()].map(({ totalSends }) => totalSends);
    expect(sends).toEqual([...sends].sort((a, b) => b - a));
    expect(sends[0]).toBeGreaterThan(0);
  },
  async '4.1: send counts cover the optional date range; activeAutomations and smsNumberCount are current state'(
    setting,
  ) {
    const june = (await usageOf(setting, { startDate: '2026-06-01', endDate: '2026-06-30' })).get('acme-outdoor');
    const ever = (await usageOf(setting, { startDate: null })).get('acme-outdoor');
    expect(june).toMatchObject({ emailsSent: 3756, smsSent: 656, totalSends: 4412 });
    expect(ever!.totalSends).toBeGreaterThan(4412);
    for (const row of [june, ever]) expect(row).toMatchObject({ activeAutomations: 2, smsNumberCount: 2 });
  },
  async '4.1: results and pagination are required inside data, and all fields of a usage row (2)'({ raw }) {
    const { data } = (await raw('GET', '/partner/engage/tenants')).body as { data: { results: object[] } };
    expect(data).toMatchObject({ pagination: { hasNextPage: true } });
    const fields =
      'activeAutomations emailsSent smsNumberCount smsSent tenantExternalId tenantId tenantName totalSends';
    for (const row of data.results) expect(Object.keys(row).sort().join(' ')).toBe(fields);
  },
  async '4.1, 8: limit is 1..100, default 25'({ platform }) {
    expect((await platform.listTenantUsage()).results).toHaveLength(25);
    expect((await platform.listTenantUsage({ limit: 100 })).results).toHaveLength(36);
    for (const limit of [0, 101, 1.5]) expect((await refusalOf(platform.listTenantUsage({ limit }))).status).toBe(400);
  },
  async '4: the cursor from a response is passed back in the cursor query field'(setting) {
    expect((await usageOf(setting, { limit: 7 })).size).toBe(6 + CROWD.length);
  },
  async '7.3: the usage operation answers 400 for validation or request errors'({ platform }) {
    for (const query of [{ limit: -1 }, { startDate: 'yesterday' }, { cursor: 'nonsense' }])
      expect((await refusalOf(platform.listTenantUsage(query))).status).toBe(400);
  },
  async '5.3: there is no security requirement for the usage operation'({ raw }) {
    expect((await raw('GET', '/partner/engage/tenants', { token: null })).status).toBe(200);
    expect((await raw('GET', '/partner/channel/integrations', { token: null })).status).toBe(401);
  },
};

export const listVoiceAggregates: Proofs<'listVoiceAggregates'> = {
  async '4.16: returns a row of sums per tenant, and pagination'({ platform }) {
    const { results, pagination } = await platform.listVoiceAggregates({}, ACME);
    expect(results).toEqual([
      {
        tenantExternalId: 'shop-1001',
        tenantName: 'Acme Outdoor',
        totalCalls: 14,
        transferredCount: 4,
        totalDurationSecs: 1727,
        avgDurationSecs: expect.closeTo(1727 / 14, 1) as number,
        totalCostCents: anyNumber,
        sentimentPositive: anyNumber,
        sentimentNegative: anyNumber,
        sentimentNeutral: anyNumber,
      },
    ]);
    expect(pagination.hasNextPage).toBe(false);
  },
  async '4.16, 5.2: the header service-tenant-id restricts aggregates to one tenant'({ platform }) {
    expect((await platform.listVoiceAggregates({}, { tenant: 'cedar-clinic' })).results).toMatchObject([
      { tenantName: 'Cedar Clinic', totalCalls: 9 },
    ]);
    expect((await platform.listVoiceAggregates()).results.length).toBeGreaterThan(1);
  },
  async '4.16, 8: limit is 1..100, default 25, and the cursor returns the next page'({ platform }) {
    expect((await platform.listVoiceAggregates()).results).toHaveLength(25);
    const rows = await all(platform.each('listVoiceAggregates', { query: { limit: 10 } }));
    expect(new Set(rows.map(({ tenantName }) => tenantName)).size).toBe(rows.length);
    expect(rows).toHaveLength(CROWD.length + 3);
    for (const limit of [0, 101]) expect((await refusalOf(platform.listVoiceAggregates({ limit }))).status).toBe(400);
  },
  async '4.16: startDate and endDate limit what is counted, and may be null'({ raw, platform }) {
    const one = await platform.listVoiceAggregates({ startDate: '2026-08-07', endDate: '2026-08-07' }, ACME);
    expect(one.results).toMatchObject([{ totalCalls: 1, totalDurationSecs: 95 }]);
    const open = await raw('GET', '/partner/voice/calls/aggregates?startDate=null&endDate=', ACME);
    expect(open.body).toMatchObject({ data: { results: [{ totalCalls: 14 }] } });
  },
};

export const getSmsRegistration: Proofs<'getSmsRegistration'> = {
  async '4.17: returns the SMS registration of a tenant'({ platform }) {
    expect(await platform.getSmsRegistration('acme-outdoor')).toEqual({
      id: 'acme-registration',
      status: 'approved',
      application: { brand: 'Acme Outdoor', useCase: 'marketing', monthlyVolume: 2000 },
      createdAt: textWith('2026-01-15'),
      updatedAt: textWith('2026-01-29'),
    });
  },
  async '4.17: returns null when the tenant has no SMS registration application'({ platform }) {
    expect(await platform.getSmsRegistration('blue-bakery')).toBeNull();
  },
};
