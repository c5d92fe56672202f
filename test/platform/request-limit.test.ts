/** Fewer concurrent requests after the platform asks for a pause, then slowly more again. */
import { expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { createRequestLimit, type RequestLimit } from '../../src/platform/request-limit.js';

const busy = (): Promise<never> => Promise.reject(new PartnerSyncError('platform_busy', 'busy'));
const pass = (): Promise<void> => Promise.resolve();
const times = (n: number, limit: RequestLimit, request: () => Promise<void>): Promise<unknown> =>
  Promise.allSettled(Array.from({ length: n }, () => limit.run(request)));

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
