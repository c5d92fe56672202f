/** What processes of a fleet keep to together, as the platform sees it: the limits of a sync, and a Retry-After. */
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { partnerSync } from '../cli/command-line.js';
import { scrape, startMeasuredWorker, valuesOf } from '../observability/scrape.js';
import type { PassedRequest } from './platform-proxy.js';
import { eventually, fill, openShop, reportOf, shopForTest, SYNC } from './shop.js';
import { build, startWorkerProcess } from './worker-process.js';

const AT_ONCE = 4;
const PER_SECOND = 10;

beforeAll(build);

/** The most requests within `seconds`, whenever these begin. */
const mostWithin = (requests: readonly PassedRequest[], seconds: number): number =>
  Math.max(...requests.map(({ at }, i) => requests.slice(i).filter((other) => other.at < at + seconds * 1000).length));

it('holds a sync to its requests at once and a second while a worker starts and one is killed', async () => {
  const upload = { requestsAtOnce: AT_ONCE, requestsPerSecond: PER_SECOND, batchSize: 5, inDoubtDelay: '1m' };
  const shop = await openShop({ upload });
  onTestFinished(() => shop.close());
  await fill(shop, 1000);
  let duration = 300;
  shop.proxy.fail((request) => (request.upload ? { forward: true, answer: 'pass', after: duration } : undefined));
  const sent = (since: number) => shop.proxy.requests.filter(({ at }) => at > since);
  /** Waits for so many requests from now on, which are returned. */
  const next = async (count: number): Promise<PassedRequest[]> => {
    const since = performance.now();
    return eventually(`${count} more requests`, () => Promise.resolve(sent(since).length >= count && sent(since)));
  };
  const workers = () =>
    shop.state.query<{ isAdmitted: boolean }>(
      `SELECT now() - joined_at > interval '4 s' AS "isAdmitted" FROM partner_sync.senders
       WHERE sync = 'shop' AND seen_at > now() - interval '10 s'`,
    );

  const first = await startMeasuredWorker(shop);
  /** The "within seconds": so many at most. */
  const shareBecomes = (atOnce: number) =>
    eventually(
      `the share of the first worker is ${atOnce}`,
      async () => valuesOf(await scrape(first.url), 'platform_requests_limit')['shop'] === atOnce,
      20,
    );
  // More than one worker loads at once, so that the second one has work as soon as it comes.
  await shop.start('sync', { sync: 'shop' });
  for (const mapping of ['customers', 'orders', 'lines'])
    await shop.start('backfill', { sync: 'shop', mappings: [mapping], from: '2000-01-01' });
  await next(10);
  // The platform becomes slow: what the first worker has begun takes longer than the second one waits for it.
  duration = 4_500;
  await next(1);
  const second = await startWorkerProcess(shop);
  onTestFinished(() => void second.child.kill('SIGKILL'));
  // It gets work when a time slice of the first one ends: on a busy machine, that has taken more than two minutes.
  await eventually('another worker sends', async () => (await workers()).length === 2, 300);
  await shareBecomes(AT_ONCE / 2);
  await eventually('two workers send', async () => (await workers()).filter((each) => each.isAdmitted).length === 2);
  await next(AT_ONCE);
  duration = 300;
  // Until all slow ones have ended, one worker alone may send.
  await next(6 * AT_ONCE);
  const together = await next(10);
  second.child.kill('SIGKILL');
  await shareBecomes(AT_ONCE);
  await next(5);
  const alone = await next(10);

  const { requests } = shop.proxy;
  expect(Math.max(...requests.map(({ atOnce }) => atOnce))).toBe(AT_ONCE);
  // On a busy machine a request of each worker may come somewhat late, and so with the next second's.
  expect(mostWithin(requests, 1)).toBeLessThanOrEqual(PER_SECOND + 2);
  expect(mostWithin(requests, 5)).toBeLessThanOrEqual(5 * PER_SECOND + 2);
  // The limits are used in full as well.
  for (const phase of [together, alone])
    expect((phase.at(-1)!.at - phase[0]!.at) / 1000).toBeLessThan((2 * phase.length) / PER_SECOND);
});

it('holds every command to a Retry-After that a worker has heard', async () => {
  // Longer than the commands take to begin, on a machine that does much else.
  const PAUSE = 45;
  const CUSTOMERS = 30;
  const shop = await shopForTest({ env: { PLATFORM_TENANT: 'north' } });
  await fill(shop, CUSTOMERS);
  await shop.run({ mappings: ['customers'] });
  shop.proxy.forget();
  shop.proxy.fail(({ no, upload }) =>
    upload && no === 0
      ? { forward: false, answer: { status: 429, headers: { 'retry-after': String(PAUSE) }, body: '{}' } }
      : undefined,
  );
  const run = await shop.start('sync', { sync: SYNC, mappings: ['orders'] });
  await eventually('the pause is in the ledger', async () => {
    const rows = await shop.state.query('SELECT FROM partner_sync.platform_retry_after');
    return rows.length === 1;
  });

  const ends = await Promise.all([
    partnerSync(['reconcile', SYNC, '--mapping', 'customers', '--read-back', 'all'], shop.env),
    partnerSync(['platform', 'resources', 'get', 'customer', '2'], shop.env),
  ]);

  for (const { code, stderr } of ends) {
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/the platform asks to wait for .*: nothing is sent until then/);
  }
  expect(await reportOf(run)).toMatchObject({ outcome: 'complete' });
  const [told, ...later] = shop.proxy.requests;
  expect(later.filter(({ method }) => method === 'GET').length).toBeGreaterThanOrEqual(CUSTOMERS + 1);
  expect(later.filter(({ at }) => at < told!.at + PAUSE * 1000)).toEqual([]);
});
