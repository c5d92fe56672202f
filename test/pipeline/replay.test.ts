/** Dead letters are replayed with the current mapping, closed automatically, or left unchanged. */
import { expect, it } from 'vitest';
import { sweepDeadLetters } from '../../src/delivery/removals/sweep-dead-letters.js';
import type { RemainingSweep } from '../../src/domain/run/run.js';
import { idsIn } from './platform-proxy.js';
import { fill, NO_OPEN_ENDS, openEnds, openRunByHand, shopForTest, text, type Shop } from './shop.js';

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page('shop', {}, '0', 100)).map((l) => [
    l.mapping,
    l.sourceKey.join(),
  ]);

const CUSTOMERS = `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields: { customerId: id, name: name, email: { column: email, transforms: [emptyToNull] } }
`;

it('replays only the rows of dead letters, with the current mapping and the current rows', async () => {
  const shop = await shopForTest();
  await fill(shop, 30);
  await shop.source.query(`UPDATE shop.customers SET email = '' WHERE id IN (3, 4, 5, 6)`);
  await shop.source.query(`UPDATE shop.customers SET status = 'unheard of' WHERE id = 9`);
  expect((await shop.run({ mappings: ['customers'] })).total.deadLettered).toBe(5);
  // The mapping learns that an empty address is none; one row is fixed, one goes, one gets worse.
  shop.write('customers.mapping.yaml', CUSTOMERS);
  await shop.source.query(`UPDATE shop.customers SET name = 'Of today' WHERE id = 3`);
  await shop.source.query(`UPDATE shop.customers SET email = 'worse' WHERE id = 4`);
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 6`);
  shop.proxy.forget();

  const report = await shop.backfill({ replay: {} });

  expect(report).toMatchObject({
    mode: 'replay',
    outcome: 'complete_with_dead_letters',
    total: { read: 4, accepted: 3, deadLettered: 1 },
  });
  const sent = shop.proxy.requests.filter((r) => r.upload).flatMap((r) => idsIn(r, 'customerId'));
  expect(sent.sort()).toEqual(['3', '5', '9']);
  expect(await shop.stored('customer', '3')).toMatchObject({ name: 'Of today' });
  expect(await deadLetters(shop)).toEqual([['customers', '4']]);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('replays only the selected dead letters', async () => {
  const shop = await shopForTest();
  await fill(shop, 10);
  await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id IN (2, 3)`);
  await shop.source.query(`UPDATE shop.customers SET status = 'unheard of' WHERE id = 4`);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query(`UPDATE shop.customers SET email = NULL, status = 'A'`);

  const byField = await shop.backfill({ replay: { fields: ['/email'] } });

  expect(byField.total).toMatchObject({ read: 2, accepted: 2 });
  expect(await deadLetters(shop)).toEqual([['customers', '4']]);
  expect((await shop.backfill({ replay: { codes: ['record_invalid'] } })).total.read).toBe(0);
  expect((await shop.backfill({ mappings: ['orders'], replay: {} })).total.read).toBe(0);
  expect((await shop.backfill({ replay: { since: '2999-01-01T00:00:00Z' } })).total.read).toBe(0);
  expect((await shop.backfill({ replay: { codes: ['mapping_failed'] } })).total.accepted).toBe(1);
  expect(await deadLetters(shop)).toEqual([]);
});

it('counts a row that fails again, and keeps when it failed first', async () => {
  const shop = await shopForTest();
  await fill(shop, 3);
  await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id = 2`);
  await shop.run({ mappings: ['customers'] });
  const box = (await shop.parts.ledger()).deadLetters;
  const [before] = await box.page('shop', {}, '0', 10);

  expect((await shop.backfill({ replay: {} })).outcome).toBe('complete_with_dead_letters');

  const [after] = await box.page('shop', {}, '0', 10);
  expect(after).toMatchObject({ id: before!.id, times: 2, firstSeen: before!.firstSeen, externalId: '2' });
  expect(after!.lastSeen > before!.lastSeen).toBe(true);
});

it('replays rows whose key has several columns', async () => {
  const shop = await shopForTest({ upload: { waitForPending: '1s' } });
  await fill(shop, 5);
  await shop.source.query(`UPDATE shop.lines SET shop = 'x' WHERE order_no IN ('o2', 'o3')`);
  expect((await shop.run()).total.deadLettered).toBe(2);
  await shop.source.query(`UPDATE shop.lines SET shop = 'n'`);

  expect(await shop.backfill({ replay: {} })).toMatchObject({ outcome: 'complete', total: { read: 2, accepted: 2 } });
  expect(await shop.differences()).toBe(0);
});

it('closes the dead letters of rows that are gone in a full run, and no others', async () => {
  const shop = await shopForTest();
  await fill(shop, 10);
  await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id IN (2, 3)`);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 2`);

  await shop.run({ mappings: ['customers'] });
  expect(await deadLetters(shop)).toEqual([
    ['customers', '2'],
    ['customers', '3'],
  ]);
  expect((await shop.run({ mode: 'full', mappings: ['customers'] })).outcome).toBe('complete_with_dead_letters');
  expect(await deadLetters(shop)).toEqual([['customers', '3']]);
});

it('looks for the rows of many dead letters in as many time slices as it takes', async () => {
  const shop = await shopForTest();
  await fill(shop, 1_100);
  await shop.source.query(`UPDATE shop.customers SET email = 'broken'`);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query(`DELETE FROM shop.customers WHERE id IN (1, 1100)`);
  const { runId } = await openRunByHand(shop, { mode: 'full' });
  const deps = await shop.parts.dependencies();
  // A slice that is over as soon as it begins: each comes further by one page all the same.
  const over = AbortSignal.abort();

  let rest: RemainingSweep = { mappings: ['customers', 'orders'], after: '0' };
  const slices: RemainingSweep['mappings'][] = [];
  while (rest.mappings.length > 0) {
    rest = await sweepDeadLetters(deps, { runId, sync: 'shop', ...rest }, over);
    slices.push(rest.mappings);
  }

  const both = ['customers', 'orders'];
  expect(slices).toEqual([both, both, both, []]);
  expect(await shop.state.query('SELECT count(*)::int AS n FROM partner_sync.dead_letters')).toEqual([{ n: 1_098 }]);
});

it('keeps what the platform says of a record, but not the values that it quotes', async () => {
  const shop = await shopForTest({ pushed: false });
  await fill(shop, 3);
  await shop.source.query(`UPDATE shop.customers SET name = 'Canary Vandermeer' WHERE id = 2`);
  const properties = { customerId: text, name: { ...text, maxLength: 10 }, email: text, status: text };
  const definition = { name: 'customer', category: 'custom_schema', externalIdField: 'customerId' };
  const body = { ...definition, schema: { type: 'object', properties } };
  const platform = await shop.parts.platform();
  await platform.createSchemaDefinition(body as unknown as Parameters<typeof platform.createSchemaDefinition>[0]);
  const refusal = { success: false, message: 'customer "Canary Vandermeer" (c3@example.org) is taken' };
  shop.proxy.fail((request) =>
    request.upload && idsIn(request, 'customerId').includes('3')
      ? { forward: false, answer: { status: 422, body: JSON.stringify(refusal) } }
      : undefined,
  );

  await shop.run({ mappings: ['customers'] });

  const found = await (await shop.parts.ledger()).deadLetters.page('shop', {}, '0', 10);
  expect(found.map((l) => [l.externalId, l.pointer, l.reason])).toEqual([
    ['2', '/name', '/name must NOT have more than 10 characters'],
    ['3', '', 'returned 422; customer <text(17) aaaaaa aaaaaaaaaa> (<text(14) a9@aaaaaaa.aaa>) is taken'],
  ]);
  expect(JSON.stringify(found)).not.toMatch(/Canary|Vandermeer|example/);
});
