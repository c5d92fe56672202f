/** How the source says that change feeds stand, as of the last look, and the end of one for which it keeps too much. */
import type { Knex } from 'knex';
import type { FeedLimit, FeedPosition, FeedState } from '../../domain/source/change-feed.js';
import { writeAudit } from '../audit.js';
import { inTransaction } from '../database/statements.js';
import { NOT_LOADED } from './not-loaded.js';

/** What is kept of a look at a feed. */
export type SeenFeed = Pick<FeedState, 'keptBytes' | 'bytesLeft' | 'unread' | 'problem'>;

/** A feed as it is known before somebody looks at it. */
export interface FeedBefore {
  /** Up to where its changes are recorded; null if it has not begun. */
  readonly position: FeedPosition | null;
  /** For how many seconds nobody has looked at it; null if nobody ever has. */
  readonly unseenFor: number | null;
}

export interface FeedStates {
  /** Records how the feed stands now, whether it was read before or not. */
  see(sync: string, name: string, state: SeenFeed): Promise<void>;
  /** The feeds with these names; those that nobody has read or looked at are missing. */
  before(sync: string, names: readonly string[]): Promise<ReadonlyMap<string, FeedBefore>>;
  /** What the source may keep for each of these feeds, as far as they are known. Others of the sync have no limit. */
  setLimits(sync: string, limits: ReadonlyMap<string, FeedLimit | null>): Promise<void>;
  /**
   * Gives the feed up: whoever reads it is fenced off, and the next run that reads it begins it anew. Says so in the audit,
   * once for what was confirmed up to `confirmed`. `why` is a sentence for people.
   */
  giveUp(sync: string, name: string, confirmed: FeedPosition, why: string): Promise<void>;
}

export function openFeedStates(knex: Knex): FeedStates {
  return {
    async see(sync, name, { keptBytes, bytesLeft, unread, problem }) {
      await knex.raw(
        `INSERT INTO change_feeds (sync, name, seen_at, kept_bytes, unread_bytes, bytes_left, problem)
         VALUES (:sync, :name, now(), :keptBytes, :unreadBytes, :bytesLeft, :problem)
         ON CONFLICT (sync, name) DO UPDATE SET seen_at = now(), kept_bytes = excluded.kept_bytes,
           unread_bytes = excluded.unread_bytes, bytes_left = excluded.bytes_left, problem = excluded.problem`,
        { sync, name, keptBytes, bytesLeft, problem, unreadBytes: unread?.bytes ?? null },
      );
    },
    async before(sync, names) {
      const { rows } = await knex.raw<{ rows: BeforeRow[] }>(
        `SELECT name, origin, position AS at, confirmed, extract(epoch FROM now() - seen_at)::float8 AS "unseenFor"
         FROM change_feeds WHERE sync = ? AND name = ANY (CAST(? AS text[]))`,
        [sync, [...names]],
      );
      return new Map(
        rows.map(({ name, origin, at, confirmed, unseenFor }) => [
          name,
          { position: origin === null || at === null ? null : { origin, at, confirmed }, unseenFor },
        ]),
      );
    },
    async setLimits(sync, limits) {
      const bytes = [...limits.values()].map((limit) => limit?.maxBytes ?? null);
      await knex.raw(
        `UPDATE change_feeds f SET max_bytes = l.bytes
         FROM (SELECT name, bytes FROM change_feeds
           LEFT JOIN unnest(CAST(:names AS text[]), CAST(:bytes AS bigint[])) AS l(name, bytes) USING (name)
           WHERE sync = :sync) l
         WHERE f.sync = :sync AND f.name = l.name AND f.max_bytes IS DISTINCT FROM l.bytes`,
        { sync, names: [...limits.keys()], bytes },
      );
    },
    giveUp: (sync, name, confirmed, why) =>
      inTransaction(knex, async (trx) => {
        await trx.raw(
          `UPDATE change_feeds SET fencing_token = fencing_token + 1, origin = NULL, position = NULL, confirmed = NULL, given_up = :why
           WHERE sync = :sync AND name = :name`,
          { sync, name, why },
        );
        await trx.raw(
          `UPDATE fed_mappings SET ${NOT_LOADED} WHERE feed = ? AND mapping_id IN (SELECT id FROM mappings WHERE sync = ?)`,
          [name, sync],
        );
        await writeAudit(trx, {
          sync,
          action: 'feed_given_up',
          actor: { who: null, origin: 'worker' },
          subject: { feed: name, why },
          key: `feed_given_up/${sync}/${name}/${confirmed.origin}/${confirmed.at}`,
        });
      }),
  };
}

interface BeforeRow {
  readonly name: string;
  readonly origin: string | null;
  readonly at: string | null;
  readonly confirmed: string | null;
  readonly unseenFor: number | null;
}
