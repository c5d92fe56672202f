/** `reconcile` reads both sides once if they agree, and otherwise reports every difference by its kind. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { OpenSync } from '../../src/delivery/dependencies.js';
import type { Difference } from '../../src/inspection/differences.js';
import { reconcileMapping, type Reconciliation } from '../../src/inspection/reconcile-mapping.js';
import { composeView } from '../../src/composition/compose.js';
import type { CommonParts } from '../../src/composition/parts.js';
import { runInProcess } from '../cli/in-process.js';
import { openShop, SYNC, type Shop } from './shop.js';

const ROWS = 12_000;
/** Ids that have nothing to do with the key, and one for all shops. */
const FILES = {
  'lines.mapping.yaml': `schema: line
source: { table: shop.lines }
key: [order_no, line]
fields: { lineId: sku }
`,
  'line.schema.json': JSON.stringify({
    name: 'line',
    category: 'custom_schema',
    externalIdField: 'lineId',
    schema: { type: 'object', properties: { lineId: { type: 'string' } }, required: ['lineId'] },
  }),
};

let shop: Shop;
let view: CommonParts;
beforeAll(async () => {
  shop = await openShop({ files: FILES, upload: { batchSize: 500 } });
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'Customer ' || i, 'A' FROM generate_series(1, ${ROWS}) i`,
  );
  await shop.source.query(
    `INSERT INTO shop.lines (order_no, line, sku) SELECT 'o' || i, 1, md5(i::text) FROM generate_series(1, ${ROWS}) i`,
  );
  await shop.work();
  expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
  await shop.rest();
  view = composeView(shop.env);
  await shop.source.query(`CREATE SCHEMA kept; CREATE TABLE kept.customers AS TABLE shop.customers;
    CREATE TABLE kept.lines AS TABLE shop.lines`);
});
afterAll(async () => {
  await view.close();
  await shop.close();
});
beforeEach(async () => {
  await shop.source.query(`TRUNCATE shop.customers, shop.lines; INSERT INTO shop.customers TABLE kept.customers;
    INSERT INTO shop.lines TABLE kept.lines`);
});

interface Reconciled extends Reconciliation {
  /** Rows that were read, again ones too. */
  readonly rowsRead: number;
  readonly told: readonly Difference[];
}

/** By way of the parts that only look, with the readings counted. */
async function reconcile(
  mapping: string,
  readBack: 'all' | number | 'none' = 'none',
  seed = 'test',
): Promise<Reconciled> {
  const sync = await view.openSync(SYNC);
  let rowsRead = 0;
  const counted: OpenSync = {
    ...sync,
    source: {
      ...sync.source,
      async readPage(...args) {
        const page = await sync.source.readPage(...args);
        rowsRead += page.rows.length;
        return page;
      },
    },
  };
  const told: Difference[] = [];
  const views = { ledger: await view.ledger(), platform: await view.platform() };
  const tell = (difference: Difference): void => void told.push(difference);
  const result = await reconcileMapping(views, counted, await sync.mapping(mapping), { readBack, seed, tell });
  return { ...result, rowsRead, told };
}

const tellings = ({ told }: Reconciled): string[] =>
  told.map((d) => [d.kind, d.tenant, d.externalId, d.key?.join('/') ?? '-', d.what].join(' | ')).sort();

it.each(['customers', 'lines'])('reads every row of %s once if all agree', async (mapping) => {
  expect(await reconcile(mapping)).toMatchObject({
    rows: ROWS,
    equal: ROWS,
    stale: 0,
    missing: 0,
    extra: 0,
    rowsRead: ROWS,
    ranges: { read: 3, agree: 3, differing: [] },
  });
});

it('finds what is missing, stale and extra, reading again only the key ranges that they are in', async () => {
  await shop.source.query(`UPDATE shop.customers SET name = 'Changed' WHERE id = 7000;
    DELETE FROM shop.customers WHERE id = 7001;
    INSERT INTO shop.customers (id, name, status) VALUES (-3, 'New', 'A');
    UPDATE shop.customers SET status = 'unknown' WHERE id = 11000`);

  const result = await reconcile('customers');

  expect(tellings(result)).toEqual([
    'extra | north | 7001 | - | accepted, but no row gives it any more',
    'missing | north | -3 | -3 | never accepted',
    'stale | north | 7000 | 7000 | accepted with other content',
    'unmappable | north | 11000 | 11000 | /status not one of the listed values',
  ]);
  expect(result).toMatchObject({ rows: ROWS, equal: ROWS - 3, stale: 1, missing: 1, extra: 1, unmappable: 1 });
  expect(result.ranges).toMatchObject({ read: 3, agree: 0 });
  expect(result.ranges.differing.map((r) => [r.after, r.differences])).toEqual([
    [null, 1],
    [expect.anything(), 1],
    [expect.anything(), 1],
  ]);
  // All once, and three of them again at most.
  expect(result.rowsRead).toBeLessThanOrEqual(2 * ROWS);

  await shop.source.query(`DELETE FROM shop.customers WHERE id = -3; UPDATE shop.customers SET status = 'A'`);
  const less = await reconcile('customers');
  expect(less).toMatchObject({ rows: ROWS - 1, equal: ROWS - 2, stale: 1, extra: 1 });
  expect(less.ranges.differing).toEqual([expect.objectContaining({ rows: less.rowsRead - less.rows, differences: 1 })]);
});

it('finds differences among unordered ids', async () => {
  await shop.source.query(`UPDATE shop.lines SET sku = 'other' WHERE order_no = 'o5'`);
  const [{ id }] = (await shop.source.query<{ id: string }>(`SELECT md5('5') AS id`)) as [{ id: string }];

  const result = await reconcile('lines');

  expect(tellings(result)).toEqual([
    `extra | north | ${id} | - | accepted, but no row gives it any more`,
    'missing | north | other | o5/1 | never accepted',
  ]);
});

it('finds a record that now belongs to another tenant, even if its content is the same', async () => {
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id IN (20, 9000)`);

  expect(tellings(await reconcile('customers'))).toEqual([
    'extra | north | 20 | - | accepted, but no row gives it any more',
    'extra | north | 9000 | - | accepted, but no row gives it any more',
    'missing | south | 20 | 20 | never accepted',
    'missing | south | 9000 | 9000 | never accepted',
  ]);
});

it('reports rows that share one record on the platform', async () => {
  await shop.source.query(`UPDATE shop.lines SET sku = md5('8') WHERE order_no = 'o9'`);

  const kinds = (await reconcile('lines')).told.map((d) => d.kind);

  expect(kinds.sort()).toEqual(['duplicate', 'extra']);
});

it('finds everything missing if nothing was ever sent, table by table', async () => {
  const result = await reconcile('orders');
  expect(result).toMatchObject({ rows: 0, equal: 0, ranges: { read: 0 } });

  await shop.source.query(`INSERT INTO shop.orders (no, total) SELECT 'o' || i, 1 FROM generate_series(1, 6000) i`);
  expect(await reconcile('orders')).toMatchObject({ rows: 6000, equal: 0, missing: 6000 });
  expect((await reconcile('orders')).examples).toHaveLength(5);
  await shop.source.query('TRUNCATE shop.orders');
});

it('samples as many records as requested from the whole table, the same ones for the same seed', async () => {
  const drawn = async (seed: string): Promise<number[]> => {
    shop.proxy.forget();
    expect(await reconcile('customers', 60, seed)).toMatchObject({ rows: ROWS, equal: ROWS, readBack: 60 });
    return shop.proxy.requests.map((r) => Number(/customer\/(\d+)/.exec(r.path)![1])).sort((a, b) => a - b);
  };
  const first = await drawn('a');
  expect(first).toHaveLength(60);
  expect(await drawn('a')).toEqual(first);
  expect(await drawn('b')).not.toEqual(first);
  expect(new Set(first.map((id) => Math.floor((id - 1) / 4000))).size).toBe(3);
});

it('reads every record from the platform, and trusts it rather than the accepted hash', async () => {
  await shop.source.query(`DELETE FROM shop.customers WHERE id > 300`);
  const body = JSON.stringify({ resources: [{ customerId: '7', name: 'By somebody else' }] });
  const own = await shop.parts.platform();
  await own.uploadResources('customer', body, { onconflict: 'upsert' }, { tenant: 'north' });
  await shop.store.query(
    `DELETE FROM sandbox.resources WHERE external_id = '8' AND schema_id = (SELECT id FROM sandbox.schema_definitions WHERE name = 'customer')`,
  );
  await expect.poll(() => shop.stored('customer', '7')).toMatchObject({ name: 'By somebody else' });

  const result = await reconcile('customers', 'all');

  expect(tellings(result).filter((t) => !t.startsWith('extra'))).toEqual([
    'missing | north | 8 | 8 | not on the platform',
    'stale | north | 7 | 7 | field name differs on the platform',
  ]);
  expect(result).toMatchObject({ rows: 300, equal: 298, readBack: 300, extra: ROWS - 300 });
});

it('writes all differences to a file, shows a few of them, and exits with 1', async () => {
  await shop.source.query(`UPDATE shop.customers SET name = 'x' WHERE id <= 40`);
  const file = join(shop.folder, 'list.jsonl');

  const { code, stdout } = await runInProcess(
    ['reconcile', SYNC, '--mapping', 'customers', '--out', file, '--json'],
    shop.env,
  );

  expect(code).toBe(1);
  const result = JSON.parse(stdout) as { agree: boolean; mappings: Reconciliation[] };
  expect(result).toMatchObject({ agree: false, mappings: [{ stale: 40, ranges: { read: 3, agree: 2 } }] });
  expect(result.mappings[0]!.examples).toHaveLength(5);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(40);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    mapping: 'customers',
    kind: 'stale',
    tenant: 'north',
    externalId: '1',
  });
});

it.each([
  [['--read-back', 'sample'], 2, 'needs a number'],
  [['--read-back', 'sample', '20', '--seed', 'x'], 0, '--read-back sample 20 --seed x'],
  [['--read-back', '20'], 0, '--read-back sample 20 --seed '],
  [['--out', '/no/such/folder/list.jsonl'], 2, 'cannot be written (ENOENT)'],
])('reconcile shop %j exits with %i', async (flags, code, says) => {
  const ended = await runInProcess(['reconcile', SYNC, '--mapping', 'customers', ...flags], shop.env);
  expect(ended.stdout + ended.stderr).toContain(says);
  expect(ended.code).toBe(code);
});
