/** What the ledger knows of the change feeds of a sync, for people. */
import type { Knex } from 'knex';
import type { FeedPosition } from '../../domain/source/change-feed.js';
import { COUNT_BOUND } from '../../domain/values/quantity.js';
import { TO_DELIVER } from './changed-rows.js';

/** A mapping that is fed. */
export interface KnownFedMapping {
  readonly mapping: string;
  /** Whether every row has been read since the feed began. */
  readonly loaded: boolean;
  /** How many changed rows are still to be delivered; up to `COUNT_BOUND`. */
  readonly changedRows: number;
  /** Up to when, by the ledger's clock, all its changes are delivered; null until every row was read once. */
  readonly deliveredUntil: Date | null;
  /** When the one that waits longest was named; null if there is none. */
  readonly oldestAt: Date | null;
  /** How many of its records wait for the platform, or for their parents; up to `COUNT_BOUND`. */
  readonly waiting: number;
}

/** How far the fed mappings of a sync have been delivered. */
export interface FeedDelivery {
  /** By the ledger's clock, of which the other times are. */
  readonly now: Date;
  readonly mappings: readonly KnownFedMapping[];
}

/** A feed of the sync. */
export interface KnownFeed {
  /** As the files name it: the slot, or the table. */
  readonly name: string;
  /** Up to where its changes are recorded; null if it has not begun. */
  readonly position: FeedPosition | null;
  /** When it was last read to its end; null if it never was. */
  readonly readAt: Date | null;
  /** Why it was given up, if it has not begun again since. */
  readonly givenUp: string | null;
  readonly mappings: readonly KnownFedMapping[];
}

export interface FeedView {
  /** All feeds of the sync that have been read, or looked at; also those that its files do not name any more. */
  ofSync(sync: string): Promise<readonly KnownFeed[]>;
  delivery(sync: string): Promise<FeedDelivery>;
}

export function openFeedView(knex: Knex): FeedView {
  const mappingsOf = async (sync: string): Promise<readonly MappingRow[]> => {
    const bounded = (table: string, condition = 'true'): string =>
      `(SELECT count(*)::int FROM (SELECT FROM ${table} t WHERE t.mapping_id = m.mapping_id AND ${condition} LIMIT :bound) t)`;
    const { rows } = await knex.raw<{ rows: MappingRow[] }>(
      `SELECT m.feed, mappings.name AS mapping, m.loaded, o.recorded_at AS "oldestAt",
         mappings.read_until AS "deliveredUntil", ${bounded('changed_rows', TO_DELIVER)} AS "changedRows",
         ${bounded('waiting')} AS waiting, now() AS now
       FROM fed_mappings m JOIN mappings ON mappings.id = m.mapping_id
         LEFT JOIN LATERAL (SELECT recorded_at FROM changed_rows c WHERE c.mapping_id = m.mapping_id
           AND ${TO_DELIVER} ORDER BY seq LIMIT 1) o ON true
       WHERE mappings.sync = :sync ORDER BY mappings.name`,
      { sync, bound: COUNT_BOUND },
    );
    return rows;
  };
  return {
    async ofSync(sync) {
      const feeds = await knex('change_feeds')
        .where({ sync })
        .orderBy('name')
        .select<FeedRow[]>('name', 'origin', 'position', 'confirmed', 'read_at', 'given_up');
      const mappings = await mappingsOf(sync);
      return feeds.map(({ name, origin, position, confirmed, read_at: readAt, given_up: givenUp }) => ({
        name,
        givenUp,
        position: origin === null || position === null ? null : { origin, at: position, confirmed },
        readAt,
        mappings: mappings.filter(({ feed }) => feed === name).map(({ feed: _, now: __, ...mapping }) => mapping),
      }));
    },
    async delivery(sync) {
      const mappings = await mappingsOf(sync);
      return {
        now: mappings[0]?.now ?? new Date(),
        mappings: mappings.map(({ feed: _, now: __, ...mapping }) => mapping),
      };
    },
  };
}

interface FeedRow {
  readonly name: string;
  readonly origin: string | null;
  readonly position: string | null;
  readonly confirmed: string | null;
  readonly read_at: Date | null;
  readonly given_up: string | null;
}

interface MappingRow extends KnownFedMapping {
  readonly feed: string;
  readonly now: Date;
}
