/** Which failures of an activity are final: those of one kind are counted, whatever went wrong before them. */
import { inspect } from 'node:util';
import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runActivity } from '../../activities/run-activity.js';
import { ON_ANOTHER_WORKER } from '../../src/domain/run/another-worker.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { milliseconds, times, type DurationName } from '../../src/domain/timeouts.js';

/** Fails once as attempt number `attempt`; `details`: those of the last heartbeat before it. */
async function attempt(number: number, error: Error, details?: unknown, longest: DurationName = 'retryLongest') {
  const logger = new DefaultLogger('ERROR', () => undefined);
  const env = new MockActivityEnvironment({ attempt: number, heartbeatDetails: details }, { logger });
  let last = details;
  env.on('heartbeat', (sent: unknown) => (last = sent));
  const work = () => Promise.reject(error);
  const failure = await env.run(() => runActivity(work, { longest })).catch((thrown: unknown) => thrown);
  const { nonRetryable, nextRetryDelay } = failure as { nonRetryable?: boolean; nextRetryDelay?: number };
  return { nonRetryable: nonRetryable === true, pause: nextRetryDelay, details: last };
}

const changed = new PartnerSyncError('config_invalid', 'no such sync', ON_ANOTHER_WORKER);

it.each([
  ['an unexpected error', new Error('bug'), times('unexpectedAttempts')],
  ['files that another worker may have', changed, times('anotherWorkerAttempts')],
])('gives up after so many attempts in a row with %s, however many an outage took before', async (_, error, most) => {
  let details: unknown;
  const outcomes: boolean[] = [];
  for (let i = 0; i < most; i++) {
    const failed = await attempt(100 + i, error, details);
    details = failed.details;
    outcomes.push(failed.nonRetryable);
  }
  expect(outcomes).toEqual([...Array<boolean>(most - 1).fill(false), true]);
});

it('waits longer after each failure of one kind, but not because workers have died before it', async () => {
  const lost = new PartnerSyncError('source_unreachable', 'gone');
  const workersThatDied = 40;
  const pauses: number[] = [];
  let details: unknown;
  for (let i = 1; i <= 8; i++) {
    const failed = await attempt(workersThatDied + i, lost, details);
    details = failed.details;
    pauses.push(failed.pause! / 1000);
  }
  const another = await attempt(99, new PartnerSyncError('platform_failed', '502'), details);

  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(another.pause! / 1000).toBe(1);
});

it('waits no longer than the activity allows', async () => {
  const lost = { code: 'source_unreachable', failures: 20 };
  const failed = await attempt(21, new PartnerSyncError('source_unreachable', 'gone'), lost, 'followRetryLongest');
  expect(failed.pause).toBe(milliseconds('followRetryLongest'));
});

it('sends heartbeats while it works, whatever the work is, and none afterwards', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const env = new MockActivityEnvironment();
  const sent: unknown[] = [];
  env.on('heartbeat', (details: unknown) => sent.push(details));
  const every = milliseconds('heartbeatEvery');

  await env.run(() =>
    runActivity(async (_, rowsDone) => {
      await vi.advanceTimersByTimeAsync(2 * every);
      rowsDone(100);
      await vi.advanceTimersByTimeAsync(every);
    }),
  );
  await vi.advanceTimersByTimeAsync(10 * every);

  expect(sent).toHaveLength(3);
  expect(sent[1]).not.toHaveProperty('rows');
  expect(sent[2]).toMatchObject({ rows: 100 });
});

it('says nothing of what an unexpected error says, neither to Temporal nor in the log, but where it arose', async () => {
  const entries: string[] = [];
  const logger = new DefaultLogger('TRACE', (entry) => void entries.push(inspect(entry, { depth: 9 })));
  const env = new MockActivityEnvironment({}, { logger });
  const error = Object.assign(new TypeError('cannot read this:\n    at Quillfeather (row:7:1)'), {
    cause: new Error('Quillfeather'),
    row: 'Quillfeather',
  });

  const failure = await env.run(() => runActivity(() => Promise.reject(error))).catch((thrown: unknown) => thrown);

  const { type, message, details, cause } = failure as ApplicationFailure;
  const [, reference] = /^unexpected error; see the worker log, reference (\w+)$/.exec(message)!;
  expect({ type, details: details ?? [], cause }).toEqual({ type: 'unexpected', details: [], cause: undefined });
  expect(entries.join('\n')).toContain(reference);
  expect(entries.join('\n')).toMatch(/name: 'TypeError'[^]*run-activity\.test\.ts/);
  expect(entries.join('\n')).not.toContain('Quillfeather');
});
