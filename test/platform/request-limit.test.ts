/** Fewer requests at once when the platform asks for patience, slowly more again, none before its Retry-After. */
import { expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { openRequestLimit, type RequestLimit } from '../../src/platform/request-limit.js';

const busy = (retryAfterMs?: number) => (): Promise<never> =>
  Promise.reject(new PartnerSyncError('platform_busy', 'busy', { retryAfterMs }));
const pass = (): Promise<void> => Promise.resolve();
const times = (n: number, limit: RequestLimit, request: () => Promise<void>): Promise<unknown> =>
  Promise.allSettled(Array.from({ length: n }, () => limit.run(request)));

it('halves what is on its way at once, once for a crowd that complains together, down to one', async () => {
  const limit = openRequestLimit(8);
  await times(8, limit, busy());
  expect(limit.atOnce).toBe(4);
  for (let i = 0; i < 5; i++) await times(1, limit, busy());
  expect(limit.atOnce).toBe(1);
});

it('tries one more after many have passed, and never more than it may', async () => {
  const limit = openRequestLimit(4);
  await times(1, limit, busy());
  expect(limit.atOnce).toBe(2);
  await times(31, limit, pass);
  expect(limit.atOnce).toBe(2);
  await times(1, limit, pass);
  expect(limit.atOnce).toBe(3);
  await times(500, limit, pass);
  expect(limit.atOnce).toBe(4);
});

it('sends nothing before the time that the platform names', async () => {
  const limit = openRequestLimit(8);
  await times(1, limit, busy(400));
  const started = performance.now();
  await times(3, limit, pass);
  expect(performance.now() - started).toBeGreaterThanOrEqual(399);
});

it('does not wait here for longer than a minute, but says how long it would be', async () => {
  const limit = openRequestLimit(8);
  await times(1, limit, busy(600_000));
  const error: PartnerSyncError = await limit.run(pass).then(
    () => expect.fail('it was sent'),
    (e: PartnerSyncError) => e,
  );
  expect(error.code).toBe('platform_busy');
  expect(error.details['retryAfterMs']).toBeGreaterThan(590_000);
});
