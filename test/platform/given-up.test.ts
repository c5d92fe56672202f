/** Requests that are cancelled: what has not been sent yet is never sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { type Answer, answer, DONE, stubPlatform } from './stub-platform.js';

const taken = answer(202, { success: true, data: { batchId: 'b', recordCount: 0 } });
const ONE_BY_ONE = { connections: 1, requestTimeout: 60_000 };
const call = { tenant: 'north', once: true } as const;

/** Answers when the test says so. */
function inItsTime(then: Answer) {
  const answers: (() => void)[] = [];
  const hold: Answer = (response, request) => void answers.push(() => then(response, request));
  return { hold, release: () => answers.splice(0).forEach((say) => say()) };
}

it('does not send an upload that was cancelled before it began', async () => {
  const { client, seen } = await stubPlatform([taken]);
  const signal = AbortSignal.abort(new Error('cancelled'));

  const upload = client.uploadResources('customer', '{"resources":[]}', {}, { ...call, signal });

  await expect(upload).rejects.toThrow('cancelled');
  // What is asked next comes over the same connection, behind it.
  await client.uploadResources('order', '{"resources":[]}', {}, call);
  expect(seen.map(({ url }) => url)).toEqual([expect.stringContaining('/order/')]);
});

it('does not send an upload that was cancelled while it waited for a connection', async () => {
  const slow = inItsTime(DONE);
  const { client, seen } = await stubPlatform([slow.hold, taken], ONE_BY_ONE);
  const looking = client.getBatch('b1', {}, { tenant: 'north' });
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  const abort = new AbortController();

  const late = client.uploadResources('customer', '{"resources":[]}', {}, { ...call, signal: abort.signal });
  // Until it waits for the connection.
  await sleep(20);
  abort.abort(new Error('cancelled'));
  await expect(late).rejects.toThrow('cancelled');
  slow.release();
  await looking;
  await client.uploadResources('order', '{"resources":[]}', {}, call);

  expect(seen.map(({ method, url }) => `${method} ${url.split('/')[3]!}`)).toEqual(['GET b1', 'POST order']);
});
