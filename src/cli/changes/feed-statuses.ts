/** `changes status`: how the feeds of a sync stand in the source and in the ledger. */
import { exceedsLimit } from '../../domain/monitoring/feed-health.js';
import type { ViewParts } from '../../composition/parts.js';
import { formatBytes, quantityToBound } from '../../domain/values/quantity.js';
import { findingsOf, type ShownFinding } from '../../inspection/shown-findings.js';
import { feedHealth, requiredFeeds, type NeededTable } from '../../inspection/sync-feeds.js';
import type { DeclaredFeed } from '../../domain/sync/declared-feeds.js';
import type { KnownFeed } from '../../ledger/changes/feed-view.js';
import { limitOf } from '../../domain/source/change-feed.js';
import type { Source } from '../../domain/source/source.js';
import { printable, table } from '../output/text-table.js';

/** How one mapping goes by its feed. */
interface MappingFeedStatus {
  readonly mapping: string;
  /** Whether every row has been read since the feed began: until then, incremental runs read all rows. */
  readonly loaded: boolean;
  /** Rows that have changed, and are still to be delivered; up to `COUNT_BOUND`. */
  readonly changedRows: number;
  /** ISO 8601; up to when all its changes are delivered; null until every row was read once. */
  readonly deliveredUntil: string | null;
  /** ISO 8601; when the one that waits longest was named. */
  readonly oldestAt: string | null;
}

/** How one feed stands. */
interface FeedStatus {
  readonly feed: string;
  /** Why it cannot be read, or not from where it was left; null if it can. */
  readonly problem: string | null;
  /** Up to where changes were confirmed to the source, and up to where the ledger has them. */
  readonly sourcePosition: string | null;
  readonly ledgerPosition: string | null;
  /** Bytes that the source keeps for the feed, and how many more it will; null if it does not say, or has no limit. */
  readonly keptBytes: number | null;
  readonly bytesLeft: number | null;
  /** Bytes of that which nobody has read, and `changes.maxWal`; null if it is not known, or not set. */
  readonly unreadBytes: number | null;
  readonly maxBytes: number | null;
  /** Changes in a change table that no run has read, up to `COUNT_BOUND`; null if it cannot be read, and for a slot. */
  readonly unreadChanges: number | null;
  /** Why the feed was given up; null if it was not, or has begun again since. */
  readonly givenUp: string | null;
  /** ISO 8601; when it was last read to its end. */
  readonly readAt: string | null;
  readonly tables: readonly NeededTable[];
  readonly mappings: readonly MappingFeedStatus[];
  /** What is to be known while it can be read: that nobody deletes what was read from a change table. */
  readonly warnings: readonly Pick<ShownFinding, 'text' | 'fix'>[];
}

/** How all feeds of a sync stand. `ok`: all can be read, report what their mappings need, and are within their limits. */
export interface FeedStatuses {
  readonly sync: string;
  readonly ok: boolean;
  readonly feeds: readonly FeedStatus[];
}

/** Looks at source and ledger; a sync that the ledger does not know yet has no positions in it. */
export async function feedStatuses(parts: ViewParts, sync: string): Promise<FeedStatuses> {
  const { spec, source } = await parts.openSync(sync);
  const declared = requiredFeeds(spec);
  const known = (await (await parts.ledgerIfAny())?.feeds.ofSync(sync)) ?? [];
  const feeds: FeedStatus[] = [];
  for (const feed of declared)
    feeds.push(
      await statusOf(
        source,
        feed,
        known.find(({ name }) => name === feed.name),
      ),
    );
  const ok = feeds.every(
    (feed) => feed.problem === null && !exceedsLimit(feed) && feed.tables.every(({ isReported }) => isReported),
  );
  return { sync, ok, feeds };
}

async function statusOf(source: Source, declared: DeclaredFeed, known: KnownFeed | undefined): Promise<FeedStatus> {
  const { position, unread, ...health } = await feedHealth(source, declared, known?.position ?? null);
  // A feed that has not begun keeps what has changed since it was installed.
  const from = health.problem === null ? (known?.position ?? position) : null;
  const findings = health.problem === null ? await findingsOf(source, declared) : [];
  return {
    feed: declared.name,
    ...health,
    unreadBytes: unread?.bytes ?? null,
    maxBytes: limitOf(declared.config)?.maxBytes ?? null,
    unreadChanges: from === null ? null : await source.changes(declared.config).countUnread(from),
    givenUp: known?.givenUp ?? null,
    sourcePosition: position?.at ?? null,
    ledgerPosition: known?.position?.at ?? null,
    readAt: known?.readAt?.toISOString() ?? null,
    mappings: declared.mappings.map(({ name: mapping }) => {
      const {
        loaded = false,
        changedRows = 0,
        deliveredUntil = null,
        oldestAt = null,
      } = known?.mappings.find((each) => each.mapping === mapping) ?? {};
      return {
        mapping,
        loaded,
        changedRows,
        deliveredUntil: loaded ? (deliveredUntil?.toISOString() ?? null) : null,
        oldestAt: oldestAt?.toISOString() ?? null,
      };
    }),
    warnings: findings.filter(({ kind }) => kind === 'not-pruned').map(({ text, fix }) => ({ text, fix })),
  };
}

/** The lines for people. */
export const statusLines = ({ sync, feeds }: FeedStatuses): string[] =>
  feeds.flatMap((feed, i) => [...(i === 0 ? [] : ['']), ...feedLines(sync, feed)]);

function feedLines(sync: string, status: FeedStatus): string[] {
  const { feed, problem, tables, mappings } = status;
  const missing = tables.filter(({ isReported }) => !isReported);
  return [
    `change feed ${feed} of ${sync}: ${problem === null ? 'can be read' : printable(`CANNOT BE READ: ${problem}`)}`,
    ...(status.givenUp === null ? [] : [`  ${status.givenUp}; the next run reads every row`]),
    ...(exceedsLimit(status) ? ['  the source keeps MORE THAN ITS LIMIT: let a run read the feed, or remove it'] : []),
    ...(problem === null && missing.length === 0 ? [] : [`  do: partner-sync changes install ${sync}`]),
    ...status.warnings.flatMap(({ text, fix }) => [
      printable(`  warning: ${text}`),
      ...(fix === null ? [] : [printable(`    to correct it: ${fix};`)]),
    ]),
    '',
    ...table(
      [
        'confirmed up to',
        'in the ledger up to',
        'kept by the source',
        'unread',
        'limit',
        'given up after',
        'last read',
      ],
      [
        [
          status.sourcePosition ?? '-',
          status.ledgerPosition ?? '-',
          bytesOr(status.keptBytes, '-'),
          unreadOf(status),
          bytesOr(status.maxBytes, 'none'),
          bytesOr(status.bytesLeft, 'no limit known', ' more'),
          status.readAt ?? 'never',
        ],
      ],
    ),
    ...(tables.length === 0
      ? []
      : [
          '',
          ...table(
            ['table', 'reported', 'needed by'],
            tables.map((each) => [each.table, each.isReported ? 'yes' : 'MISSING', each.mappings.join(', ') || '-']),
          ),
        ]),
    '',
    ...table(
      ['mapping', 'loaded', 'delivered up to', 'changed rows to deliver', 'oldest since'],
      mappings.map(({ mapping, loaded, deliveredUntil, changedRows, oldestAt }) => [
        mapping,
        loaded ? 'yes' : 'no: the next run reads every row',
        deliveredUntil ?? '-',
        quantityToBound(changedRows, 'row'),
        oldestAt ?? '-',
      ]),
    ),
  ];
}

const unreadOf = ({ unreadBytes, unreadChanges }: FeedStatus): string =>
  unreadChanges === null ? bytesOr(unreadBytes, '-') : quantityToBound(unreadChanges, 'change');

const bytesOr = (bytes: number | null, otherwise: string, more = ''): string =>
  bytes === null ? otherwise : `${formatBytes(bytes)}${more}`;
