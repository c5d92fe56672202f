/** Retries in place reach the ledger if they last, and seldom. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { recordingInPlace } from '../../src/delivery/retries-in-place.js';
import { ledgerForTests } from '../ledger/ledger-for-tests.js';

const the = ledgerForTests();

it('records failures that have lasted for five seconds, once in five seconds for each sync', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  await the.newPartition();
  const recorded: Promise<void>[] = [];
  const runs = {
    recordRetry(...retry: Parameters<typeof the.ledger.runs.recordRetry>) {
      recorded.push(the.ledger.runs.recordRetry(...retry));
      return recorded.at(-1)!;
    },
  };
  const onRetry = recordingInPlace(() => Promise.resolve(runs));
  const told = async (sync: string, failingFor: number): Promise<number> => {
    onRetry(sync)('platform_busy', failingFor);
    await Promise.resolve();
    return recorded.length;
  };
  expect(await told('shop', 4_900)).toBe(0);
  expect(await told('shop', 5_100)).toBe(1);
  expect(await told('shop', 6_000)).toBe(1);
  expect(await told('other', 6_000)).toBe(2);
  vi.advanceTimersByTime(5_000);
  expect(await told('shop', 11_000)).toBe(3);
  await Promise.all(recorded);
  const [state] = await the.ledger.syncStates.of('shop');
  const { code, since, lastFailedAt } = state!.retrying!;
  expect(code).toBe('platform_busy');
  // Since the first failure, not since it was recorded.
  expect((lastFailedAt.getTime() - since.getTime()) / 1000).toBeCloseTo(11, 0);
});
