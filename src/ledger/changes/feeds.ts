/**
 * Change feeds: how far each has been read, and which of its mappings have had every row read since it began.
 *
 * One attempt at a time reads a feed. What it notes and how far it has read are written in one transaction, so a change is
 * either noted, or will be read again.
 */
import type { Knex } from 'knex';
import { PartnerSyncError } from '../../domain/errors.js';
import type { Actor } from '../../domain/run/audit.js';
import type { FeedPosition } from '../../domain/source/change-feed.js';
import type { SourceKey } from '../../domain/source/source.js';
import { writeAudit } from '../audit.js';
import { inTransaction } from '../database/statements.js';
import { noteRows, TO_DELIVER } from './changed-rows.js';
import { openFeedStates, type FeedStates } from './feed-states.js';
import { openFeedView, type FeedView } from './feed-view.js';
import { NOT_LOADED } from './not-loaded.js';

/** A feed of a sync as one attempt has acquired it; the fencing token tells this attempt from later ones. */
export interface AcquiredFeed {
  readonly sync: string;
  /** As the files name it: the slot, or the table. */
  readonly name: string;
  /** Up to where its changes are noted; null if it has not begun. */
  readonly position: FeedPosition | null;
  /** Why it was given up before, if it was and has not begun again. */
  readonly givenUp: string | null;
  readonly fencingToken: number;
}

/** Changes of one mapping's rows. */
export interface RecordedChanges {
  readonly mappingId: number;
  readonly keys: readonly SourceKey[];
  /** What has happened to rows of which nobody knows which ones: they were deleted, or all may have changed. null: nothing. */
  readonly unnamed: 'deletions' | 'changes' | null;
}

/** A mapping that a feed is of. */
export interface MappingToFeed {
  readonly mappingId: number;
  /** What tells its table and key columns from others. */
  readonly reads: string;
}

/** What incremental runs may rely on for a mapping that a feed is of. */
export interface FedMapping {
  /** Whether every row has been read since the feed began, so that the changed rows are all that is left to read. */
  readonly loaded: boolean;
  /** Whether rows may have been deleted unnoticed: before the feed began, while it was lost, or by TRUNCATE. */
  readonly missedDeletes: boolean;
  /** Whether a run is reading every row now. */
  readonly isLoading: boolean;
  /** Up to when, by the ledger's clock, all changes are noted. */
  readonly readAt: Date;
}

export interface Feeds extends FeedView, FeedStates {
  /** Acquires a feed: from now on earlier attempts can note nothing. */
  acquire(sync: string, name: string): Promise<AcquiredFeed>;
  /** The feed is read from this position on: of all its mappings, every row has to be read again. Throws `fenced_off`. */
  begin(feed: AcquiredFeed, position: FeedPosition): Promise<void>;
  /**
   * The feed is of these mappings from now on, and of no others. Of those that are new to it, or read another table or key
   * than before, every row has to be read, and so of those that come back to it later. Throws `fenced_off`.
   */
  feedMappings(feed: AcquiredFeed, mappings: readonly MappingToFeed[]): Promise<void>;
  /**
   * Notes changes, and that the feed is read up to `position`; null leaves that as it is. Throws `fenced_off`.
   *
   * @param isAll whether these are the last changes that there are at present
   */
  note(
    feed: AcquiredFeed,
    changes: readonly RecordedChanges[],
    position: FeedPosition | null,
    isAll?: boolean,
  ): Promise<void>;
  /** The source keeps this of the last confirmation: {@link FeedPosition.confirmed}. Throws `fenced_off`. */
  noteConfirmed(feed: AcquiredFeed, confirmed: string): Promise<void>;
  /** null if no feed has been read for the mapping yet. */
  mapping(mappingId: number): Promise<FedMapping | null>;
  /** Those of the mappings for which a feed has been read, by their numbers. */
  mappings(mappingIds: readonly number[]): Promise<ReadonlyMap<number, FedMapping>>;
  /**
   * Moves the moment up to which these mappings are read: to that up to which their changes are noted, or to the note of the
   * oldest row that is not delivered.
   */
  recordDelivered(mappingIds: readonly number[]): Promise<void>;
  /**
   * All records are about to be looked through for the plan; once it is carried out, no deleted row is missed any more, unless
   * a run in mode `live` works beside that of the plan: what it has read before is claimed later.
   */
  beginSearch(mappingId: number, planId: string): Promise<void>;
  /**
   * Whether the rows of records that this run has sent are there, or the feed tells that they are gone: false if rows may have been
   * deleted unnoticed since the run began to read the mapping. Always true without a feed.
   */
  isOwnTrusted(mappingId: number, runId: string): Promise<boolean>;
  /**
   * Forgets a feed: how far it was read, which mappings it feeds, and their changed rows. If it is installed again, every row
   * is read again. Returns how many changed rows had not been delivered; null if nothing was known. Throws
   * `run_in_progress` if a run of the sync has not ended.
   */
  forget(sync: string, name: string, actor: Actor): Promise<number | null>;
}

export function openFeeds(knex: Knex): Feeds {
  const mappings: Feeds['mappings'] = async (mappingIds) => {
    const { rows } = await knex.raw<{ rows: (FedMapping & { id: number })[] }>(
      `SELECT m.mapping_id AS id, m.loaded, m.missed_deletes AS "missedDeletes", f.read_at AS "readAt",
         EXISTS (SELECT FROM runs WHERE runs.id = m.load_run_id AND runs.ended_at IS NULL) AS "isLoading"
       FROM fed_mappings m JOIN mappings ON mappings.id = m.mapping_id
         JOIN change_feeds f ON f.sync = mappings.sync AND f.name = m.feed
       WHERE m.mapping_id = ANY (CAST(? AS int[])) AND f.read_at IS NOT NULL`,
      [[...mappingIds]],
    );
    return new Map(rows.map(({ id, ...mapping }) => [id, mapping]));
  };
  return {
    ...openFeedView(knex),
    ...openFeedStates(knex),
    async acquire(sync, name) {
      const { rows } = await knex.raw<{ rows: FeedRow[] }>(
        `INSERT INTO change_feeds AS f (sync, name) VALUES (?, ?)
         ON CONFLICT (sync, name) DO UPDATE SET fencing_token = f.fencing_token + 1
         RETURNING sync, name, fencing_token AS "fencingToken", origin, position AS at, confirmed,
           given_up AS "givenUp"`,
        [sync, name],
      );
      const { origin, at, confirmed, ...feed } = rows[0]!;
      return { ...feed, position: origin === null || at === null ? null : { origin, at, confirmed } };
    },
    begin: (feed, position) =>
      inTransaction(knex, async (trx) => {
        await moveTo(trx, feed, position, false);
        await trx('change_feeds')
          .where({ sync: feed.sync, name: feed.name })
          .update({ given_up: null, confirmed: null });
        await trx.raw(
          `UPDATE fed_mappings SET ${NOT_LOADED}
           WHERE feed = ? AND mapping_id IN (SELECT id FROM mappings WHERE sync = ?)`,
          [feed.name, feed.sync],
        );
      }),
    feedMappings: (feed, mappings) =>
      inTransaction(knex, async (trx) => {
        await moveTo(trx, feed, null, false);
        const ids = mappings.map(({ mappingId }) => mappingId);
        const reads = mappings.map((mapping) => mapping.reads);
        const of = { sync: feed.sync, feed: feed.name, ids, reads };
        // Keys of another table, or of other columns, would find no row.
        await trx.raw(
          `DELETE FROM changed_rows c USING fed_mappings m, unnest(CAST(:ids AS int[]), CAST(:reads AS text[])) AS now(id, reads)
           WHERE m.mapping_id = now.id AND m.reads <> now.reads AND c.mapping_id = now.id`,
          of,
        );
        await trx.raw(
          `INSERT INTO fed_mappings AS m (mapping_id, feed, reads)
           SELECT id, :feed, reads FROM unnest(CAST(:ids AS int[]), CAST(:reads AS text[])) AS now(id, reads)
           ON CONFLICT (mapping_id) DO UPDATE SET feed = excluded.feed, reads = excluded.reads, ${NOT_LOADED}
           WHERE (m.feed, m.reads) <> (excluded.feed, excluded.reads)`,
          of,
        );
        await trx.raw(
          `UPDATE fed_mappings SET ${NOT_LOADED} WHERE feed = :feed AND mapping_id <> ALL (CAST(:ids AS int[]))
             AND mapping_id IN (SELECT id FROM mappings WHERE sync = :sync)`,
          of,
        );
      }),
    note: (feed, changes, position, isAll = false) =>
      inTransaction(knex, async (trx) => {
        await moveTo(trx, feed, position, isAll);
        for (const { mappingId, keys } of changes) await noteRows(trx, mappingId, keys);
        const unnamed = (what: RecordedChanges['unnamed']): number[] =>
          changes.filter((each) => each.unnamed === what).map(({ mappingId }) => mappingId);
        const [changed, deleted] = [unnamed('changes'), unnamed('deletions')];
        if (changed.length > 0)
          await trx.raw(`UPDATE fed_mappings SET ${NOT_LOADED} WHERE mapping_id = ANY (CAST(? AS int[]))`, [changed]);
        if (deleted.length + changed.length > 0)
          await trx('fed_mappings')
            .whereIn('mapping_id', [...deleted, ...changed])
            .update({ missed_deletes: true, trusted_run_id: null, search_plan_id: null });
      }),
    noteConfirmed: (feed, confirmed) =>
      inTransaction(knex, async (trx) => {
        await moveTo(trx, feed, null, false);
        await trx('change_feeds').where({ sync: feed.sync, name: feed.name }).update({ confirmed });
      }),
    mapping: async (mappingId) => (await mappings([mappingId])).get(mappingId) ?? null,
    mappings,
    async recordDelivered(mappingIds) {
      await knex.raw(
        `UPDATE mappings SET read_until = greatest(read_until, d.until)
         FROM (SELECT m.mapping_id, least(f.read_at, (SELECT c.recorded_at FROM changed_rows c
                 WHERE c.mapping_id = m.mapping_id AND ${TO_DELIVER} ORDER BY c.seq LIMIT 1)) AS until
               FROM fed_mappings m JOIN mappings ON mappings.id = m.mapping_id
                 JOIN change_feeds f ON f.sync = mappings.sync AND f.name = m.feed
               WHERE m.mapping_id = ANY (CAST(? AS int[])) AND m.loaded) d
         WHERE mappings.id = d.mapping_id AND d.until > coalesce(read_until, '-infinity')`,
        [[...mappingIds]],
      );
    },
    beginSearch: (mappingId, planId) =>
      inTransaction(knex, async (trx) => {
        await trx('removal_plans').where({ id: planId }).update({ searched: true });
        await trx.raw(
          `UPDATE fed_mappings SET search_plan_id = :planId WHERE mapping_id = :mappingId AND NOT EXISTS (${LIVE_BESIDE})`,
          { mappingId, planId },
        );
      }),
    async isOwnTrusted(mappingId, runId) {
      const fed = await knex('fed_mappings')
        .where({ mapping_id: mappingId })
        .first<{ run: string | null } | undefined>('trusted_run_id as run');
      return fed === undefined || fed.run === runId;
    },
    forget: (sync, name, actor) => inTransaction(knex, (trx) => forgetFeed(trx, sync, name, actor)),
  };
}

/** A run in mode `live` that works beside that of the plan. Binding: `planId`. */
const LIVE_BESIDE = `SELECT FROM removal_plans p JOIN runs r ON r.id = p.run_id JOIN runs l ON l.sync = r.sync AND l.id <> r.id
  WHERE p.id = :planId AND l.mode = 'live' AND l.ended_at IS NULL`;

async function forgetFeed(trx: Knex, sync: string, name: string, actor: Actor): Promise<number | null> {
  // An attempt that is still reading the feed finds it gone, and is fenced off.
  const feeds = await trx('change_feeds').where({ sync, name }).delete();
  const { rows } = await trx.raw<{ rows: { id: number }[] }>(
    `SELECT m.mapping_id AS id FROM fed_mappings m JOIN mappings ON mappings.id = m.mapping_id
     WHERE m.feed = ? AND mappings.sync = ? FOR UPDATE OF m`,
    [name, sync],
  );
  if (feeds === 0 && rows.length === 0) return null;
  const run = await trx('runs').where({ sync, ended_at: null }).first<{ id: string } | undefined>('id');
  if (run !== undefined)
    throw new PartnerSyncError('run_in_progress', `${sync}: run ${run.id} may be reading the change feed ${name}`);
  const mappings = rows.map(({ id }) => id);
  const changedRows = await trx('changed_rows').whereIn('mapping_id', mappings).delete();
  await trx('fed_mappings').whereIn('mapping_id', mappings).delete();
  await writeAudit(trx, { sync, action: 'feed_removed', actor, subject: { feed: name, changedRows } });
  return changedRows;
}

interface FeedRow {
  sync: string;
  name: string;
  fencingToken: number;
  givenUp: string | null;
  origin: string | null;
  at: string | null;
  confirmed: string | null;
}

/** Locks the feed for this transaction, and moves its position if one is given. */
async function moveTo(
  trx: Knex,
  { sync, name, fencingToken }: AcquiredFeed,
  position: FeedPosition | null,
  isAll: boolean,
): Promise<void> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `UPDATE change_feeds SET origin = coalesce(:origin, origin), position = coalesce(:at, position),
       read_at = CASE WHEN :isAll THEN now() ELSE read_at END
     WHERE sync = :sync AND name = :name AND fencing_token = :fencingToken`,
    { sync, name, fencingToken, isAll, origin: position?.origin ?? null, at: position?.at ?? null },
  );
  if (rowCount !== 1)
    throw new PartnerSyncError('fenced_off', `the change feed ${name} of ${sync} is read by a newer attempt`);
}

/** In the transaction that ends a removal plan: if all records were looked through for it, no deleted row is missed any more. */
export async function endSearch(trx: Knex, planId: string): Promise<void> {
  await trx('fed_mappings').where({ search_plan_id: planId }).update({ search_plan_id: null, missed_deletes: false });
}

/**
 * In the transaction that plans the partitions for every row of the mapping: once they are done, the mapping is loaded. Not if a run in
 * mode `live` loads it already, which waits for its own reading. Records are to be looked for, too: a run that was stopped while
 * it loaded may have done that, but rows may have been deleted since, of which nobody hears but a run in mode `live`, which reads
 * changed rows afterwards.
 */
export async function beginLoad(trx: Knex, mappingId: number, runId: string): Promise<void> {
  await trx.raw(
    `UPDATE fed_mappings SET load_run_id = :runId, trusted_run_id = :runId,
       missed_deletes = missed_deletes OR (NOT loaded AND load_run_id IS DISTINCT FROM :runId
         AND (SELECT mode FROM runs WHERE id = :runId) IS DISTINCT FROM 'live')
     WHERE mapping_id = :mappingId
       AND NOT EXISTS (SELECT FROM runs l WHERE l.id = load_run_id AND l.mode = 'live' AND l.ended_at IS NULL AND l.id <> :runId)`,
    { mappingId, runId },
  );
}

/**
 * In the transaction that ends a partition: the mapping is loaded if this was the last partition of its load. Others may end
 * before those of the load are planned, which are all planned at once.
 */
export async function endLoad(trx: Knex, { runId, mappingId }: { runId: string; mappingId: number }): Promise<void> {
  // Two partitions that end at once must not take each other for unfinished.
  const those = { mapping_id: mappingId, load_run_id: runId };
  if ((await trx('fed_mappings').where(those).forUpdate().select('mapping_id')).length === 0) return;
  await trx.raw(
    `UPDATE fed_mappings SET loaded = true, load_run_id = NULL WHERE mapping_id = :mappingId
       AND (SELECT bool_and(done) FROM partitions
         WHERE run_id = :runId AND mapping_id = :mappingId AND kind = 'planned')`,
    { runId, mappingId },
  );
}
