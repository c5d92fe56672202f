/** The connections of a process, which its syncs share. */
import { expect, it } from 'vitest';
import { createRequestLimit } from '../../src/platform/request-limit.js';
import { DONE, stubPlatform } from './stub-platform.js';

const BY = { tenant: 'tenant-a' };

it('go to the syncs in turn, so that one with few requests does not wait for another with many', async () => {
  const { client, seen } = await stubPlatform([DONE], { connections: 2 });
  const [large, small] = [createRequestLimit(100), createRequestLimit(100)];
  const find = (limit: typeof large, batch: string) =>
    limit.run({ queue: BY.tenant }, (pace) => client.findBatch(batch, { ...BY, pace }));
  const calls = Array.from({ length: 100 }, () => find(large, 'large'));
  // All of them wait for a connection by then, but those that have one.
  while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const before = seen.length;

  // One after the other, as the requests of a run are.
  for (let i = 0; i < 10; i++) await find(small, 'small');

  const between = seen.length - before;
  await Promise.all(calls);
  expect(seen).toHaveLength(110);
  // Each of the small one waits for a connection, so for the end of one request, and then for its own.
  expect(between).toBeLessThan(60);
});
