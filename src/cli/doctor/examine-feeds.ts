/** Doctor's check of change feeds: whether each can be read from where it was left, and whether anything will stop it. */
import { exceedsLimit } from '../../domain/monitoring/feed-health.js';
import type { ViewParts } from '../../composition/parts.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { limitOf } from '../../domain/source/change-feed.js';
import type { FeedFindingKind } from '../../domain/source/feed-installation.js';
import type { Source } from '../../domain/source/source.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { formatBytes } from '../../domain/values/quantity.js';
import { findingsOf, type ShownFinding } from '../../inspection/shown-findings.js';
import { feedHealth, type FeedHealth } from '../../inspection/sync-feeds.js';
import { declaredFeeds, type DeclaredFeed } from '../../domain/sync/declared-feeds.js';
import type { KnownFeed } from '../../ledger/changes/feed-view.js';
import { fail, ok, warn, type Examined } from './examination.js';

const NAME = 'changes';

/** Lines about each feed that the sync's mappings go by; none if there is no such feed. */
export async function examineFeeds(parts: ViewParts, sync: SyncSpec, source: Source): Promise<Examined[]> {
  const feeds = declaredFeeds(sync);
  if (feeds.length === 0) return [];
  const known = await knownFeeds(parts, sync.name);
  const examined: Examined[] = [];
  for (const feed of feeds) {
    const since = known.find(({ name }) => name === feed.name)?.position ?? null;
    const health = await feedHealth(source, feed, since);
    const findings = await findingsOf(source, feed);
    examined.push(...linesOf(sync.name, feed, health, findings));
  }
  return examined;
}

/** That the ledger cannot be asked is a line of its own. */
async function knownFeeds(parts: ViewParts, sync: string): Promise<readonly KnownFeed[]> {
  try {
    return (await (await parts.ledgerIfAny())?.feeds.ofSync(sync)) ?? [];
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return [];
  }
}

function linesOf(
  sync: string,
  { name: feed, config }: DeclaredFeed,
  health: FeedHealth,
  findings: readonly ShownFinding[],
): Examined[] {
  const { problem, position, tables, keptBytes } = health;
  const maxBytes = limitOf(config)?.maxBytes ?? null;
  const install = `partner-sync changes install ${sync}`;
  const missing = tables.filter(({ isReported }) => !isReported).map(({ table }) => table);
  // What is wrong with a part of a feed that cannot be read is its problem.
  const others = findings.filter(({ kind }) => problem === null || kind !== 'part-differs');
  const lines = [
    ...(problem === null
      ? []
      : [
          position === null
            ? fail(NAME, `${feed}: ${problem}`, install)
            : warn(NAME, `${feed}: ${problem}`, READ_AGAIN),
        ]),
    ...(problem === null && missing.length > 0
      ? [fail(NAME, `${feed} does not report ${missing.join(', ')}`, install)]
      : []),
    ...(exceedsLimit({ keptBytes, maxBytes })
      ? [warn(NAME, `${feed}: the source keeps more than maxWal for it`, READ_OR_REMOVE)]
      : []),
    ...others.map((finding) => findingLine(feed, finding)),
  ];
  const limit = maxBytes === null ? '' : ` (limit ${formatBytes(maxBytes)})`;
  const kept = keptBytes === null ? '' : `; the source keeps ${formatBytes(keptBytes)} for it${limit}`;
  return lines.some(({ health: of }) => of === 'FAIL') || problem !== null
    ? lines
    : [ok(NAME, `${feed} can be read${kept}`), ...lines];
}

const READ_AGAIN = 'nothing: the next run reads every row again, and goes by the feed from then on';

const READ_OR_REMOVE = 'let a run read it, end transactions that stay open in the source, or remove it';

function findingLine(feed: string, { kind, table, blocks, text, fix }: ShownFinding): Examined {
  const what = `${feed}: ${table === null ? '' : `${table}: `}${text}`;
  const remedy = fix ?? REMEDIES[kind] ?? 'correct it, or write changes: none in the mapping';
  return (blocks ? fail : warn)(NAME, what, remedy);
}

/** For findings without SQL that would correct them. */
const REMEDIES: Readonly<Partial<Record<FeedFindingKind, string>>> = {
  'log-unlimited': 'let the administrator of the source limit it, and see partner-sync changes status',
  'limit-too-high': 'set maxWal lower, or let the administrator of the source raise max_slot_wal_keep_size',
  'idle-limit': 'let runs follow each other sooner than that',
  'server-version': 'write changes: none in sync.yaml',
  standby: 'let source.connection name the primary',
  'no-free-slot': 'let the administrator of the source raise it',
  'not-recorded': 'run the sync with --mode mirror now and then',
  'several-writers': 'write changes: none in sync.yaml',
  cost: 'nothing, if the partner can spare it',
};
