/** Every fault of the way, alone and mixed, over the real December data: the end is right, record by record. */
import { expect, it } from 'vitest';
import type { Fault, PassedRequest, StubAnswer } from './platform-proxy.js';
import { byTenant, differences, retailForTest } from './retail.js';
import { NO_OPEN_ENDS, openEnds } from './shop.js';

const json = (status: number, message: string, headers = {}): StubAnswer => ({
  status,
  headers,
  body: JSON.stringify({ success: false, message }),
});
const html = (status: number): StubAnswer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><h1>Welcome</h1></html>',
});
const inASecond = (): string => new Date(Date.now() + 1500).toUTCString();

/** What can go wrong with an upload. */
const UPLOADS: Readonly<Record<string, () => Fault>> = {
  'answers lost after the batch was taken': () => ({ forward: true, answer: 'cut' }),
  'connections reset before the batch was taken': () => ({ forward: false, answer: 'cut' }),
  'answers that never come, the batch taken': () => ({ forward: true, answer: 'hang' }),
  'answers that never come, the batch not taken': () => ({ forward: false, answer: 'hang' }),
  'slow answers': () => ({ forward: true, answer: 'pass', after: 300 }),
  '408': () => ({ forward: false, answer: json(408, 'timeout') }),
  '425': () => ({ forward: false, answer: json(425, 'too early') }),
  '429 with Retry-After in seconds': () => ({ forward: false, answer: json(429, 'slow', { 'retry-after': '1' }) }),
  '429 with Retry-After as a date': () => ({
    forward: false,
    answer: json(429, 'slow', { 'retry-after': inASecond() }),
  }),
  '500 without having taken the batch': () => ({ forward: false, answer: json(500, 'oops') }),
  '500 although the batch was taken': () => ({ forward: true, answer: json(500, 'oops') }),
  '502 as a page of HTML': () => ({ forward: false, answer: html(502) }),
  '503': () => ({ forward: false, answer: json(503, 'busy') }),
  '504 although the batch was taken': () => ({ forward: true, answer: html(504) }),
  '200 as a page of HTML': () => ({ forward: true, answer: html(200) }),
  'JSON that ends in the middle': () => ({
    forward: true,
    answer: { status: 202, body: '{"success":true,"data":{"batchId":"' },
  }),
};

/** What can go wrong with looking after a batch. */
const LOOKS: Readonly<Record<string, () => Fault>> = {
  'looks that are answered with 404': () => ({ forward: false, answer: json(404, 'no such batch') }),
  'looks that fail with 500': () => ({ forward: false, answer: json(500, 'oops') }),
  'looks that are cut': () => ({ forward: false, answer: 'cut' }),
  'looks that come as HTML': () => ({ forward: false, answer: html(200) }),
  'counters that do not add up': () => ({
    forward: true,
    answer: (own) => ({ ...own, body: own.body.replace(/"successfulRecords":\d+/, '"successfulRecords":1') }),
  }),
};

const isLook = ({ path }: PassedRequest): boolean => path.startsWith('/api/batches/');
const LIMITS = { batchSize: 200, inDoubtDelay: '1s', batchDeadline: '20s', followFor: '10s' };

for (const [what, fault] of Object.entries({ ...UPLOADS, ...LOOKS }))
  it(`alone: ${what}`, async () => {
    const shop = await retailForTest(LIMITS);
    const concerns = what in LOOKS ? isLook : ({ upload }: PassedRequest) => upload;
    let met = 0;
    shop.proxy.fail((request) => (concerns(request) && request.no % 3 === 0 ? (met++, fault()) : undefined));

    const report = await shop.run({ mappings: ['customers', 'transactions'] });

    expect(report).toMatchObject({ outcome: 'complete', total: { read: 2973, accepted: 2973 } });
    expect(met).toBeGreaterThan(3);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
    expect(await differences(shop, ['customers', 'transactions'])).toBe(0);
  }, 300_000);

/** A small generator with a seed (mulberry32), so that a failure can be had again. */
function randomFrom(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SEED = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 1e6));

it(`mixed, over all 45,454 records (FAULT_SEED=${SEED})`, async () => {
  const shop = await retailForTest({ ...LIMITS, batchSize: 500 });
  const random = randomFrom(SEED);
  const one = (faults: readonly (() => Fault)[]): Fault => faults[Math.floor(random() * faults.length)]!();
  const refused = 'C536379'; // the platform alone will not have this one
  shop.proxy.fail((request) => {
    if (
      request.upload &&
      request.body.includes(`"transactionId":"${refused}"`) &&
      request.path.includes('/transactions/')
    )
      return { forward: false, answer: json(422, 'not this one') };
    if (request.upload && random() < 0.25) return one(Object.values(UPLOADS));
    return isLook(request) && random() < 0.2 ? one(Object.values(LOOKS)) : undefined;
  });

  const report = await shop.run();

  expect(report.outcome).not.toBe('complete');
  shop.proxy.fail(undefined);
  const letters = await (await shop.parts.ledger()).deadLetters.page('shop', {}, '0', 10);
  expect(letters.map((l) => [l.mapping, l.externalId, l.code])).toContainEqual([
    'transactions',
    refused,
    'platform_refused',
  ]);

  // The platform relents; what waited for the one comes with it.
  await shop.backfill({ replay: {} });
  await shop.run();
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await differences(shop, ['customers', 'transactions', 'order-lines'])).toBe(0);
  const { source, platform } = await byTenant(shop);
  expect(platform).toEqual(source);
}, 600_000);
