/** A sync with few rows beside one that fills the worker and its connections for minutes: it is not kept waiting for that. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunReport } from '../../src/domain/run/run.js';
import { eventually, shopForTest, text } from './shop.js';

/** More than a worker has room for: each of them needs an activity slot. */
const LARGE_MAPPINGS = 20;
const LARGE_ROWS = 4_000;
const SMALL_ROWS = 10;

const SCHEMA = JSON.stringify({
  name: 'customer',
  category: 'custom_schema',
  externalIdField: 'customerId',
  schema: { type: 'object', properties: { customerId: text }, required: ['customerId'], additionalProperties: false },
});
const mapping = (table: string, prefix: string): string => `schema: customer
source: { table: shop.${table} }
key: [id]
fields: { customerId: { template: '${prefix}-{id}' } }
`;
const sync = (tenant: string): string => `source: { connection: '\${env:SOURCE_URL}' }
tenant: ${tenant}
upload: { batchSize: 100, requestsAtOnce: 32, waitForPending: 1s }
`;
const numbers = Array.from({ length: LARGE_MAPPINGS }, (_, i) => i + 1);
const LARGE = {
  'sync.yaml': sync('north'),
  'customer.schema.json': SCHEMA,
  ...Object.fromEntries(numbers.map((no) => [`m${no}.mapping.yaml`, mapping('large', `m${no}`)])),
};
const SMALL = {
  'sync.yaml': sync('south'),
  'customer.schema.json': SCHEMA,
  'few.mapping.yaml': mapping('small', 'few'),
};
const SOURCE = `
  CREATE SCHEMA shop;
  CREATE TABLE shop.large AS SELECT i AS id FROM generate_series(1, ${LARGE_ROWS}) i;
  CREATE TABLE shop.small AS SELECT i AS id FROM generate_series(1, ${SMALL_ROWS}) i;
  ALTER TABLE shop.large ADD PRIMARY KEY (id); ALTER TABLE shop.small ADD PRIMARY KEY (id); ANALYZE;`;

it('completes while the large one has most of its work before it', async () => {
  const shop = await shopForTest({
    other: {
      files: LARGE,
      load: { name: 'beside-a-large-sync', fill: async (source) => void (await source.query(SOURCE)) },
    },
  });
  const folder = join(shop.folder, 'small');
  mkdirSync(folder);
  for (const [file, content] of Object.entries(SMALL)) writeFileSync(join(folder, file), content);
  // Each request of the large one takes so long that what is begun is not finished within minutes.
  shop.proxy.fail(({ tenant }) => (tenant === 'north' ? { forward: true, answer: 'pass', after: 2_000 } : undefined));
  const uploads = (tenant: string) => shop.proxy.requests.filter((each) => each.upload && each.tenant === tenant);
  const begun = () => new Set(uploads('north').map(({ body }) => /"m(\d+)-/.exec(body)![1]));
  const large = await shop.start('sync', { sync: 'shop', mode: 'full' });
  // By then it has waited for the load queue in vain, and has taken all the slots that it gets.
  await eventually('a third mapping is being loaded', () => Promise.resolve(begun().size > 2));

  const small = await shop.start('sync', { sync: 'small', mode: 'full' });
  const report = (await small.result()) as RunReport;

  expect(report).toMatchObject({ outcome: 'complete', total: { read: SMALL_ROWS } });
  expect(uploads('south')).toHaveLength(1);
  const { status, raw } = await large.describe();
  expect(status.name).toBe('RUNNING');
  expect(uploads('north').length).toBeLessThan((LARGE_MAPPINGS * LARGE_ROWS) / 100 / 2);
  // Two of the load queue, and as many of the common queue as one run may have.
  const started = raw.pendingActivities!.filter(({ lastStartedTime }) => lastStartedTime != null);
  expect(started.length).toBeLessThanOrEqual(6);
  await large.terminate();
});
