/** A token that is refused: if another one may arrive, the client waits for it, and loses or repeats nothing. */
import { expect, it } from 'vitest';
import type { OnRetry } from '../../src/domain/monitoring/retries.js';
import { isInDoubt } from '../../src/platform/error.js';
import { type Answer, answer, DONE, errorOf, stubPlatform, success } from './stub-platform.js';

/** Takes one token only. */
const taking =
  (token: string, then = DONE): Answer =>
  (response, request) =>
    (request.headers.authorization === `Bearer ${token}`
      ? then
      : answer(401, { message: `${request.headers.authorization} has expired` }))(response, request);

/** A token file that changes after a while. */
function file(first: string, second: string, after: number) {
  let token = first;
  setTimeout(() => (token = second), after);
  return () => Promise.resolve(token);
}

const batches = (n: number): string[] => Array.from({ length: n }, (_, i) => `b${i}`);

it('waits for the renewed token, continues with it, and says so once', async () => {
  const warnings: string[] = [];
  const { client, seen } = await stubPlatform([taking('new')], {
    token: file('old', 'new', 700),
    tokenWait: 20_000,
    retryBudget: 0,
    warn: (message) => warnings.push(message),
  });

  const found = await Promise.all(batches(30).map((id) => client.findBatch(id, { tenant: 'north' })));

  expect(found).toHaveLength(30);
  // Those that were on their way, and not each of the thirty.
  expect(seen.filter(({ headers }) => headers.authorization === 'Bearer old').length).toBeLessThanOrEqual(8);
  expect(warnings).toEqual([
    'GET /api/batches/{batchId} returned 401: Bearer [token] has expired; waiting for another token for up to 20s',
    'the platform accepts the token again; continuing',
  ]);
});

it('lets a refused upload be sent again, since it is not in doubt', async () => {
  const { client, seen } = await stubPlatform([taking('new', success({ batchId: 'b', recordCount: 0 }))], {
    token: file('old', 'new', 300),
    tokenWait: 20_000,
  });
  const upload = () => client.uploadResources('customer', '{"resources":[]}', {}, { tenant: 'north', once: true });

  const error = await errorOf(upload());

  expect(isInDoubt(error)).toBe(false);
  expect(client.awaitsToken(error)).toBe(true);
  expect(await upload()).toMatchObject({ batchId: 'b' });
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
});

it('fails with one clear message if no other token arrives, and tries again at the next call', async () => {
  const { client, seen } = await stubPlatform([taking('new')], {
    token: () => Promise.resolve('old'),
    tokenWait: 700,
  });

  for (let call = 0; call < 2; call++) {
    const error = await errorOf(client.findBatch('b1', { tenant: 'north' }));
    expect(error).toMatchObject({ code: 'platform_unauthorized', retryable: false });
    expect(error.message).toBe(
      'GET /api/batches/{batchId} was rejected with 401: Bearer [token] has expired; no other token came within 0.7s (PLATFORM_TOKEN_WAIT)',
    );
    expect(client.awaitsToken(error)).toBe(false);
  }
  expect(seen).toHaveLength(2);
});

it('retries the same token occasionally, since one 401 may be a mistake of the platform', async () => {
  const { client, seen } = await stubPlatform([answer(401, { message: 'no' }), DONE], {
    token: () => Promise.resolve('good'),
    tokenWait: 60_000,
  });

  await Promise.all(batches(5).map((id) => client.findBatch(id, { tenant: 'north' })));

  expect(seen.filter(({ headers }) => headers.authorization === 'Bearer good').length).toBeGreaterThanOrEqual(6);
});

it('tolerates a file that is empty or missing while it is being replaced', async () => {
  let token = '';
  setTimeout(() => (token = 'new'), 300);
  const { client } = await stubPlatform([taking('new')], { token: () => Promise.resolve(token), tokenWait: 20_000 });
  expect(await client.findBatch('b1', { tenant: 'north' })).toMatchObject({ batchId: 'b1' });
});

it('does not wait if no other token can arrive, or if it was told not to', async () => {
  for (const settings of [
    { token: 'old', tokenWait: 60_000 },
    { token: () => Promise.resolve('old'), tokenWait: 0 },
  ]) {
    const { client, seen } = await stubPlatform([taking('new')], settings);
    const error = await errorOf(client.findBatch('b1', { tenant: 'north' }));
    expect(error).toMatchObject({ code: 'platform_unauthorized', details: { status: 401 } });
    expect(error.message).not.toContain('old');
    expect(seen).toHaveLength(1);
  }
});

it('does not wait after 403, since another token of the same account has no more rights', async () => {
  const { client, seen } = await stubPlatform([answer(403, { message: 'not yours' })], {
    token: () => Promise.resolve('good'),
    tokenWait: 60_000,
  });
  expect((await errorOf(client.findBatch('b1', { tenant: 'north' }))).code).toBe('platform_unauthorized');
  expect(seen).toHaveLength(1);
});

it('stops waiting when it is cancelled', async () => {
  const { client } = await stubPlatform([taking('new')], { token: () => Promise.resolve('old'), tokenWait: 60_000 });
  const abort = new AbortController();
  const looking = client.findBatch('b1', { tenant: 'north', signal: abort.signal });
  setTimeout(() => abort.abort(new Error('enough')), 300);
  await expect(looking).rejects.toThrow('enough');
});

it('tells since when it has been waiting for another token', async () => {
  const { client } = await stubPlatform([taking('new')], { token: file('old', 'new', 1200), tokenWait: 20_000 });
  const told: Parameters<OnRetry>[] = [];
  await client.findBatch('b1', { tenant: 'north', onRetry: (...failure) => told.push(failure) });
  expect(new Set(told.map(([code]) => code))).toEqual(new Set(['platform_unauthorized']));
  expect(told.at(-1)![1]).toBeGreaterThan(900);
});
