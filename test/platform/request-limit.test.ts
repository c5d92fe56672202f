/** Fewer requests at once when the platform asks for patience, slowly more again. */
import { expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { openRequestLimit, type RequestLimit } from '../../src/platform/request-limit.js';

const busy = (): Promise<never> => Promise.reject(new PartnerSyncError('platform_busy', 'busy'));
const pass = (): Promise<void> => Promise.resolve();
const times = (n: number, limit: RequestLimit, request: () => Promise<void>): Promise<unknown> =>
  Promise.allSettled(Array.from({ length: n }, () => limit.run(request)));

it('halves what is on its way at once, once for a crowd that complains together, down to one', async () => {
  const limit = openRequestLimit(8);
  await times(8, limit, busy);
  expect(limit.atOnce).toBe(4);
  for (let i = 0; i < 5; i++) await times(1, limit, busy);
  expect(limit.atOnce).toBe(1);
});

it('tries one more after many have passed, and never more than it may', async () => {
  const limit = openRequestLimit(4);
  await times(1, limit, busy);
  expect(limit.atOnce).toBe(2);
  await times(31, limit, pass);
  expect(limit.atOnce).toBe(2);
  await times(1, limit, pass);
  expect(limit.atOnce).toBe(3);
  await times(500, limit, pass);
  expect(limit.atOnce).toBe(4);
});

it('takes what was held back before it was sent for no complaint of the crowd', async () => {
  const limit = openRequestLimit(8);
  const held = (): Promise<never> =>
    Promise.reject(new PartnerSyncError('platform_busy', 'was not sent', { retryAfterMs: 90_000, unsent: true }));
  await times(8, limit, held);
  expect(limit.atOnce).toBe(8);
});
