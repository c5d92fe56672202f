/** `explain` says why a record is, or is not, on the platform; each reason has its own message. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { runInProcess } from './in-process.js';

let shop: Shop;

interface Explained {
  records: {
    state: string;
    tenant: string;
    why: string;
    next: string[];
    row: object | null;
    platform: object;
    removalPlan: string | null;
  }[];
}
const explain = async (mapping: string, id: string) => {
  const { code, json } = await runInProcess(['explain', SYNC, mapping, id, '--json'], shop.env);
  return { code, ...json<Explained>().records[0]!, all: json<Explained>().records };
};

beforeAll(async () => {
  shop = await openShop({ wait: '10m', upload: { waitForPending: '1s' } });
  await fill(shop, 10);
  await shop.source.query(`UPDATE shop.customers SET email = 'canary' WHERE id = 3`);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 4711, 1)`);
  await shop.work();
  expect((await shop.run()).outcome).toBe('incomplete');
  await shop.rest();
  await shop.source.query(`UPDATE shop.customers SET name = 'Changed' WHERE id = 5`);
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 6`);
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (99, 'New', 'A')`);
  const body = JSON.stringify({ resources: [{ customerId: '7', name: 'By somebody else' }] });
  await (await shop.parts.platform()).uploadResources('customer', body, { onconflict: 'upsert' }, { tenant: 'north' });
  shop.proxy.forget();
});
afterAll(() => shop.close());

describe('the states of a record', () => {
  it.each([
    ['customers', '1', 'delivered', 0],
    ['lines', 'o1-1', 'delivered', 0],
    ['customers', '3', 'unmappable', 1],
    ['orders', 'orphan', 'waiting', 1],
    ['customers', '5', 'changed_since', 1],
    ['customers', '6', 'row_gone', 1],
    ['customers', '7', 'altered_on_platform', 1],
    ['customers', '99', 'not_sent_yet', 1],
    ['customers', '4711', 'never_seen', 1],
    ['customers', 'no-number', 'never_seen', 1],
    ['lines', 'nothing', 'never_seen', 1],
  ])('%s %s: %s', async (mapping, id, state, exit) => {
    const { code, ...first } = await explain(mapping, id);
    expect(first).toMatchObject({ state, tenant: 'north' });
    expect(code).toBe(exit);
  });
});

it('says what a waiting record waits for, and until when', async () => {
  const { stdout } = await runInProcess(['explain', SYNC, 'orders', 'orphan'], shop.env);
  expect(stdout).toContain('orders orphan of tenant north: refers to a parent that is not in the source');
  expect(stdout).toMatch(
    /waiting {5}parent_missing of customer 4711, since .*, next attempt .*, pending on the platform until /,
  );
  expect(stdout).toContain('partner-sync explain shop customers 4711');
});

it('says until when newer content waits, if what was sent last got no response', async () => {
  await shop.state.query(
    `INSERT INTO partner_sync.doubts (run_id, mapping_id, tenant_id, external_ids, content_hashes, low, high, until)
     SELECT 1, m.id, t.id, '["4", "5"]', '\\x', '\\x', '\\x', now() + interval '1 minute' FROM partner_sync.mappings m, partner_sync.tenants t
     WHERE m.name = 'customers' AND t.platform_id = 'north'`,
  );
  onTestFinished(async () => void (await shop.state.query('DELETE FROM partner_sync.doubts')));

  const { stdout } = await runInProcess(['explain', SYNC, 'customers', '5'], shop.env);
  const { all } = await explain('customers', '6');

  expect(stdout).toMatch(/in doubt {4}what was sent got no response; newer content waits until 2\d{3}-/);
  expect(all).toMatchObject([{ inDoubtUntil: null }]);
});

it('says what to check for an unknown id, after searching every tenant', async () => {
  const { all } = await explain('customers', '4711');
  expect(all.map((r) => [r.tenant, r.state])).toEqual([
    ['north', 'never_seen'],
    ['south', 'never_seen'],
  ]);
  expect(all[0]!.next.join()).toContain('spelled as the mapping customers makes it');
});

it('masks values by default, and writes nothing', async () => {
  const masked = await runInProcess(['explain', SYNC, 'customers', '5'], shop.env);
  expect(masked.stdout).toContain('name=text(7) aaaaaaa');
  expect(masked.stdout).not.toContain('Changed');
  const shown = await runInProcess(['explain', SYNC, 'customers', '5', '--show-values'], shop.env);
  expect(shown.stdout).toContain('name=Changed');
  expect(shop.proxy.requests.every((r) => r.method === 'GET')).toBe(true);
});

it('takes a row whose tenant cannot be told for no deleted one, and finds its dead letter when it can', async () => {
  const sync = readFileSync(join(shop.folder, SYNC, 'sync.yaml'), 'utf8');
  await shop.source.query(`INSERT INTO shop.customers (id, name, status, shop) VALUES (60, 'New', 'A', 'w')`);
  await shop.source.query(`UPDATE shop.customers SET shop = '?' WHERE id = 8`);
  await shop.work();
  await shop.run({ mappings: ['customers'], mode: 'full' });
  await shop.rest();

  const moved = await explain('customers', '8');
  const north = moved.all.find(({ tenant }) => tenant === 'north')!;
  expect([north.state, north.why]).toEqual(['row_gone', expect.stringContaining('whose tenant or id cannot be told')]);

  shop.write('sync.yaml', sync.replace('s: south', 's: south, w: west'));
  onTestFinished(() => shop.write('sync.yaml', sync));
  const found = await explain('customers', '60');
  expect(found.all).toHaveLength(1);
  expect(found).toMatchObject({ tenant: 'west', state: 'dead_letter' });
  expect(found.why).toContain('tenant_unknown');
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 60`);
  await shop.source.query(`UPDATE shop.customers SET shop = 'n' WHERE id = 8`);
  await shop.work();
  await shop.run({ mappings: ['customers'], mode: 'full' });
  await shop.rest();
});

it('quotes ids in commands to copy', async () => {
  const id = `x'; touch /tmp/y; '`;
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ($1, NULL, 1)`, [id]);
  const { next } = await explain('orders', id);
  expect(next.join()).toContain(`backfill shop --mapping orders '--external-id=x'\\''; touch /tmp/y; '\\'''`);
  await shop.source.query(`DELETE FROM shop.orders WHERE no = $1`, [id]);
});

it('does not say what it could not ask', async () => {
  shop.proxy.fail(() => ({ forward: false, answer: { status: 403, body: '{"success":false,"message":"no"}' } }));
  onTestFinished(() => shop.proxy.fail(undefined));
  const { stdout } = await runInProcess(['explain', SYNC, 'customers', '4711'], shop.env);
  expect(stdout).toContain('the ledger does not know it, and the platform could not be asked');
});

it('says of a row that is marked as deleted what was done about it', async () => {
  const file = join(shop.folder, SYNC, 'customers.mapping.yaml');
  const before = readFileSync(file, 'utf8');
  onTestFinished(() => shop.write('customers.mapping.yaml', before));
  const deletes = (action: string) =>
    shop.write('customers.mapping.yaml', `${before}deletes: { column: status, values: [D], action: ${action} }\n`);
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (61, 'Never sent', 'D')`);
  deletes('{ clear: [name] }');
  expect(await explain('customers', '61')).toMatchObject({
    state: 'removed',
    why: 'its row is marked as deleted, and the platform never had it: nothing is sent',
    code: 0,
  });
  deletes('ignore');
  expect((await explain('customers', '61')).why).toContain('the mapping ignores deleted rows');
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 61`);
});

it('says what the mapping does about a record whose row is gone, and whether it is done', async () => {
  const gone = await runInProcess(['explain', SYNC, 'customers', '6'], shop.env);
  expect(gone.stdout).toContain('the mapping does not declare `deletes`, or ignores deleted rows');
  const file = join(shop.folder, SYNC, 'customers.mapping.yaml');
  const before = readFileSync(file, 'utf8');
  shop.write(
    'customers.mapping.yaml',
    `${before}deletes: { action: { set: { status: gone }, clear: [name, email] } }\n`,
  );
  const planned = await runInProcess(['explain', SYNC, 'customers', '6'], shop.env);
  expect(planned.stdout).toContain('a mirror run applies what `deletes` says');
  expect(planned.code).toBe(1);

  await shop.work();
  await shop.run({ mode: 'mirror', mappings: ['customers'] });
  await shop.rest();

  const marked = await runInProcess(['explain', SYNC, 'customers', '6'], shop.env);
  expect(marked.stdout).toContain('the platform has accepted what `deletes` says');
  expect(marked.stdout).toMatch(/^ {2}row {9}gone from the source$/m);
  expect(marked.stdout).toMatch(/^ {2}platform {4}has it: .*status=text\(4\) aaaa/m);
  expect(marked.code).toBe(0);
  const shown = await runInProcess(['explain', SYNC, 'customers', '6', '--show-values'], shop.env);
  expect(shown.stdout).toMatch(/^ {2}platform {4}has it: .*status=gone/m);
});

it('says that the removal of a record awaits approval, and which command approves it', async () => {
  const file = join(shop.folder, SYNC, 'customers.mapping.yaml');
  const before = readFileSync(file, 'utf8').replace(/^deletes:.*\n/m, '');
  const hold = 'hold: { records: 0, percent: 0 }';
  shop.write('customers.mapping.yaml', `${before}deletes: { action: { clear: [name] }, ${hold} }\n`);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 10');
  await shop.work();
  await shop.run({ mode: 'mirror', mappings: ['customers'] });
  await shop.rest();
  const { json } = await runInProcess(['removals', SYNC, '--json'], shop.env);
  const [plan] = json<{ plans: { plan: string }[] }>().plans.map(({ plan: id }) => id);

  const planned = await explain('customers', '10');
  expect(planned).toMatchObject({ state: 'row_gone', code: 1, removalPlan: plan });
  expect(planned.why).toContain(`its removal is in plan ${plan}, which awaits approval`);
  expect(planned.next).toContain(`approve: partner-sync run shop --mode mirror --approve ${plan}`);
  expect(planned.next).toContain(`review:  partner-sync removals shop ${plan}`);

  // A row that was deleted later is in no plan yet.
  await shop.source.query('DELETE FROM shop.customers WHERE id = 2');
  const found = await explain('customers', '2');
  expect(found).toMatchObject({ state: 'row_gone', removalPlan: null });
  expect(found.why).toContain('a mirror run applies what `deletes` says');
  expect(found.next).toEqual([]);
});

it('says that a run is paused, and what continues it, where the next step would be that of a run', async () => {
  let isFree = false;
  shop.proxy.fail(({ upload }) =>
    !upload || isFree ? undefined : { forward: false, answer: { status: 503, body: '{"success":false}' } },
  );
  await shop.source.query(`UPDATE shop.customers SET name = 'Sent', updated_at = clock_timestamp() WHERE id = 8`);
  await shop.work();
  onTestFinished(() => shop.rest());
  const run = await shop.start('sync', { sync: SYNC, mappings: ['customers'] }, 'at-night');
  await eventually('the batch', async () => (await explain('customers', '8')).state === 'being_sent');
  const PAUSED =
    /^the run at-night has been paused since \d{4}-\d\d-\d\d \d\d:\d\d UTC by \S+@\S+: stocktaking; partner-sync resume shop continues it$/;
  expect((await explain('customers', '8')).next.join()).not.toContain('paused');

  expect((await runInProcess(['pause', SYNC, '--reason', 'stocktaking'], shop.env)).code).toBe(0);
  await eventually('the entry of the audit', async () => PAUSED.test((await explain('customers', '8')).next[0]!));
  await shop.source.query(`UPDATE shop.customers SET name = 'Later' WHERE id = 9`);
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (100, 'Last', 'A')`);
  for (const [mapping, id, state] of [
    ['customers', '9', 'changed_since'],
    ['customers', '100', 'not_sent_yet'],
    ['customers', '2', 'row_gone'],
    ['customers', '3', 'unmappable'],
    ['orders', 'orphan', 'waiting'],
  ] as const) {
    const { next, why, ...rest } = await explain(mapping, id);
    expect(rest).toMatchObject({ state });
    expect(next[0], state).toMatch(PAUSED);
    expect([why, ...next].join('\n')).not.toMatch(/the next run|the first run|send it now/);
  }
  expect((await explain('customers', '1')).next).toEqual([]);

  isFree = true;
  expect((await runInProcess(['resume', SYNC], shop.env)).code).toBe(0);
  await run.result();
  expect((await explain('customers', '9')).next.join()).not.toContain('paused');
});

it('suggests the mapping that was probably meant', async () => {
  const { code, stderr } = await runInProcess(['explain', SYNC, 'custmers', '1'], shop.env);
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean "customers"?');
});
