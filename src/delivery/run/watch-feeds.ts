/** Looks at the change feeds of a sync that have a limit, also while no run reads them, and gives up those that say so. */
import { limitOf, type ChangeFeed, type FeedLimit, type FeedState } from '../../domain/source/change-feed.js';
import { declaredFeeds } from '../../domain/sync/declared-feeds.js';
import { seconds } from '../../domain/timeouts.js';
import { formatBytes } from '../../domain/values/quantity.js';
import { allEnded } from '../all-ended.js';
import type { Dependencies } from '../dependencies.js';

/**
 * Records in the ledger how the feeds stand. Throws if the files cannot be used, or the source cannot be asked: then what is
 * known stays as it is.
 */
export async function watchFeeds(
  { ledger, loadSync, openSync }: Pick<Dependencies, 'ledger' | 'loadSync' | 'openSync'>,
  sync: string,
): Promise<void> {
  const feeds = declaredFeeds((await loadSync(sync)).spec);
  const limits = new Map(feeds.map(({ name, config }) => [name, limitOf(config)]));
  const before = await ledger.feeds.before(sync, [...limits.keys()]);
  // A run that reads the feed looks at it more often than this.
  const unseen = feeds.filter(({ name }) => (before.get(name)?.unseenFor ?? Infinity) > seconds('feedUnseen'));
  await allEnded(
    unseen.map(async ({ name, config }) => {
      const limit = limitOf(config);
      if (limit === null) return;
      const feed = (await openSync(sync)).source.changes(config);
      const state = await feed.state(before.get(name)?.position);
      await ledger.feeds.see(sync, name, state);
      if (limit.whenExceeded === 'reread') await giveUpBeyond(limit, { ledger, sync, name, feed, state });
    }),
  );
  await ledger.feeds.setLimits(sync, limits);
}

interface Exceeding extends Pick<Dependencies, 'ledger'> {
  readonly sync: string;
  readonly name: string;
  readonly feed: ChangeFeed;
  readonly state: FeedState;
}

/**
 * Only what nobody has read counts: what is kept for a transaction that stays open would be kept all the same. The ledger
 * forgets the position first, so a crash in between leaves a feed that begins anew. A run that begins it meanwhile does so
 * behind what is confirmed here, and misses nothing.
 */
async function giveUpBeyond({ maxBytes }: FeedLimit, { ledger, sync, name, feed, state }: Exceeding): Promise<void> {
  const { position, unread, keptBytes } = state;
  if (position === null || unread === null || unread.bytes <= maxBytes) return;
  const at = new Date().toISOString().slice(0, 16).replace('T', ' ');
  const kept = formatBytes(Math.max(keptBytes ?? 0, unread.bytes));
  const why = `the change feed ${name} was given up at ${at} UTC, as the source kept ${kept} of its log for it (limit ${formatBytes(maxBytes)})`;
  await ledger.feeds.giveUp(sync, name, position, why);
  await feed.confirm(unread.through);
  await ledger.feeds.see(sync, name, await feed.state());
}
