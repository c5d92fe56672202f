/** Thousands of tenants, evenly or badly skewed: full batches if rows come tenant by tenant, and always bounded memory. */
import { expect, it } from 'vitest';
import { inCampaign } from '../campaign.js';
import { recordsIn, type PassedRequest } from './platform-proxy.js';
import { shopForTest, type Shop } from './shop.js';

const TENANTS = inCampaign(2_000, 10_000);
const EVEN_ROWS = 100_000;
const SKEWED_ROWS = 5 * TENANTS;

const mapping = (table: string, key: string): string => `schema: customer
source: { table: shop.${table} }
key: ${key}
fields: { customerId: id }
`;
const FILES = {
  'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }
tenant: { column: tenant, from: { query: "SELECT 'p' || i AS value, 't' || i AS tenant FROM generate_series(1, ${TENANTS}) i", value: value, tenant: tenant } }
upload: { waitForPending: 1s }
`,
  'even.mapping.yaml': mapping('even', '[tenant, id]'),
  'skewed.mapping.yaml': mapping('skewed', '[id]'),
};
const SOURCE = `
  CREATE TABLE shop.even AS SELECT i AS id, 'p' || (i % ${TENANTS} + 1) AS tenant FROM generate_series(1, ${EVEN_ROWS}) i;
  -- Nine rows of ten belong to one tenant; the others are spread over all the rest, one after the other.
  CREATE TABLE shop.skewed AS SELECT i AS id, 'p' || (CASE WHEN i % 10 > 0 THEN 1 ELSE i / 10 + 1 END) AS tenant
    FROM generate_series(1, ${SKEWED_ROWS}) i;
  ALTER TABLE shop.even ADD PRIMARY KEY (tenant, id); ALTER TABLE shop.skewed ADD PRIMARY KEY (id); ANALYZE;`;

/** A platform that takes everything at once; the real one of the tests would need minutes for so many requests. */
function acceptEverything(shop: Shop): { readonly got: Map<string, number> } {
  const counts: number[] = [];
  const got = new Map<string, number>();
  shop.proxy.fail((request: PassedRequest) => {
    const answer = (data: object, status = 200) => ({
      forward: false,
      answer: { status, body: JSON.stringify({ success: true, message: 'ok', data }) },
    });
    if (request.upload) {
      const { resources } = JSON.parse(request.body) as { resources: { customerId: string }[] };
      for (const { customerId } of resources) got.set(`${request.tenant}/${customerId}`, 1);
      const batchId = `b${counts.push(recordsIn(request)) - 1}`;
      return answer({ batchId, message: 'taken', recordCount: resources.length, schemaDefinitionId: 's' }, 202);
    }
    const batchId = /batches\/(b\d+)/.exec(request.path)![1]!;
    const records = counts[Number(batchId.slice(1))]!;
    const progress = { totalRecords: records, processedRecords: records, successfulRecords: records };
    const time = new Date().toISOString();
    return answer({
      batchId,
      progress: { ...progress, pendingRecords: 0, failedRecords: 0, successRate: 1 },
      completedAt: time,
      startedAt: time,
      createdAt: time,
      schemaName: 'customer',
      schemaDefinitionId: 's',
      errors: { recordErrors: [] },
      pendingResources: [],
    });
  });
  return { got };
}

it(`delivers the rows of ${TENANTS} tenants, each to its own, with a bounded number in flight`, async () => {
  const shop = await shopForTest({ files: FILES });
  await shop.source.query(SOURCE);
  const { got } = acceptEverything(shop);
  let most = 0;
  const watch = setInterval(() => {
    void shop.state
      .query<{ n: number }>(
        `SELECT coalesce(sum(records), 0)::int AS n FROM partner_sync.batches WHERE state IN ('intended', 'sent')`,
      )
      .then(([row]) => (most = Math.max(most, row!.n)))
      .catch(() => undefined);
  }, 200);

  const even = await shop.run({ mappings: ['even'] });
  const requestsEven = shop.proxy.uploads();
  shop.proxy.forget();
  const evenRows = await shop.source.query<{ id: number; tenant: string }>('TABLE shop.even');
  expect(even).toMatchObject({ outcome: 'complete', total: { read: EVEN_ROWS, accepted: EVEN_ROWS } });
  expect(got.size).toBe(EVEN_ROWS);
  expect(evenRows.filter(({ id, tenant }) => !got.has(`${tenant.replace('p', 't')}/${id}`))).toEqual([]);
  // Tenant by tenant: hardly more requests than tenants.
  expect(requestsEven).toBeLessThan(1.01 * TENANTS);

  got.clear();
  const skewed = await shop.run({ mappings: ['skewed'] });
  clearInterval(watch);
  const skewedRows = await shop.source.query<{ id: number; tenant: string }>('TABLE shop.skewed');
  expect(skewed).toMatchObject({ outcome: 'complete', total: { read: SKEWED_ROWS, accepted: SKEWED_ROWS } });
  expect(got.size).toBe(SKEWED_ROWS);
  expect(skewedRows.filter(({ id, tenant }) => !got.has(`${tenant.replace('p', 't')}/${id}`))).toEqual([]);
  // One tenant's rows fill their batches; each of the others needs one.
  expect(shop.proxy.uploads()).toBeLessThan(SKEWED_ROWS / 10 + (SKEWED_ROWS * 0.9) / 500 + 20);
  // Three chunks, each of less than 16,000 rows and the page that fills it, and not the table.
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(3 * 18_000);
});
