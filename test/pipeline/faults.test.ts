/** A platform that fails in every way a network can: the result is right, nothing is lost, and no run hangs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idsIn, recordsIn, type PassedRequest, type StubAnswer } from './platform-proxy.js';
import { eventually, failureOf, fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC, text, type Shop } from './shop.js';

const json = (status: number, message: string, headers = {}): StubAnswer => ({
  status,
  headers,
  body: JSON.stringify({ success: false, message }),
});
const HTML: StubAnswer = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>welcome</html>' };

it('sends a batch again at once whose answer was lost, and newer content only after the longest delay', async () => {
  const shop = await shopForTest({ upload: { inDoubtDelay: '10m' } });
  await fill(shop, 3);
  let uploads = 0;
  shop.proxy.fail(({ upload, path }) =>
    upload && path.includes('/customer/') && ++uploads === 1 ? { forward: true, answer: 'cut' } : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 9 } });
  expect(uploads).toBe(2);
  await shop.source.query(`UPDATE shop.customers SET name = 'Newer', updated_at = clock_timestamp() WHERE id = 1`);
  const next = shop.run();
  const waiting = () => shop.state.query('SELECT external_id FROM partner_sync.waiting');
  await eventually('that it waits', async () => (await waiting()).length === 1);
  expect(uploads).toBe(2);
  await shop.state.query('UPDATE partner_sync.doubts SET until = now()');
  expect((await next).outcome).toBe('complete');
  expect(await shop.differences()).toBe(0);
});

it('follows batches even if polling sometimes fails', async () => {
  const shop = await shopForTest({ upload: { batchSize: 20 } });
  await fill(shop, 60);
  shop.proxy.fail(({ upload, no }) =>
    upload ? undefined : no % 2 === 0 ? { forward: false, answer: no % 4 === 0 ? json(500, 'oops') : HTML } : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 180 } });
  shop.proxy.fail(undefined);
  expect(await shop.differences()).toBe(0);
});

it('stops with one clear error if the token is refused, and continues from there once it is renewed', async () => {
  const shop = await shopForTest({ upload: { batchSize: 10, requestsAtOnce: 1 } });
  await fill(shop, 100);
  shop.proxy.fail(({ upload, no }) =>
    upload && no >= 5 ? { forward: false, answer: json(401, 'expired') } : undefined,
  );

  const failure = await failureOf(await shop.start('sync', { sync: 'shop' }));

  expect(failure.type).toBe('platform_unauthorized');
  expect(failure.message).toContain('401');
  const first = shop.proxy.uploads();
  shop.proxy.forget();
  shop.proxy.fail(undefined);
  const report = await shop.run();
  expect(report).toMatchObject({ outcome: 'complete', total: { read: 300 } });
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  // What was delivered before is not sent again: 5 batches of 30 were through.
  expect(shop.proxy.uploads()).toBeLessThanOrEqual(30 - 5);
  expect(first).toBeLessThan(15);
});

it('halves what is too large until it fits, and remembers what fits', async () => {
  const shop = await shopForTest({ upload: { batchSize: 64, requestsAtOnce: 1 } });
  await fill(shop, 100);
  shop.proxy.fail((request) =>
    request.upload && request.body.length > 3000 ? { forward: false, answer: json(413, 'too large') } : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 300 } });
  expect(await shop.differences()).toBe(0);

  await shop.source.query(`UPDATE shop.customers SET name = 'Renamed ' || id, updated_at = clock_timestamp()`);
  shop.proxy.forget();
  expect((await shop.run()).total.accepted).toBe(100);
  expect(shop.proxy.requests.filter((r) => r.upload && r.body.length > 3000)).toEqual([]);
});

it('cuts smaller batches once the platform has refused too many records at once', async () => {
  const shop = await shopForTest({ upload: { batchSize: 80, requestsAtOnce: 1 } });
  await fill(shop, 80);
  const tooMany = (request: PassedRequest): boolean => request.upload && recordsIn(request) > 30;
  shop.proxy.fail((request) =>
    tooMany(request) ? { forward: false, answer: json(422, 'at most thirty resources') } : undefined,
  );
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');

  await shop.source.query(`UPDATE shop.customers SET name = 'Renamed ' || id, updated_at = clock_timestamp()`);
  shop.proxy.forget();
  expect((await shop.run({ mappings: ['customers'] })).total.accepted).toBe(80);
  expect(shop.proxy.requests.filter(tooMany)).toEqual([]);
});

describe('if the platform refuses every record of a batch', () => {
  const refuse = (shop: Shop, isRefused: (id: number) => boolean): void =>
    shop.proxy.fail((request) =>
      request.upload && idsIn(request, 'customerId').some((id) => isRefused(Number(id)))
        ? { forward: false, answer: json(400, 'invalid request') }
        : undefined,
    );
  /** Customers, half of them of each tenant, of whom the platform refuses these. */
  async function refusing(customers: number, isRefused: (id: number) => boolean) {
    const shop = await shopForTest();
    await fill(shop, customers);
    await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id <= $1::int / 2`, [customers]);
    refuse(shop, isRefused);
    return shop;
  }

  it('goes on for the other tenants of the chunk', async () => {
    const shop = await refusing(50, (id) => id <= 25);

    expect(await shop.run({ mappings: ['customers'] })).toMatchObject({
      outcome: 'complete_with_dead_letters',
      total: { accepted: 25, deadLettered: 25 },
    });
  });

  it('ends the run after the first twenty if it is the same for all of them', async () => {
    const shop = await refusing(400, () => true);

    const failure = await failureOf(await shop.start('sync', { sync: SYNC, mappings: ['customers'] }));

    expect(failure).toMatchObject({ type: 'platform_refused' });
    // Batches are sent side by side, so a few more may be refused before the first one notices.
    expect(failure.message).toMatch(/refused each of the first 2\d records and took none: returned 400/);
    expect(await shop.state.query('SELECT FROM partner_sync.dead_letters')).toEqual([]);
    // To halve every batch down to single records would take 796 requests.
    expect(shop.proxy.uploads()).toBeLessThan(200);
    // No request is in doubt, so the next run need not wait.
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
    shop.proxy.fail(undefined);
    expect(await shop.run({ mappings: ['customers'] })).toMatchObject({
      outcome: 'complete',
      total: { accepted: 400 },
    });
  });

  it('makes them dead letters if it has accepted others with the same mapping before', async () => {
    const shop = await refusing(50, () => false);
    await shop.run({ mappings: ['customers'] });
    await shop.source.query(`UPDATE shop.customers SET name = 'Bad', updated_at = clock_timestamp() WHERE id <= 25`);
    refuse(shop, (id) => id <= 25);

    expect(await shop.run({ mappings: ['customers'] })).toMatchObject({
      outcome: 'complete_with_dead_letters',
      total: { deadLettered: 25 },
    });
  });
});

it('sends the platform no request for as long as it asks', async () => {
  const shop = await shopForTest({ upload: { batchSize: 10, requestsAtOnce: 8 } });
  await fill(shop, 200);
  let asked = 0;
  const early: number[] = [];
  shop.proxy.fail(({ upload, no }) => {
    if (!upload) return undefined;
    // Those that were on their way already come a little later.
    if (asked > 0 && Date.now() > asked + 500 && Date.now() < asked + 3000) early.push(no);
    if (no !== 5) return undefined;
    asked = Date.now();
    return { forward: false, answer: json(429, 'slow down', { 'retry-after': '3' }) };
  });

  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');
  expect(asked).toBeGreaterThan(0);
  expect(early).toEqual([]);
});

it('finds the one record that makes the platform refuse the whole batch', async () => {
  const shop = await shopForTest();
  await fill(shop, 50);
  const refuse = (shop: Shop) =>
    shop.proxy.fail((request) =>
      request.upload && request.path.includes('/customer/') && idsIn(request, 'customerId').includes('37')
        ? { forward: false, answer: json(400, 'invalid request') }
        : undefined,
    );
  refuse(shop);

  const report = await shop.run({ mappings: ['customers'] });

  expect(report).toMatchObject({ outcome: 'complete_with_dead_letters', total: { accepted: 49, deadLettered: 1 } });
  expect(await shop.state.query('SELECT external_id, code FROM partner_sync.dead_letters')).toEqual([
    { external_id: '37', code: 'platform_refused' },
  ]);
  shop.proxy.fail(undefined);
  await shop.run({ mode: 'full', mappings: ['customers'] });
  expect(await shop.state.query('SELECT external_id FROM partner_sync.dead_letters')).toEqual([]);
});

it('names a schema that was never pushed', async () => {
  const shop = await shopForTest({ pushed: false });
  await fill(shop, 1);

  const failure = await failureOf(await shop.start('sync', { sync: 'shop' }));

  expect(failure.type).toBe('schema_not_pushed');
  expect(failure.message).toContain('partner-sync schema push shop');
});

it('goes on after a gateway has said for a while that nothing is there', async () => {
  const shop = await shopForTest();
  await fill(shop, 1);
  await shop.run();
  await shop.source.query(`UPDATE shop.customers SET name = 'New', updated_at = now()`);
  let refused = 0;
  shop.proxy.fail(({ upload }) =>
    upload && refused++ < 3
      ? {
          forward: false,
          answer: { status: 404, headers: { 'content-type': 'text/plain' }, body: 'default backend - 404' },
        }
      : undefined,
  );
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(refused).toBeGreaterThan(3);
  expect(await shop.differences()).toBe(0);
});

it('reads a renewed token from its file without a restart', async () => {
  const shop = await shopForTest();
  // The worker's environment is read at each use: a file beside the mappings plays the secret store.
  const file = join(shop.folder, 'token');
  Object.assign(shop.env, { PLATFORM_TOKEN: '', PLATFORM_TOKEN_FILE: file });
  writeFileSync(file, 'expired');
  await fill(shop, 5);
  expect((await failureOf(await shop.start('sync', { sync: 'shop' }))).type).toBe('platform_unauthorized');

  writeFileSync(file, `${shop.token}\n`);

  expect((await shop.run()).outcome).toBe('complete');
});

it('gives up a batch that the platform forgot, and sends its records again', async () => {
  const shop = await shopForTest({ upload: { batchDeadline: '1s' } });
  await fill(shop, 5);
  let forgotten = 0;
  shop.proxy.fail(({ upload, path }) =>
    upload && path.includes('/customer/') && forgotten++ === 0
      ? {
          forward: false,
          answer: {
            status: 202,
            body: JSON.stringify({
              success: true,
              data: { batchId: '0b0c6a4e-0000-4000-8000-00000000dead', recordCount: 5 },
            }),
          },
        }
      : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 15 } });
  expect(await eventually('all agree', async () => (await shop.differences()) === 0)).toBe(true);
});

it('finds which record failed if the platform names none', async () => {
  const shop = await shopForTest({ pushed: false });
  await fill(shop, 20);
  const properties = { customerId: text, name: { ...text, maxLength: 10 }, email: text, status: text };
  const definition = { name: 'customer', category: 'custom_schema', externalIdField: 'customerId' };
  const body = { ...definition, schema: { type: 'object', properties } };
  const platform = await shop.parts.platform();
  await platform.createSchemaDefinition(body as unknown as Parameters<typeof platform.createSchemaDefinition>[0]);
  shop.proxy.fail(({ path }) =>
    path.startsWith('/api/batches/')
      ? { forward: true, answer: (own) => ({ ...own, body: own.body.replaceAll(/externalId \\"\d+\\": /g, '') }) }
      : undefined,
  );

  const report = await shop.run({ mappings: ['customers'] });

  // "Customer 10" and all after it have eleven characters.
  expect(report).toMatchObject({ outcome: 'complete_with_dead_letters', total: { accepted: 9, deadLettered: 11 } });
  const found = await (await shop.parts.ledger()).deadLetters.causes('shop', {});
  expect(found).toMatchObject([{ count: 11, pointer: '/name', code: 'platform_refused' }]);
});

it('settles records one by one if the counters of their batch do not add up', async () => {
  const shop = await shopForTest();
  await fill(shop, 20);
  shop.proxy.fail(({ path }) =>
    path.startsWith('/api/batches/')
      ? {
          forward: true,
          answer: (own) => ({ ...own, body: own.body.replace('"successfulRecords":20', '"successfulRecords":7') }),
        }
      : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 60 } });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.differences()).toBe(0);
});

it('does not wait forever for batches that never complete', async () => {
  const shop = await shopForTest({ upload: { batchDeadline: '1s' } });
  await fill(shop, 20);
  shop.proxy.fail(({ path }) =>
    path.startsWith('/api/batches/')
      ? {
          forward: true,
          answer: (own) => ({ ...own, body: own.body.replace(/"completedAt":"[^"]*"/, '"completedAt":null') }),
        }
      : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 60 } });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('recognizes its own record after a lost answer with onconflict=reject', async () => {
  const mapping = `schema: customer
source: { table: shop.customers }
key: [id]
fields: { customerId: id, name: name }
options: { onConflict: reject }
`;
  const shop = await shopForTest({ upload: { inDoubtDelay: '0.5s' }, files: { 'customers.mapping.yaml': mapping } });
  await fill(shop, 20);
  shop.proxy.fail(({ upload, no }) => (upload && no === 0 ? { forward: true, answer: 'cut' } : undefined));

  expect(await shop.run({ mappings: ['customers'] })).toMatchObject({ outcome: 'complete', total: { accepted: 20 } });
  expect(shop.proxy.uploads()).toBe(2);
});
