/**
 * Recovery of a batch whose POST may still be on its way: its records stay nobody's until the platform must be through
 * with it. Time passes in the ledger only, by the clock that recovery sleeps by.
 */
import { expect, it, vi } from 'vitest';
import { recoverRange } from '../../activities/recover-range.js';
import type { UploadScope } from '../../activities/upload-batch.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { ledgerForTests, record } from '../state/ledger-for-tests.js';

const clock = vi.hoisted(() => ({ pass: (_ms: number): Promise<void> => Promise.resolve() }));
vi.mock('node:timers/promises', () => ({ setTimeout: (ms: number) => clock.pass(ms) }));

const the = ledgerForTests();
const { newRange, claim } = the;

/** Seconds: long beside what the test takes. */
const DELAY = 600;
/** A POST begins within half a delay of its intent, ends half a delay later, and the platform takes up to a whole one. */
const LONGEST = 2 * DELAY;

const later = (seconds: number) =>
  the.database.query(`UPDATE partner_sync.batches SET intended_at = intended_at - $1 * interval '1 second'`, [seconds]);

const ageOf = async (batchId: string): Promise<number> => {
  const [row] = await the.database.query<{ age: number }>(
    `SELECT extract(epoch FROM clock_timestamp() - intended_at)::float8 AS age FROM partner_sync.batches WHERE id = $1`,
    [batchId],
  );
  return row!.age;
};

const scopeOf = (range: TakenRange, platform: object = {}): UploadScope =>
  ({
    deps: { ledger: the.ledger, platform },
    sync: { spec: { upload: { inDoubtDelay: DELAY, batchDeadline: 60 } } },
    ...{ range, signal: new AbortController().signal },
    mapping: { spec: { options: { dependencyWaitTimeout: 60 } } },
  }) as unknown as UploadScope;

/** A batch that an attempt intended and never heard of, found so many seconds later by its successor. */
async function left(foundAfter: number) {
  const dead = await newRange();
  const { batches } = await claim(dead, [record('a', '1')]);
  await later(foundAfter);
  return { batch: batches[0]!, successor: await the.ledger.ranges.take(dead.id) };
}

it.each([0, 0.25, 0.5, 1, 1.5, 1.9, 2, 3])(
  'sends a record of unknown fate again only once the platform must be through with it, when it is found after %d delays',
  async (delays) => {
    const { batch, successor } = await left(delays * DELAY);
    const other = await newRange();
    const meanwhile: unknown[] = [];
    clock.pass = async (ms) => {
      meanwhile.push(...(await claim(other, [record('a', '1')])).verdicts);
      await later(ms / 1000);
    };

    await recoverRange(scopeOf(successor));

    expect(new Set(meanwhile)).toEqual(new Set(['busy']));
    expect(await ageOf(batch.id!)).toBeGreaterThanOrEqual(LONGEST);
    expect((await claim(other, [record('a', '1')])).verdicts).toEqual([undefined]);
  },
);

it('follows a batch whose id the dead attempt could still note while its end was waited for', async () => {
  const { batch, successor } = await left(0);
  const progress = { totalRecords: 1, processedRecords: 1, successfulRecords: 1, pendingRecords: 0, failedRecords: 0 };
  const asked: string[] = [];
  const platform = {
    findBatch: (id: string) => {
      asked.push(id);
      return Promise.resolve({ batchId: id, progress, completedAt: '2026-01-01T00:00:00Z' });
    },
  };
  clock.pass = async () => {
    clock.pass = () => Promise.resolve();
    await the.ledger.batches.sent(batch, 'platform-1');
  };

  await recoverRange(scopeOf(successor, platform));

  expect(asked).toEqual(['platform-1']);
  // What the platform accepted is not sent a second time.
  expect((await claim(await newRange(), [record('a', '1')])).verdicts).toEqual(['unchanged']);
});

it('sends again what the status of a batch does not prove, and follows what the platform holds', async () => {
  const dead = await newRange();
  const rows = ['a', 'b', 'c', 'd'].map((id) => record(id, '1'));
  const [batch] = (await claim(dead, rows)).batches;
  await the.ledger.batches.sent(batch!, 'platform-1');
  const pending = { resourceExternalId: 'b', missingDependencies: [], expiresAt: '2026-01-02T00:00:00Z' };
  const status = {
    batchId: 'platform-1',
    // One of two failures names no record.
    progress: { totalRecords: 4, processedRecords: 3, successfulRecords: 1, pendingRecords: 1, failedRecords: 2 },
    completedAt: null,
    errors: { recordErrors: ['externalId "a": too long', 'too long'] },
    pendingResources: [pending],
  };

  await recoverRange(scopeOf(await the.ledger.ranges.take(dead.id), { findBatch: () => Promise.resolve(status) }));

  expect((await claim(await newRange(), rows)).verdicts).toEqual([undefined, 'waiting', undefined, undefined]);
  expect((await the.ledger.batches.waitingOf(the.mappingId)).map((o) => o.externalIds)).toEqual([['b']]);
});
