/** Fewer concurrent requests after the platform asks for a pause, then slowly more again. */
import { expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { createRequestLimit, type RequestLimit } from '../../src/platform/request-limit.js';

const busy = (): Promise<never> => Promise.reject(new PartnerSyncError('platform_busy', 'busy'));
const pass = (): Promise<void> => Promise.resolve();
const times = (n: number, limit: RequestLimit, request: () => Promise<void>): Promise<unknown> =>
  Promise.allSettled(Array.from({ length: n }, () => limit.run({ queue: 'north' }, request)));

it('halves the number of concurrent requests, once for several simultaneous 429s, down to one', async () => {
  const limit = createRequestLimit(8);
  await times(8, limit, busy);
  expect(limit.atOnce).toBe(4);
  for (let i = 0; i < 5; i++) await times(1, limit, busy);
  expect(limit.atOnce).toBe(1);
});

it('allows one more after many successes, and never more than the limit', async () => {
  const limit = createRequestLimit(4);
  await times(1, limit, busy);
  expect(limit.atOnce).toBe(2);
  await times(31, limit, pass);
  expect(limit.atOnce).toBe(2);
  await times(1, limit, pass);
  expect(limit.atOnce).toBe(3);
  await times(500, limit, pass);
  expect(limit.atOnce).toBe(4);
});

it('does not count requests that were held back before they were sent as 429s', async () => {
  const limit = createRequestLimit(8);
  const held = (): Promise<never> =>
    Promise.reject(new PartnerSyncError('platform_busy', 'was not sent', { retryAfterMs: 90_000, unsent: true }));
  await times(8, limit, held);
  expect(limit.atOnce).toBe(8);
});

/** Lets what is waiting begin. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('lets a tenant with few requests through between those of a tenant with many', async () => {
  const limit = createRequestLimit(1);
  const order: string[] = [];
  const send = (tenant: string) => limit.run({ queue: tenant }, () => Promise.resolve(order.push(tenant)));
  const large = Array.from({ length: 50 }, () => send('large'));
  const small = [send('small'), send('small')];

  await Promise.all([...large, ...small]);

  expect(order.slice(0, 5)).toEqual(['large', 'large', 'small', 'large', 'small']);
});

it('lets go of requests that are cancelled before they begin, and gives their room to others', async () => {
  const limit = createRequestLimit(1);
  let end = (): void => undefined;
  const first = limit.run({ queue: 'north' }, () => new Promise<void>((resolve) => (end = resolve)));
  const cancelled = new AbortController();
  const waiting = limit.run({ queue: 'north', signal: cancelled.signal }, pass);
  const next = limit.run({ queue: 'north' }, pass);
  await settled();

  cancelled.abort(new Error('cancelled'));
  await expect(waiting).rejects.toThrow('cancelled');
  end();

  await Promise.all([first, next]);
});

it('lets more through as soon as it is raised', async () => {
  const limit = createRequestLimit(1);
  let begun = 0;
  const never = (): Promise<never> => (begun++, new Promise(() => undefined));
  for (let i = 0; i < 3; i++) void limit.run({ queue: 'north' }, never);
  await settled();
  expect(begun).toBe(1);

  limit.set({ atOnce: 3, perSecond: null });
  await settled();

  expect(begun).toBe(3);
});
