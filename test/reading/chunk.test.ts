/** Rows that a database sent as bytes give the same results as the same rows as texts. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Page } from '../../src/domain/source/source.js';
import { loadSync } from '../../src/mapping/load-sync.js';
import { resultsOf } from '../../src/reading/chunk.js';
import { ChunkBuilder } from '../../src/reading/chunk-builder.js';
import { prepareMapping } from '../../src/reading/prepared-mapping.js';
import { openReader } from '../../src/reading/reader.js';
import { definition, syncFolder } from '../mapping/sync-on-disk.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { ALL } from '../source/reading.js';

const ROWS = 700;
let database: Database;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(
    `CREATE TABLE orders (shop text, id bigint, number text, tenant text, gone boolean, total numeric, placed timestamptz,
       day date, paid boolean, email text, note text, PRIMARY KEY (shop, id));
     INSERT INTO orders SELECT 'Läden ' || i % 3, i,
       CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 'quoted "' || i WHEN 2 THEN 'Zoë ' || i WHEN 3 THEN '' ELSE 'o' || i END,
       CASE i % 13 WHEN 0 THEN 'nobody' WHEN 1 THEN NULL WHEN 2 THEN 'b' ELSE 'a' END,
       i % 17 = 0, ((i - 50) * (i % 100) / 100.0)::numeric(12, 2), '2010-01-30 08:26:00Z'::timestamptz + i * interval '1.37 days',
       CASE WHEN i % 19 = 0 THEN 'infinity'::date ELSE DATE '2012-02-27' + i END, i % 2 = 0,
       CASE WHEN i % 7 = 0 THEN 'no address' ELSE 'A' || i || '@Example.ORG' END,
       CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN E'line\\nline' WHEN 3 THEN '😀' ELSE repeat('long ', i) END
     FROM generate_series(1, ${ROWS}) i`,
  );
});
afterAll(() => database.drop());

it('gives the same records, keys, tenants and dead letters', async () => {
  const folder = syncFolder({
    'sync.yaml':
      'source:\n  client: pg\n  connection: ${env:SHOP_URL}\ntenant: { column: tenant, values: { a: tenant-a, b: tenant-b } }\n',
    'people.mapping.yaml': null,
    'person.schema.json': null,
    'orders.mapping.yaml': `schema: order
source: { table: orders }
key: [shop, id]
cursor: { column: placed, overlap: 1m }
deletes: { column: gone, action: { set: { paid: false } } }
fields:
  orderId: number
  total: total
  placed: placed
  day: { column: day, omitNull: true }
  paid: paid
  email: { column: email, transforms: [lowercase] }
  shout: { column: email, transforms: [uppercase] }
  note: { column: note, omitNull: true }
  name: { template: '{shop}-{id}' }
  source: { constant: shop }
`,
    'order.schema.json': definition(
      'order',
      {
        orderId: { type: 'string' },
        total: { type: 'number' },
        placed: { type: 'string', format: 'date-time' },
        day: { type: 'string', format: 'date' },
        paid: { type: 'boolean' },
        email: { type: 'string', format: 'email' },
        shout: { type: 'string' },
        note: { type: 'string' },
        name: { type: 'string', minLength: 1 },
        source: { type: 'string' },
      },
      ['orderId'],
    ),
  });
  const { spec } = await loadSync(folder, 'shop', { SHOP_URL: database.url });
  if (spec.tenant.kind === 'table') throw new Error('the list of tenants is in the file');
  const reading = prepareMapping(spec.mappings[0]!, spec.tenant);
  const { source } = openReader(spec.source);
  onTestFinished(() => source.close());
  const page = await source.readPage(reading.plan, ALL, ROWS);
  expect(page.rows.inBytes).toBeTypeOf('function');

  const mapped = (rows: Page['rows']) => {
    const chunk = new ChunkBuilder('1');
    chunk.add({ ...page, rows }, reading, 1);
    return resultsOf(chunk.finish('2')).map((result) =>
      result.kind === 'failed' ? result : { ...plainly(result), sourceKey: [...result.sourceKey] },
    );
  };

  const ofTexts = mapped([...page.rows]);
  expect(ofTexts.length).toBe(ROWS);
  expect(mapped(page.rows)).toEqual(ofTexts);
  expect(ofTexts.filter((result) => 'json' in result).length).toBeGreaterThan(ROWS / 4);
  expect(ofTexts.filter((result) => 'code' in result).length).toBeGreaterThan(ROWS / 8);
});

const plainly = ({
  tenant,
  externalId,
  json,
  contentHash,
  deletion,
}: Record<'tenant' | 'externalId' | 'json' | 'contentHash', string> & { readonly deletion?: string | undefined }) => ({
  tenant,
  externalId,
  json,
  contentHash,
  deletion,
});
