/** A Retry-After delays every request of a client, whichever request it answered. */
import { expect, it } from 'vitest';
import { type Answer, answer, BATCH, DONE, errorOf, type SeenRequest, stubPlatform } from './stub-platform.js';

/** Milliseconds from the promise of an answer to the requests that came before it was over; none is what is hoped for. */
const early = (seen: readonly SeenRequest[], after: number, promised: number): number[] =>
  seen.slice(after).flatMap(({ at }) => (at < promised ? [promised - at] : []));

const AT_ONCE = 4;

/**
 * A platform that has `AT_ONCE` requests before it when it answers one of them with the header, and the others only a
 * little later: whatever comes after that was sent in spite of it.
 */
async function asking(header: () => string, seconds: number, settings = {}) {
  let promised = NaN;
  const waiting: (() => void)[] = [];
  const first: Answer = (response, { at }) => {
    waiting.push(() => DONE(response, request(at)));
    if (waiting.length < AT_ONCE) return;
    waiting.pop();
    answer(429, { message: 'slow down' }, { 'retry-after': header() })(response, request(at));
    promised = at + seconds * 1000;
    setTimeout(() => waiting.forEach((go) => go()), 300);
  };
  const stub = await stubPlatform([...Array.from({ length: AT_ONCE }, () => first), DONE], {
    connections: AT_ONCE,
    ...settings,
  });
  return { ...stub, promised: () => promised };
}
const request = (at: number): SeenRequest => ({ method: '', url: '', headers: {}, body: '', at });

for (const [form, header, seconds] of [
  ['in seconds', () => '2', 2],
  // Seconds are all that a date tells, so that the promise is for one of them less.
  ['as a date', () => new Date(Date.now() + 3_000).toUTCString(), 2],
] as const)
  it(`sends nothing before the time that the platform names ${form}, neither waiting nor new requests`, async () => {
    const { client, seen, promised } = await asking(header, seconds);
    const looks = Array.from({ length: 40 }, (_, i) => client.findBatch(`b${i}`, { tenant: 'north' }));
    // By a caller that knows nothing of the others and makes one attempt.
    setTimeout(() => looks.push(client.findBatch('late', { tenant: 'north', once: true })), 600);
    await Promise.allSettled(looks);
    await Promise.allSettled(looks);

    expect(seen.length).toBeGreaterThanOrEqual(41);
    expect(early(seen, AT_ONCE, promised())).toEqual([]);
  });

it('obeys the longest time if answers differ', async () => {
  const { client, seen } = await stubPlatform([
    answer(503, {}, { 'retry-after': '2' }),
    answer(429, {}, { 'retry-after': '0' }),
    DONE,
  ]);
  const looks = [1, 2].map(() => client.findBatch('b1', { tenant: 'north' }));
  await Promise.all(looks);
  const promised = Math.min(...seen.slice(0, 2).map(({ at }) => at)) + 2_000;
  expect(early(seen, 2, promised)).toEqual([]);
});

it('obeys it on a redirect and on a refusal too, even if the body never arrives', async () => {
  for (const status of [302, 400, 500]) {
    const { client, seen } = await stubPlatform(
      [
        (response) => {
          response.writeHead(status, { 'retry-after': '1', 'content-length': '100' });
          response.write('{');
          setTimeout(() => response.destroy(), 100);
        },
        DONE,
      ],
      { requestTimeout: 5_000 },
    );
    await Promise.allSettled([client.findBatch('b1', { tenant: 'north' })]);
    await client.findBatch('b2', { tenant: 'north' });
    expect(early(seen, 1, seen[0]!.at + 1_000), String(status)).toEqual([]);
  }
});

it('treats it on a success as advice about that call only', async () => {
  const { client, seen } = await stubPlatform([answer(200, { success: true, data: BATCH }, { 'retry-after': '3600' })]);
  await client.findBatch('b1', { tenant: 'north' });
  await client.findBatch('b1', { tenant: 'north' });
  expect(seen).toHaveLength(2);
});

it('does not wait longer than a call may take, but reports until when, and sends nothing', async () => {
  const warnings: string[] = [];
  const { client, seen } = await stubPlatform([answer(429, { message: 'enough' }, { 'retry-after': '3600' })], {
    warn: (message) => warnings.push(message),
  });
  expect(await errorOf(client.findBatch('b1', { tenant: 'north' }))).toMatchObject({ details: { status: 429 } });
  const error = await errorOf(client.findBatch('b2', { tenant: 'north' }));
  expect(error).toMatchObject({ code: 'platform_busy', retryable: true, details: { unsent: true } });
  expect(error.message).toMatch(/was not sent: the platform asks to wait until \d{4}-.*Z \(Retry-After\)/);
  expect(error.details['retryAfterMs']).toBeGreaterThan(3_500_000);
  expect(seen).toHaveLength(1);
  expect(warnings).toEqual(['the platform asks to wait for 1h 0m (Retry-After): nothing is sent until then']);
});

it('asks its caller immediately before it sends, after all waiting', async () => {
  const { client, seen } = await stubPlatform([answer(429, {}, { 'retry-after': '1' }), DONE]);
  const asked: number[] = [];
  const before = (): Promise<void> => {
    asked.push(seen.length === 0 ? 0 : performance.now());
    return Promise.resolve();
  };
  const first = performance.now();
  await client.findBatch('b1', { tenant: 'north', before });
  expect(asked).toHaveLength(2);
  expect(asked[1]! - first).toBeGreaterThanOrEqual(1_000);
});
