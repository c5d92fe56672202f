/** The change feeds that a sync declares. */
import { PartnerSyncError } from '../errors.js';
import { feedName, type FeedConfig } from '../source/change-feed.js';
import { groupBy } from '../values/group-by.js';
import type { MappingSpec, SyncSpec } from './sync.js';

/** A feed with the mappings that go by it. */
export interface DeclaredFeed {
  readonly name: string;
  readonly config: FeedConfig;
  readonly mappings: readonly MappingSpec[];
}

/**
 * The feeds of the sync's files, in the order of their mappings; empty if no mapping goes by one. Throws `config_invalid` if
 * one slot is named with two publications or limits, or a slot and a change table have one name.
 */
export function declaredFeeds({ mappings }: Pick<SyncSpec, 'mappings'>): DeclaredFeed[] {
  const fed = mappings.filter((mapping) => mapping.feed !== null);
  return [...groupBy(fed, ({ feed }) => feedName(feed!))].map(([name, ofFeed]) => {
    const [first, ...others] = ofFeed;
    const other = others.find(({ feed }) => JSON.stringify(feed) !== JSON.stringify(first!.feed));
    if (other !== undefined)
      throw new PartnerSyncError(
        'config_invalid',
        first!.feed!.kind === other.feed!.kind
          ? `the mappings ${first!.name} and ${other.name} name the slot ${name} with different publications, maxWal or whenExceeded; a slot has one of each`
          : `the mappings ${first!.name} and ${other.name} name a slot and a change table ${name}; feeds of a sync have different names`,
      );
    return { name, config: first!.feed!, mappings: ofFeed };
  });
}
