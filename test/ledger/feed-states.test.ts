/** What is kept of looks at feeds, the limits of what the source may keep for them, and giving one up: each of its own sync and name. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { ledgerForTests } from './ledger-for-tests.js';
import { newPartitionOf } from './new-partition.js';

const the = ledgerForTests();
const at = (position: string) => ({ origin: 'one', at: position });

/** A feed that has loaded its mapping; its sync, its name, and that mapping. */
interface Fed {
  readonly sync: string;
  readonly name: string;
  readonly mappingId: number;
}

/** Its own feed, one of the same name in another sync, and another one of its sync. */
let [its, ofAnotherSync, another]: readonly Fed[] = [] as unknown as readonly [Fed, Fed, Fed];

beforeEach(async () => {
  const [sync, otherSync, name, otherName] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  its = await loadedFeed(sync, name);
  ofAnotherSync = await loadedFeed(otherSync, name);
  another = await loadedFeed(sync, otherName);
});

async function loadedFeed(sync: string, name: string): Promise<Fed> {
  const { feeds, ids, partitions } = the.ledger;
  const mappingId = await ids.mappingId(sync, randomUUID());
  const feed = await feeds.acquire(sync, name);
  await feeds.begin(feed, at('10'));
  await feeds.feedMappings(feed, [{ mappingId, reads: 'a table by its key' }]);
  await feeds.note(feed, [], null, true);
  const partition = await newPartitionOf(the.ledger, mappingId);
  await the.loads(partition.runId, mappingId);
  await partitions.finish(partition);
  return { sync, name, mappingId };
}

const loaded = async () => {
  const all = [its!, ofAnotherSync!, another!].map(({ mappingId }) => mappingId);
  const found = await the.ledger.feeds.mappings(all);
  expect(found.size).toBe(3);
  return all.map((id) => found.get(id)!.loaded);
};

it('keeps of each feed of a sync up to where it was read, and for how long nobody has looked at it', async () => {
  const { sync, name } = its!;
  await the.ledger.feeds.see(sync, another!.name, { keptBytes: 1, bytesLeft: null, unread: null, problem: null });
  await the.database.query(
    `UPDATE partner_sync.change_feeds SET seen_at = now() - interval '100 s' WHERE sync = $1 AND name = $2`,
    [sync, another!.name],
  );

  const before = await the.ledger.feeds.before(sync, [name, another!.name, 'no such feed']);

  const position = { ...at('10'), confirmed: null };
  expect([...before].toSorted(([a]) => (a === name ? -1 : 1))).toEqual([
    [name, { position, unseenFor: null }],
    [another!.name, { position, unseenFor: expect.closeTo(100, -1) as number }],
  ]);
  expect([...(await the.ledger.feeds.before(sync, [name])).keys()]).toEqual([name]);
});

it('sets the limits of the feeds of a sync, and takes away those of its other feeds', async () => {
  const limits = async () => {
    const rows = await the.database.query<{ sync: string; name: string; bytes: string | null }>(
      'SELECT sync, name, max_bytes::text AS bytes FROM partner_sync.change_feeds WHERE sync = ANY ($1)',
      [[its!.sync, ofAnotherSync!.sync]],
    );
    return [its!, ofAnotherSync!, another!].map(
      (feed) => rows.find(({ sync, name }) => sync === feed.sync && name === feed.name)!.bytes,
    );
  };
  const limit = (maxBytes: number) => ({ maxBytes, whenExceeded: 'alert' as const });
  const { feeds } = the.ledger;

  await feeds.setLimits(ofAnotherSync!.sync, new Map([[its!.name, limit(7)]]));
  await feeds.setLimits(its!.sync, new Map([[another!.name, limit(5)]]));
  expect(await limits()).toEqual([null, '7', '5']);

  await feeds.setLimits(its!.sync, new Map([[its!.name, limit(3)]]));
  expect(await limits()).toEqual(['3', '7', null]);
  await feeds.setLimits(its!.sync, new Map([[its!.name, null]]));
  expect(await limits()).toEqual([null, '7', null]);
});

it('gives up one feed alone: whoever reads it is fenced off, and all its rows are read again', async () => {
  const { feeds } = the.ledger;
  const { sync, name } = its!;
  const [own, ...others] = await Promise.all(
    [its!, ofAnotherSync!, another!].map((each) => feeds.acquire(each.sync, each.name)),
  );
  expect(await loaded()).toEqual([true, true, true]);

  await feeds.giveUp(sync, name, { ...at('10'), confirmed: '10' }, 'it has kept too much');

  await expect(feeds.note(own!, [], null)).rejects.toMatchObject({ code: 'fenced_off' });
  for (const other of others) await feeds.note(other, [], null, true);
  expect(await loaded()).toEqual([false, true, true]);
  const acquired = await Promise.all(
    [its!, ofAnotherSync!, another!].map((each) => feeds.acquire(each.sync, each.name)),
  );
  expect(acquired.map(({ position, givenUp }) => [position?.at ?? null, givenUp])).toEqual([
    [null, 'it has kept too much'],
    ['10', null],
    ['10', null],
  ]);
  // An attempt that was frozen before it was given up has none of the numbers that come later.
  expect(acquired[0]!.fencingToken).toBeGreaterThan(own!.fencingToken);
});

it('begins one feed anew alone', async () => {
  const { feeds } = the.ledger;
  await feeds.begin(await feeds.acquire(its!.sync, its!.name), at('20'));
  expect(await loaded()).toEqual([false, true, true]);
});

it('takes mappings from one feed alone', async () => {
  const { feeds } = the.ledger;
  const feed = await feeds.acquire(its!.sync, its!.name);
  await feeds.feedMappings(feed, [{ mappingId: its!.mappingId, reads: 'a table by its key' }]);
  expect(await loaded()).toEqual([true, true, true]);
  await feeds.feedMappings(feed, []);
  expect(await loaded()).toEqual([false, true, true]);
});

it('gives each attempt that acquires a feed a higher fencing token than any before', async () => {
  const { feeds } = the.ledger;
  const tokens: number[] = [];
  for (let i = 0; i < 3; i++) tokens.push((await feeds.acquire(its!.sync, its!.name)).fencingToken);
  expect(tokens).toEqual([tokens[0]!, tokens[0]! + 1, tokens[0]! + 2]);
});

it('counts a fed mapping as read up to the last look at its feed, or to its oldest row that is not delivered', async () => {
  const { feeds, changedRows } = the.ledger;
  const readUntil = async () => {
    const rows = await the.database.query<{ id: number; at: Date | null }>(
      'SELECT id, read_until AS at FROM partner_sync.mappings WHERE id = ANY ($1)',
      [[its!.mappingId, ofAnotherSync!.mappingId, another!.mappingId]],
    );
    return [its!, ofAnotherSync!, another!].map(({ mappingId }) => {
      const at = rows.find(({ id }) => id === mappingId)!.at;
      return at === null ? null : Math.round((Date.now() - at.getTime()) / 1000 / 100) * 100;
    });
  };
  /** Lets the feed have been read, and its changed rows been recorded, so many seconds ago. */
  const readAgo = (feed: Fed, seconds: number) =>
    the.database.query(
      `UPDATE partner_sync.change_feeds SET read_at = now() - $3 * interval '1 second' WHERE sync = $1 AND name = $2`,
      [feed.sync, feed.name, seconds],
    );
  const changed = async (feed: Fed, key: string, seconds: number) => {
    await feeds.note(
      await feeds.acquire(feed.sync, feed.name),
      [{ mappingId: feed.mappingId, keys: [[key]], unnamed: null }],
      null,
    );
    await the.database.query(
      `UPDATE partner_sync.changed_rows SET recorded_at = now() - $3 * interval '1 second' WHERE mapping_id = $1 AND key = $2`,
      [feed.mappingId, [key], seconds],
    );
  };
  const [own, foreign, other] = [its!, ofAnotherSync!, another!];
  await readAgo(own, 3000);
  await readAgo(foreign, 2000);
  await readAgo(other, 1000);
  const found = await feeds.mappings([own, foreign, other].map(({ mappingId }) => mappingId));
  const readAgoOf = ({ mappingId }: Fed): number =>
    Math.round((Date.now() - found.get(mappingId)!.readAt.getTime()) / 100_000) * 100;
  expect([own, foreign, other].map(readAgoOf)).toEqual([3000, 2000, 1000]);
  await changed(foreign, 'a', 9000);
  await feeds.recordDelivered([own.mappingId]);
  expect(await readUntil()).toEqual([3000, null, null]);
  await feeds.recordDelivered([foreign.mappingId, other.mappingId]);
  expect(await readUntil()).toEqual([3000, 9000, 1000]);

  // The oldest of several, though not of those that are only looked at once more. Time does not go back.
  await changed(own, 'b', 1500);
  await changed(own, 'c', 1200);
  const [b] = await changedRows.page(own.mappingId, '0', { after: '0', through: '9223372036854775807', limit: 1 });
  await readAgo(own, 0);
  await feeds.recordDelivered([own.mappingId]);
  expect(await readUntil()).toEqual([1500, 9000, 1000]);
  await the.database.query('UPDATE partner_sync.changed_rows SET after_run = 1 WHERE seq = $1', [b!.seq]);
  await feeds.recordDelivered([own.mappingId]);
  expect(await readUntil()).toEqual([1200, 9000, 1000]);
  await changed(own, 'b', 2500);
  await feeds.recordDelivered([own.mappingId]);
  expect(await readUntil()).toEqual([1200, 9000, 1000]);

  // Not before every row was read.
  await feeds.begin(await feeds.acquire(other.sync, other.name), at('20'));
  await readAgo(other, 0);
  await feeds.recordDelivered([other.mappingId]);
  expect(await readUntil()).toEqual([1200, 9000, 1000]);
});
