/** A platform that fails in every way a network can: the end is right, nothing is lost, nobody waits for ever. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { idsIn, type Fault, type StubAnswer } from './platform-proxy.js';
import { eventually, failureOf, fill, NO_OPEN_ENDS, openEnds, shopForTest, type Shop } from './shop.js';

const json = (status: number, message: string, headers = {}): StubAnswer => ({
  status,
  headers,
  body: JSON.stringify({ success: false, message }),
});
const HTML: StubAnswer = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>welcome</html>' };

/** What happens to every third upload; the others pass. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'whose answers are lost after the platform took the batch': { forward: true, answer: 'cut' },
  'whose connections break before the platform sees the batch': { forward: false, answer: 'cut' },
  'that asks for patience with Retry-After': { forward: false, answer: json(429, 'slow down', { 'retry-after': '1' }) },
  'that is busy (503)': { forward: false, answer: json(503, 'busy') },
  'that fails (500) without having taken the batch': { forward: false, answer: json(500, 'oops') },
  'that fails (500) although it took the batch': { forward: true, answer: json(500, 'oops') },
  'whose proxy answers 200 with a page of HTML': { forward: true, answer: HTML },
  'whose proxy answers 502 with a page of HTML': { forward: false, answer: { ...HTML, status: 502 } },
  'whose answers end in the middle': {
    forward: true,
    answer: { status: 202, body: '{"success":true,"data":{"batchId":"' },
  },
};

for (const [what, fault] of Object.entries(FAULTS))
  it(`delivers everything to a platform ${what}`, async () => {
    const shop = await shopForTest({ upload: { batchSize: 20, inDoubtDelay: '0.2s' } });
    await fill(shop, 60);
    shop.proxy.fail(({ upload, no }) => (upload && no % 3 === 0 ? fault : undefined));

    const report = await shop.run();

    expect(report).toMatchObject({ outcome: 'complete', total: { read: 180, accepted: 180 } });
    expect(shop.proxy.uploads()).toBeGreaterThan(9);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
    shop.proxy.fail(undefined);
    expect(await shop.differences()).toBe(0);
  });

it('sends again only what the platform had in doubt, and only after its longest delay', async () => {
  const shop = await shopForTest({ upload: { inDoubtDelay: '2s' } });
  await fill(shop, 3);
  const times: number[] = [];
  shop.proxy.fail(({ upload, path }) => {
    if (!upload || !path.includes('/customer/')) return undefined;
    times.push(performance.now());
    return times.length === 1 ? { forward: true, answer: 'cut' } : undefined;
  });

  await shop.run();

  expect(times).toHaveLength(2);
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(2000);
});

it('follows the batches when looking after them fails now and then', async () => {
  const shop = await shopForTest({ upload: { batchSize: 20 } });
  await fill(shop, 60);
  shop.proxy.fail(({ upload, no }) =>
    upload ? undefined : no % 2 === 0 ? { forward: false, answer: no % 4 === 0 ? json(500, 'oops') : HTML } : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 180 } });
  shop.proxy.fail(undefined);
  expect(await shop.differences()).toBe(0);
});

it('stops with one clear error when the token is refused, and goes on from there once it is renewed', async () => {
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

it('halves what is too large until it fits', async () => {
  const shop = await shopForTest({ upload: { batchSize: 64 } });
  await fill(shop, 100);
  shop.proxy.fail((request) =>
    request.upload && request.body.split('Id"').length - 1 > 20
      ? { forward: false, answer: json(413, 'too large') }
      : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 300 } });
  expect(await shop.differences()).toBe(0);
});

it('finds the one record for which the platform refuses the whole batch', async () => {
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

it('names the schema that was never pushed', async () => {
  const shop = await shopForTest({ pushed: false });
  await fill(shop, 1);

  const failure = await failureOf(await shop.start('sync', { sync: 'shop' }));

  expect(failure.type).toBe('schema_not_pushed');
  expect(failure.message).toContain('partner-sync schema push shop');
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
