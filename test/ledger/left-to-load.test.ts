/** What a load that was stopped leaves to the run that goes on with it. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { DEFAULT_RETENTION } from '../../src/domain/sync/retention.js';
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
  await the.loads(stopped);
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

/** What the next run goes on with: its ranges, and about how many rows they have. */
async function next({ mappingVersion = 'v1', mode = 'live' } = {}) {
  const { partitions } = the.ledger;
  const runId = await newRun(the.ledger, { mode, mappingVersion });
  const changed = mode === 'live' ? null : { seq: '7', rows: 3, readAt: new Date(5) };
  if (!(await partitions.planLeftToLoad(runId, the.mappingId, changed))) return null;
  return the.database.query(
    `SELECT kind, after_key, through_key, expected_rows, read_until FROM partner_sync.partitions
     WHERE run_id = $1 AND kind IN ('planned', 'changed_rows') ORDER BY kind DESC, no`,
    [runId],
  );
}

it('is each range behind the rows that have their outcomes, and about how many rows they have', async () => {
  await the.ledger.runs.end(stopped, 'incomplete');
  const left = { kind: 'planned', read_until: null };
  expect(await next()).toEqual([
    { ...left, after_key: ['g'], through_key: ['m'], expected_rows: '99' },
    { ...left, after_key: ['m'], through_key: null, expected_rows: null },
  ]);
});

it('goes to an incremental run with the changed rows, which are all that it has missed', async () => {
  await the.ledger.runs.end(stopped, 'incomplete');
  const complete = { read_until: new Date(5) };
  expect(await next({ mode: 'incremental' })).toEqual([
    { ...complete, kind: 'planned', after_key: ['g'], through_key: ['m'], expected_rows: '99' },
    { ...complete, kind: 'planned', after_key: ['m'], through_key: null, expected_rows: null },
    { ...complete, kind: 'changed_rows', after_key: null, through_key: ['7'], expected_rows: '3' },
  ]);
});

it('goes to one run alone: the next one gets what that has left', async () => {
  await the.ledger.runs.end(stopped, 'incomplete');
  const own = await newRun(the.ledger, { mode: 'live' });
  expect(await the.ledger.partitions.planLeftToLoad(own, the.mappingId, null)).toBe(true);
  expect(await next({ mode: 'incremental' })).toBeNull();
  await the.ledger.runs.end(own, 'incomplete');
  expect(await next()).toHaveLength(2);
});

it('is kept as long as it is needed, however old the run is', async () => {
  await the.ledger.runs.end(stopped, 'incomplete');
  await the.database.query(`UPDATE partner_sync.runs SET ended_at = ended_at - interval '1000 days' WHERE id = $1`, [
    stopped,
  ]);
  await the.ledger.retention.prune('shop', DEFAULT_RETENTION, {});
  expect(await next()).toHaveLength(2);
});

it('is nothing while the run has not ended', async () => {
  expect(await next()).toBeNull();
  await the.ledger.runs.end(stopped, 'incomplete');
});

it('is nothing if the files have changed: the rows that were read would stay as they are', async () => {
  await the.ledger.runs.end(stopped, 'incomplete');
  expect(await next({ mappingVersion: 'v2' })).toBeNull();
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
