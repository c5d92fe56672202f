/** Conditions that a run survives: a token that is renewed, an occasional redirect, a platform that asks for a pause. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pushSchemas } from '../../src/schema-push/push-schemas.js';
import type { StubAnswer } from './platform-proxy.js';
import { failureOf, fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC, type Shop } from './shop.js';

const json = (status: number, message: string, headers = {}): StubAnswer => ({
  status,
  headers,
  body: JSON.stringify({ success: false, message }),
});

/** A shop whose token is in a file. */
async function shopWithTokenFile(wait: string): Promise<{ shop: Shop; write: (token: string) => void }> {
  const file = join(mkdtempSync(join(tmpdir(), 'shop-token-')), 'token');
  const write = (token: string): void => writeFileSync(file, `${token}\n`);
  write('not.yet.there');
  const shop = await shopForTest({
    pushed: false,
    // A POST that takes longer than half of the delay would be sent twice.
    upload: { batchSize: 10, requestsAtOnce: 4, inDoubtDelay: '10s' },
    env: { PLATFORM_TOKEN: '', PLATFORM_TOKEN_FILE: file, PLATFORM_TOKEN_WAIT: wait },
  });
  write(shop.token);
  await pushSchemas(shop.parts, SYNC);
  return { shop, write };
}

it('continues if the token is refused during the run and its file is renewed later, and sends nothing twice', async () => {
  const { shop, write } = await shopWithTokenFile('1m');
  await fill(shop, 100);
  let refused = 0;
  let renewed = false;
  const taken = new Map<string, number>();
  shop.proxy.fail(({ upload, path, body, no }) => {
    if (renewed || (refused === 0 && !(upload && no >= 7))) {
      if (upload) taken.set(path + body, (taken.get(path + body) ?? 0) + 1);
      return undefined;
    }
    if (refused++ === 0) {
      write('neither.this.one');
      setTimeout(() => {
        renewed = true;
        write(shop.token);
      }, 1_500);
    }
    return { forward: false, answer: json(401, 'expired') };
  });

  const report = await shop.run();

  expect(refused).toBeGreaterThan(0);
  expect(report).toMatchObject({ outcome: 'complete', total: { read: 300, accepted: 300 } });
  expect([...taken.values()].filter((times) => times > 1)).toEqual([]);
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('ends with one clear message if no new token arrives, and the next run continues from there', async () => {
  const { shop, write } = await shopWithTokenFile('1s');
  await fill(shop, 30);
  shop.proxy.fail(({ upload, no }) =>
    upload && no >= 2 ? { forward: false, answer: json(401, 'expired') } : undefined,
  );

  const failure = await failureOf(await shop.start('sync', { sync: SYNC }));

  expect(failure.type).toBe('platform_unauthorized');
  expect(failure.message).toContain(
    'was rejected with 401: expired; no other token came within 1.0s (PLATFORM_TOKEN_WAIT)',
  );
  shop.proxy.fail(undefined);
  write(shop.token);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.differences()).toBe(0);
});

it('continues after occasional redirects, and sends no record elsewhere', async () => {
  const shop = await shopForTest({ upload: { batchSize: 20 } });
  await fill(shop, 60);
  let redirects = 0;
  shop.proxy.fail(({ no, upload }) =>
    no % 4 === 1
      ? (redirects++,
        {
          forward: false,
          answer: { ...json(upload ? 307 : 302, ''), headers: { location: `${shop.proxy.url}/login` } },
        })
      : undefined,
  );

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 180 } });

  expect(redirects).toBeGreaterThan(3);
  expect(shop.proxy.requests.filter(({ path }) => path.includes('login'))).toEqual([]);
  shop.proxy.fail(undefined);
  expect(await shop.differences()).toBe(0);
});

it('does not treat a proxy that requires a password as a refusal of the record', async () => {
  const shop = await shopForTest();
  await fill(shop, 1);
  const page = { status: 407, headers: { 'content-type': 'text/html' }, body: '<html>proxy</html>' };
  shop.proxy.fail(({ upload, no }) => (upload && no < 2 ? { forward: false, answer: page } : undefined));
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 3, deadLettered: 0 } });
});

it('sends no request at all while one answer asks it to wait, in a run and in a reconciliation', async () => {
  const shop = await shopForTest({ upload: { batchSize: 5, requestsAtOnce: 8 } });
  await fill(shop, 100);
  let asks: 'look' | 'read' = 'look';
  let promised = 0;
  let answered = 0;
  const early: string[] = [];
  shop.proxy.fail(({ method, path, no }) => {
    const concerned = asks === 'look' ? path.startsWith('/api/batches/') : path.startsWith('/api/resources/');
    if (promised === 0 && method === 'GET' && concerned && no > 20) {
      answered = Date.now();
      promised = answered + 3_000;
      return { forward: false, answer: json(429, 'slow down', { 'retry-after': '3' }) };
    }
    // Those that were on their way already come a little later.
    if (promised > 0 && Date.now() > answered + 500 && Date.now() < promised) early.push(`${method} ${path}`);
    return undefined;
  });

  expect(await shop.run({ mappings: ['customers'] })).toMatchObject({ outcome: 'complete' });
  expect(promised).toBeGreaterThan(0);
  expect(early).toEqual([]);

  [asks, promised] = ['read', 0];
  shop.proxy.forget();
  expect(await shop.reconcile('customers')).toMatchObject({ equal: 100 });
  expect(promised).toBeGreaterThan(0);
  expect(early).toEqual([]);
});
