/** Readings of the same rows beside each other: the newest is not lost, and each row counts in the books once. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/record.js';
import { END_OF_RANGE, type WaitingRecord } from '../../src/state/group-outcome.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { ledgerForTests, record, type Reading } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, reading, claim, outcome } = the;
const [a, b] = [record('a', '1'), record('b', '1')];
const changed = record('a', '2');

/** The record was busy elsewhere, and is to be read again in so many seconds. */
async function noteBusy(range: TakenRange, r: MappedRecord, read: Reading, dueIn = 3600): Promise<void> {
  const waiting: WaitingRecord = {
    ...{ tenantId: the.tenantIds.get(r.tenant)!, externalId: r.externalId, sourceKey: r.sourceKey, reason: 'busy' },
    ...{ batchId: null, contentHash: null, missing: [], expiresAt: null, dueIn },
  };
  const first = { reading: { kind: 'first', ...read } as const };
  await the.ledger.checkpoint(range, await outcome(null, [r], 'waiting', { ...first, waiting: [waiting] }));
}
const books = async (range: TakenRange): Promise<object | undefined> =>
  (
    await the.database.query(
      `SELECT read::int, accepted::int, unchanged::int, waiting::int FROM partner_sync.books WHERE range_id = $1`,
      [range.id],
    )
  )[0];

it('does not lose a newer reading to the outcome of an older one', async () => {
  const [slow, quick] = [await newRange(), await newRange()];
  const early = await reading();
  const claimed = await claim(slow, [a], early);
  const late = await reading();
  expect((await claim(quick, [changed], late)).verdicts).toEqual(['busy']);
  await noteBusy(quick, changed, late);

  const first = { reading: { kind: 'first', ...early } as const };
  await the.ledger.checkpoint(slow, await outcome(claimed, [a], 'accepted', first));

  expect(await the.ledger.waiting.outlook(the.mappingId, quick.runId)).toMatchObject({ waiting: 1 });
  expect(await books(quick)).toEqual({ read: 1, accepted: 0, unchanged: 0, waiting: 1 });
});

it('does not lose the newest of three readings, though an older one is noted after it', async () => {
  const [oldest, sent, newest] = [await newRange(), await newRange(), await newRange()];
  const [first, second, third] = [await reading(), await reading(), await reading()];
  const claimed = await claim(sent, [a], second);
  expect((await claim(newest, [changed], third)).verdicts).toEqual(['busy']);
  expect((await claim(oldest, [record('a', '0')], first)).verdicts).toEqual(['busy']);
  await noteBusy(newest, changed, third);
  await noteBusy(oldest, record('a', '0'), first);

  const outcomeOfSecond = { reading: { kind: 'first', ...second } as const };
  await the.ledger.checkpoint(sent, await outcome(claimed, [a], 'accepted', outcomeOfSecond));

  expect(await the.ledger.waiting.outlook(the.mappingId, newest.runId)).toMatchObject({ waiting: 1 });
});

it('counts a row that waits in the books of the run that has read it last', async () => {
  const [before, after] = [await newRange(), await newRange()];
  await noteBusy(before, a, await reading());
  await noteBusy(after, a, await reading());
  expect(await books(before)).toEqual({ read: 1, accepted: 0, unchanged: 1, waiting: 0 });
  expect(await books(after)).toEqual({ read: 1, accepted: 0, unchanged: 0, waiting: 1 });

  const again = { reading: { kind: 'again', ...(await reading()) } as const };
  await the.ledger.checkpoint(before, await outcome(await claim(before, [a]), [a], 'accepted', again));

  expect(await books(before)).toEqual({ read: 1, accepted: 0, unchanged: 1, waiting: 0 });
  expect(await books(after)).toEqual({ read: 1, accepted: 1, unchanged: 0, waiting: 0 });
});

it('counts a row that was read twice in one group twice as read, and once as unchanged', async () => {
  const range = await newRange();
  await the.ledger.checkpoint(range, await outcome(await claim(range, [a]), [a], 'accepted', { readTwice: 1 }));
  expect(await books(range)).toEqual({ read: 2, accepted: 1, unchanged: 1, waiting: 0 });
});

it('leaves a range that is read to its end so, when records of it are read again', async () => {
  const range = await newRange();
  await the.ledger.checkpoint(range, END_OF_RANGE);

  const again = { reading: { kind: 'again', ...(await reading()) } as const };
  await the.ledger.checkpoint(range, await outcome(await claim(range, [a]), [a], 'accepted', again));

  expect((await the.ledger.ranges.take(range.id)).done).toBe(true);
});

it('waits at the end of a run for records that are read again in some seconds, not for those of a later hour', async () => {
  const range = await newRange();
  await noteBusy(range, a, await reading(), 20);
  await noteBusy(range, b, await reading(), 3600);

  expect(await the.ledger.waiting.outlook(the.mappingId, range.runId)).toMatchObject({
    waiting: 2,
    held: 0,
    dueSoon: 1,
  });
});
