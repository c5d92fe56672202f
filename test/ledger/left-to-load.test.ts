/** What a load that was stopped leaves to the run in mode live that goes on with it. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import type { AcquiredFeed } from '../../src/ledger/changes/feeds.js';
import { ledgerForTests, record } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const the = ledgerForTests();
const ANY = { cursorFrom: null, cursorBefore: null, externalIds: null, byCursor: false, movesPosition: false };
const expected = { expectedRows: 100, isComplete: true, highWatermarkAt: null };

let feed: AcquiredFeed;
/** A run that has read the first of three ranges, and one row of the second. */
let stopped: string;
beforeEach(async () => {
  const { feeds, partitions } = the.ledger;
  feed = await feeds.acquire('shop', randomUUID());
  await feeds.begin(feed, { origin: 'one', at: '10' });
  await feeds.feedMappings(feed, [{ mappingId: the.mappingId, reads: 'a table' }]);
  stopped = await newRun(the.ledger, { mode: 'live' });
  await feeds.beginLoad(the.mappingId, stopped);
  const ends = [null, ['f'], ['m'], null];
  await partitions.plan(
    stopped,
    the.mappingId,
    [0, 1, 2].map((i) => ({ ...ANY, afterKey: ends[i]!, throughKey: ends[i + 1]! })),
    expected,
  );
  const [first, second] = await partitions.planned(stopped, the.mappingId);
  await partitions.finish(await partitions.acquire(first!.id));
  await the.ledger.checkpoint(
    await partitions.acquire(second!.id),
    await the.outcome(null, [record('g', '1')], 'unchanged', { position: { cursor: null, key: ['g'] } }),
  );
});

const next = async (mappingVersion = 'v1') =>
  the.ledger.feeds.leftToLoad(the.mappingId, await newRun(the.ledger, { mode: 'live', mappingVersion }));

it('is each range behind the rows that have their outcomes, and about how many rows they have', async () => {
  await the.ledger.runs.end(stopped, 'incomplete');
  expect(await next()).toEqual({
    ranges: [
      { after: ['g'], through: ['m'] },
      { after: ['m'], through: null },
    ],
    expectedRows: 99,
  });
});

it('is nothing while the run has not ended', async () => {
  expect(await next()).toBeNull();
  await the.ledger.runs.end(stopped, 'incomplete');
});

it('is nothing if the files have changed: the rows that were read would stay as they are', async () => {
  await the.ledger.runs.end(stopped, 'incomplete');
  expect(await next('v2')).toBeNull();
});

it('is nothing once changes may have been lost', async () => {
  await the.ledger.runs.end(stopped, 'incomplete');
  await the.ledger.feeds.note(feed, [{ mappingId: the.mappingId, keys: [], unnamed: 'changes' }], null);
  expect(await next()).toBeNull();
});

it('is nothing once every row has been read', async () => {
  const { feeds, partitions, runs } = the.ledger;
  for (const { id } of await partitions.planned(stopped, the.mappingId))
    await partitions.finish(await partitions.acquire(id));
  await runs.end(stopped, 'complete');
  await feeds.note(feed, [], null, true);
  expect(await feeds.mapping(the.mappingId)).toMatchObject({ loaded: true });
  expect(await next()).toBeNull();
});
