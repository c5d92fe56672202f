/** A ledger with a feed of one mapping for each test, and short forms of what its reader writes. */
import { randomUUID } from 'node:crypto';
import { beforeEach } from 'vitest';
import type { ChangedRow } from '../../src/ledger/changes/changed-rows.js';
import type { AcquiredFeed, FedMapping, MappingToFeed } from '../../src/ledger/changes/feeds.js';
import type { FeedPosition } from '../../src/domain/source/change-feed.js';
import { ledgerForTests } from './ledger-for-tests.js';

/** After every changed row. */
export const LAST = '9223372036854775807';

export const at = (position: string, origin = 'one'): FeedPosition => ({ origin, at: position });

export function fedLedgerForTests() {
  const the = ledgerForTests();
  let feed: AcquiredFeed;

  const fedMapping = (reads = 'a table by its key'): MappingToFeed => ({ mappingId: the.mappingId, reads });
  beforeEach(async () => {
    feed = await the.ledger.feeds.acquire('shop', randomUUID());
    await the.ledger.feeds.begin(feed, at('10'));
    await the.ledger.feeds.feedMappings(feed, [fedMapping()]);
  });

  /** Notes that these rows of the mapping have changed, and that the feed is read to its end. */
  const note = (
    keys: readonly string[],
    position: string | null = null,
    from = feed,
    unnamed: 'deletions' | 'changes' | null = null,
  ): Promise<void> =>
    the.ledger.feeds.note(
      from,
      [{ mappingId: the.mappingId, keys: keys.map((key) => [key]), unnamed }],
      position === null ? null : at(position),
      true,
    );

  /** The list of changed rows, as the run goes through it. */
  const rows = (runId = '0', limit = 100): Promise<readonly ChangedRow[]> =>
    the.ledger.changedRows.page(the.mappingId, runId, { after: '0', through: LAST, limit });
  const keys = async (runId?: string): Promise<string[]> => (await rows(runId)).map(({ key }) => key.join());
  const fed = async (): Promise<FedMapping> => (await the.ledger.feeds.mapping(the.mappingId))!;

  return {
    the,
    get feed() {
      return feed;
    },
    fedMapping,
    note,
    rows,
    keys,
    fed,
  };
}
