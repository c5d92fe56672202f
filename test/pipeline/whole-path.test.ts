/** The whole path on a small shop: the source's rows are on the platform, and nothing is sent twice. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fill, openShop, type Shop } from './shop.js';

const CUSTOMERS = 350;

describe('a shop of customers, orders and order lines', () => {
  let shop: Shop;

  beforeAll(async () => {
    // Slow enough that a child's upload would overtake its parent's if it did not wait.
    shop = await openShop({ sandbox: { processingDelay: 150 } });
    await fill(shop, CUSTOMERS);
    await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id > 300`);
    await shop.source.query(`UPDATE shop.orders SET shop = 's' WHERE customer_id > 300`);
    await shop.source.query(`UPDATE shop.lines SET shop = 's' WHERE substr(order_no, 2)::int > 300`);
    await shop.work();
  });
  afterAll(() => shop.close());

  it('arrives completely, parents before children, with counts that add up', async () => {
    const report = await shop.run();

    const all = { read: CUSTOMERS, accepted: CUSTOMERS, unchanged: 0, waiting: 0, deadLettered: 0 };
    expect(report).toMatchObject({ outcome: 'complete', total: { ...all, read: 1050, accepted: 1050 } });
    expect(report.mappings.map((m) => m.mapping)).toEqual(['customers', 'orders', 'lines']);
    for (const mapping of report.mappings) expect(mapping).toMatchObject(all);

    const batches = await shop.state.query<{ schema: string; tenant_id: string; first: Date; last: Date; n: string }>(
      `select s.name as schema, min(b.created_at) as first, max(b.completed_at) as last, sum(b.total) as n
         from sandbox.batches b join sandbox.schema_definitions s on s.id = b.schema_id group by 1 order by 2`,
    );
    expect(batches.map((b) => b.schema)).toEqual(['customer', 'order', 'line']);
    for (const [i, child] of batches.slice(1).entries())
      expect(child.first.getTime(), `${child.schema} after its parents`).toBeGreaterThanOrEqual(
        batches[i]!.last.getTime(),
      );
    expect(await shop.differences()).toBe(0);
  });

  it('keeps tenants apart', async () => {
    const rows = await shop.state.query<{ tenant_id: string; wrong: string }>(
      `select tenant_id, count(*) filter (where (tenant_id = 'south') is distinct from
          (substring(external_id from '[0-9]+')::int > 300)) as wrong from sandbox.resources group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { tenant_id: 'north', wrong: '0' },
      { tenant_id: 'south', wrong: '0' },
    ]);
    for (const { tenant, body } of shop.proxy.requests.filter((r) => r.upload && r.path.includes('/customer/')))
      for (const { customerId } of (JSON.parse(body) as { resources: { customerId: string }[] }).resources)
        expect(tenant).toBe(Number(customerId) > 300 ? 'south' : 'north');
  });

  it('sends nothing if nothing has changed, even if every row is read again', async () => {
    shop.proxy.forget();
    const incremental = await shop.run();
    const full = await shop.run({ mode: 'full' });

    expect(shop.proxy.uploads()).toBe(0);
    expect(incremental).toMatchObject({ outcome: 'complete', total: { accepted: 0 } });
    expect(full).toMatchObject({ mode: 'full', outcome: 'complete', total: { read: 1050, unchanged: 1050 } });
  });

  it('sends the one row that has changed', async () => {
    shop.proxy.forget();
    await shop.source.query(`UPDATE shop.customers SET name = 'Renamed', updated_at = clock_timestamp() WHERE id = 7`);
    const report = await shop.run();

    expect(report.mappings[0]).toMatchObject({ mapping: 'customers', accepted: 1 });
    expect(shop.proxy.uploads()).toBe(1);
    expect(await shop.stored('customer', '7')).toMatchObject({ name: 'Renamed' });
  });

  it('deletes a field on the platform if the source has NULL, and keeps one that is omitted', async () => {
    await shop.source.query(`UPDATE shop.customers SET email = NULL, updated_at = clock_timestamp() WHERE id = 8`);
    await shop.source.query(
      `UPDATE shop.orders SET customer_id = NULL, updated_at = clock_timestamp() WHERE no = 'o8'`,
    );
    await shop.run();

    expect(await shop.stored('customer', '8')).toEqual({ customerId: '8', name: 'Customer 8', status: 'active' });
    expect(Object.keys((await shop.stored('order', 'o8'))!).sort()).toEqual(['customerId', 'orderId', 'total']);
  });

  it('finds a changed row with an unchanged cursor in a full run', async () => {
    await shop.source.query(`UPDATE shop.customers SET name = 'Silently' WHERE id = 9`);
    expect((await shop.run()).total.accepted).toBe(0);
    expect(await shop.differences()).toBe(1);

    expect((await shop.run({ mode: 'full' })).total.accepted).toBe(1);
    expect(await shop.differences()).toBe(0);
  });

  it('loads a list of records, or a range of cursor or key, again without moving the position', async () => {
    const position = () =>
      shop.state.query(
        `SELECT m.name, cursor FROM partner_sync.positions p JOIN partner_sync.mappings m ON m.id = mapping_id`,
      );
    const before = await position();
    const [{ nextReadSeq }] = (await shop.source.query<{ nextReadSeq: string }>(
      `UPDATE shop.customers SET name = 'Again' WHERE id IN (20, 21) RETURNING updated_at::text AS stamp`,
    )) as [{ nextReadSeq: string }];

    expect(await shop.backfill({ mapping: 'customers', externalIds: ['20', '999999'] })).toMatchObject({
      kind: 'backfill',
      outcome: 'complete',
      total: { read: 1, accepted: 1 },
    });
    const partition = await shop.backfill({ mappings: ['customers'], from: nextReadSeq, to: '2999-01-01' });
    expect(partition.total.accepted).toBe(1);
    expect(await shop.stored('customer', '21')).toMatchObject({ name: 'Again' });
    // Keys of two columns, in the database's order: behind the one, up to the other.
    const keys = await shop.source.query<{ order_no: string; line: number }>(
      'SELECT order_no, line FROM shop.lines ORDER BY 1, 2 LIMIT 4',
    );
    const [first, , , last] = keys.map((k) => [k.order_no, String(k.line)]) as [string[], unknown, unknown, string[]];
    await shop.source.query(`UPDATE shop.lines SET sku = 'again'`);
    expect(await shop.backfill({ mapping: 'lines', afterKey: first, throughKey: last })).toMatchObject({
      outcome: 'complete',
      total: { read: 3, accepted: 3 },
    });
    expect(await position()).toEqual(before);
  });
});
