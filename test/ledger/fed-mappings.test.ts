/** Mappings that a feed is of: when its changed rows are all that is left to read, and when no deleted row is missed. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import type { AcquiredFeed } from '../../src/ledger/changes/feeds.js';
import { at, fedLedgerForTests } from './fed-ledger-for-tests.js';
import { newRun } from './new-partition.js';

const its = fedLedgerForTests();
const { the, note, keys, fed, fedMapping } = its;
const { newPartition } = the;

let feed: AcquiredFeed;
beforeEach(() => {
  feed = its.feed;
});

it('are all that is left to read once every row was read after the feed began', async () => {
  await note([]);
  expect(await fed()).toMatchObject({ loaded: false, missedDeletes: true });

  const runId = await newRun(the.ledger);
  const bounds = { cursorFrom: null, cursorBefore: null, externalIds: null, byCursor: false, movesPosition: false };
  await the.loads(runId);
  await the.ledger.partitions.plan(runId, the.mappingId, [
    { ...bounds, afterKey: null, throughKey: ['m'] },
    { ...bounds, afterKey: ['m'], throughKey: null },
  ]);
  const [first, second] = await the.ledger.partitions.planned(runId, the.mappingId);
  await the.ledger.partitions.finish(await the.ledger.partitions.acquire(first!.id));
  expect(await fed()).toMatchObject({ loaded: false });
  await the.ledger.partitions.finish(await the.ledger.partitions.acquire(second!.id));
  expect(await fed()).toMatchObject({ loaded: true });

  // Its changes were lost.
  await the.ledger.feeds.begin(feed, at('5', 'two'));
  expect(await fed()).toMatchObject({ loaded: false });
});

it('do not count as loaded by a run that began to read before the feed began anew', async () => {
  await note([]);
  const { id } = await newPartition();
  const partition = await the.ledger.partitions.acquire(id);
  await the.loads(partition.runId);
  await the.ledger.feeds.begin(feed, at('5', 'two'));
  await the.ledger.partitions.finish(partition);
  expect(await fed()).toMatchObject({ loaded: false });
});

it('leave no deleted row unnoticed once all records were looked through, unless a table is emptied meanwhile', async () => {
  await note([]);
  const search = async (meanwhile: () => Promise<unknown>): Promise<void> => {
    const plan = await the.ledger.removals.open(await newRun(the.ledger), the.mappingId, '{}');
    await the.ledger.feeds.beginSearch(the.mappingId, plan.id);
    await meanwhile();
    await the.ledger.removals.finish(plan);
  };
  await search(() => note([], '20', feed, 'deletions'));
  expect(await fed()).toMatchObject({ missedDeletes: true });
  await search(() => note(['a']));
  expect(await fed()).toMatchObject({ missedDeletes: false });
});

it('are all that is left to read once the run in mode live has read every row, even if another run has begun to meanwhile', async () => {
  await note([]);
  const live = await newPartition(false, await newRun(the.ledger, { mode: 'live' }));
  const mirror = await newPartition(false, await newRun(the.ledger, { mode: 'mirror' }));
  await the.loads(live.runId);
  await the.loads(mirror.runId);
  await the.ledger.partitions.finish(mirror);
  expect(await fed()).toMatchObject({ loaded: false });
  await the.ledger.partitions.finish(live);
  expect(await fed()).toMatchObject({ loaded: true });
  await the.ledger.runs.end(live.runId, 'complete');
});

it('tell what became of the rows of records that a run has sent since it began to read every row, and of no others', async () => {
  const { feeds } = the.ledger;
  const runId = await newRun(the.ledger);
  const isOwnTrusted = (run = runId) => feeds.isOwnTrusted(the.mappingId, run);
  expect(await isOwnTrusted()).toBe(false);
  await the.loads(runId);
  expect([await isOwnTrusted(), await isOwnTrusted('0')]).toEqual([true, false]);

  // Rows that it had read may have been deleted while the feed did not report the table.
  await feeds.feedMappings(feed, [fedMapping('the same table, reported since later')]);
  expect(await isOwnTrusted()).toBe(false);
  await the.loads(runId);
  await note([], '20', feed, 'deletions');
  expect(await isOwnTrusted()).toBe(false);

  // Without a feed, a run is about what it has read.
  await the.newMapping();
  expect(await isOwnTrusted()).toBe(true);
});

it('are still looked for by a run in mode live after another run has looked all records through beside it', async () => {
  await note([]);
  const { removals, feeds } = the.ledger;
  const live = await newRun(the.ledger, { mode: 'live' });
  const plan = await removals.open(await newRun(the.ledger, { mode: 'mirror' }), the.mappingId, '{}');
  await feeds.beginSearch(the.mappingId, plan.id);
  await removals.finish(plan);
  expect(await fed()).toMatchObject({ missedDeletes: true });

  const own = await removals.open(live, the.mappingId, '{}');
  await feeds.beginSearch(the.mappingId, own.id);
  await removals.finish(own);
  expect(await fed()).toMatchObject({ missedDeletes: false });
  await the.ledger.runs.end(live, 'complete');
});

it('are not all that is left to a run that loads after all records were looked through, unless it goes on with them itself', async () => {
  await note([]);
  const { removals, feeds } = the.ledger;
  const search = async (): Promise<void> => {
    const plan = await removals.open(await newRun(the.ledger), the.mappingId, '{}');
    await feeds.beginSearch(the.mappingId, plan.id);
    await removals.finish(plan);
  };
  await search();
  const live = await newRun(the.ledger, { mode: 'live' });
  await the.loads(live);
  expect(await fed()).toMatchObject({ loaded: false, missedDeletes: false });
  await the.ledger.runs.end(live, 'incomplete');

  const next = await newRun(the.ledger, { mode: 'incremental' });
  await the.loads(next);
  expect(await fed()).toMatchObject({ loaded: false, missedDeletes: true });
  await search();
  await the.loads(next);
  expect(await fed()).toMatchObject({ missedDeletes: false });
});

it('come from one feed: with another one, every row has to be read', async () => {
  await note([]);
  await the.loads('7');
  const other = await the.ledger.feeds.acquire('shop', randomUUID());
  await the.ledger.feeds.begin(other, at('1'));
  await the.ledger.feeds.feedMappings(other, [fedMapping()]);
  await the.ledger.feeds.note(other, [], null, true);
  expect(await fed()).toMatchObject({ loaded: false, missedDeletes: true });
});

/** Every row of the mapping has been read since the feed began. */
async function load(): Promise<void> {
  await note([]);
  const partition = await newPartition();
  await the.loads(partition.runId);
  await the.ledger.partitions.finish(partition);
  expect(await fed()).toMatchObject({ loaded: true });
}

it('are not all that is left to read of a mapping that the feed was not of for a while', async () => {
  await load();
  await the.ledger.feeds.feedMappings(feed, []);
  await the.ledger.feeds.feedMappings(feed, [fedMapping()]);
  expect(await fed()).toMatchObject({ loaded: false, missedDeletes: true });
});

it('are forgotten, and every row is read, if the mapping has another table or key', async () => {
  await load();
  await note(['a']);
  await the.ledger.feeds.feedMappings(feed, [fedMapping()]);
  expect(await keys()).toEqual(['a']);
  await the.ledger.feeds.feedMappings(feed, [fedMapping('another key')]);
  expect(await keys()).toEqual([]);
  expect(await fed()).toMatchObject({ loaded: false, missedDeletes: true });
});

it('are not all that is left to read while the load of their mapping is still to be planned', async () => {
  await note([]);
  const runId = await newRun(the.ledger);
  await the.loads(runId);
  const early = await the.ledger.partitions.forSmallTenants(runId, the.mappingId);
  await the.ledger.partitions.finish(await the.ledger.partitions.acquire(early.id));
  expect(await fed()).toMatchObject({ loaded: false, isLoading: true });
});

it('are all that is left to small tenants although a run was stopped that read every row once more', async () => {
  await load();
  const mirror = await newRun(the.ledger, { mode: 'mirror' });
  await the.loads(mirror);
  expect(await fed()).toMatchObject({ loaded: true, isLoading: true });
  await the.ledger.runs.end(mirror, 'incomplete');
  expect(await fed()).toMatchObject({ loaded: true, isLoading: false });
});
