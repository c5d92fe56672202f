/** 4.16: aggregates of voice calls per tenant. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadInto } from '../../src/sandbox/fixture/load.js';
import type { Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import { createDatabase, startForTest, undeclared, type Answer, type TestDatabase } from './running-sandbox.js';

type Tenant = Fixture['tenants'][number];
type Call = NonNullable<Tenant['calls']>[number];

const call = (id: string, startedAt: string, more: Partial<Call> = {}): Call => ({
  id,
  startedAt,
  durationSecs: 60,
  transferred: false,
  costCents: 2.5,
  ...more,
});
const TENANTS: Tenant[] = [
  {
    id: 'clinic',
    name: 'Clinic',
    externalId: 'c-1',
    calls: [
      call('c-1', '2026-03-31T23:59:59Z', { durationSecs: 100, transferred: true, sentiment: 'positive' }),
      call('c-2', '2026-04-01T08:00:00Z', { durationSecs: 50, costCents: 1.25, sentiment: 'negative' }),
      call('c-3', '2026-04-02T08:00:00Z', { durationSecs: 51, costCents: 0, sentiment: 'positive' }),
      call('c-4', '2026-04-03T08:00:00Z', { durationSecs: 0, costCents: 0 }),
    ],
  },
  { id: 'gym', name: 'Gym', calls: [call('g-1', '2026-04-15T10:00:00Z', { sentiment: 'neutral' })] },
  { id: 'quiet', name: 'Quiet' },
];

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('voice-aggregates');
  sandbox = await startForTest(database, {}, { tenants: TENANTS });
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

interface Aggregates {
  readonly results: { readonly tenantName: string; readonly [name: string]: unknown }[];
  readonly pagination: { readonly hasNextPage: boolean; readonly cursor: string | null; readonly total: number };
}
const list = (query = '', tenant: string | null = null): Promise<Answer> =>
  sandbox.call('GET', `/partner/voice/calls/aggregates${query}`, { tenant });
const aggregates = async (query = '', tenant: string | null = null): Promise<Aggregates> =>
  (await list(query, tenant)).body.data as unknown as Aggregates;
const names = ({ results }: Aggregates): string[] => results.map(({ tenantName }) => tenantName);

describe('aggregates of voice calls', () => {
  it('are computed from the stored calls of each tenant that has any', async () => {
    const answer = await list();
    expect(undeclared('listVoiceAggregates', answer)).toEqual([]);
    expect(answer.body.data).toEqual({
      results: [
        {
          tenantExternalId: 'c-1',
          tenantName: 'Clinic',
          totalCalls: 4,
          transferredCount: 1,
          totalDurationSecs: 201,
          avgDurationSecs: 50.25,
          totalCostCents: 3.75,
          sentimentPositive: 2,
          sentimentNegative: 1,
          sentimentNeutral: 0,
        },
        {
          tenantExternalId: null,
          tenantName: 'Gym',
          totalCalls: 1,
          transferredCount: 0,
          totalDurationSecs: 60,
          avgDurationSecs: 60,
          totalCostCents: 2.5,
          sentimentPositive: 0,
          sentimentNegative: 0,
          sentimentNeutral: 1,
        },
      ],
      pagination: { hasNextPage: false, cursor: null, total: 2 },
    });
  });

  it('count only calls within the range of dates, including both ends', async () => {
    const april = await aggregates('?startDate=2026-04-01&endDate=2026-04-03');
    expect(names(april)).toEqual(['Clinic']);
    expect(april.results[0]).toMatchObject({ totalCalls: 3, totalDurationSecs: 101, avgDurationSecs: 33.67 });
    expect(names(await aggregates('?startDate=2026-04-15T10:00:00Z'))).toEqual(['Gym']);
    expect(names(await aggregates('?endDate=2026-03-30'))).toEqual([]);
  });

  it('are limited to one tenant by the header', async () => {
    expect(names(await aggregates('', 'gym'))).toEqual(['Gym']);
    expect((await aggregates('', 'gym')).pagination.total).toBe(1);
    expect(names(await aggregates('', 'quiet'))).toEqual([]);
  });

  it('refuse a header with an unknown tenant or without one', async () => {
    expect((await list('', 'nobody')).status).toBe(403);
    expect((await list('', 'no such')).status).toBe(400);
  });

  it('list each tenant once by cursor while calls are added', async () => {
    const first = await aggregates('?limit=1');
    expect([names(first), first.pagination.hasNextPage]).toEqual([['Clinic'], true]);
    // One that sorts before the cursor, and one behind it.
    const added = ['alpha', 'zoo'].map((id) => ({ id, name: id, calls: [call('x', '2026-05-01T00:00:00Z')] }));
    await loadInto(database.url, { tenants: [...TENANTS, ...added] });
    const second = await aggregates(`?limit=1&cursor=${first.pagination.cursor}`);
    const third = await aggregates(`?limit=1&cursor=${second.pagination.cursor}`);
    expect([...names(second), ...names(third), third.pagination.hasNextPage]).toEqual(['Gym', 'zoo', false]);
  });

  it("refuse a cursor of another tenant's list", async () => {
    const { cursor } = (await aggregates('?limit=1')).pagination;
    expect((await list(`?limit=1&cursor=${cursor}`, 'gym')).status).toBe(400);
  });

  it.each(['?limit=0', '?limit=101', '?startDate=soon', '?startDate=2026-02-01&endDate=2026-01-01'])(
    'refuse %s with 400',
    async (query) => expect((await list(query)).status).toBe(400),
  );
});
