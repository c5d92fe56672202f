/** `changes remove`: runs or prints what removes the feeds of a sync, and forgets them in the ledger. */
import type { Parts } from '../../composition/parts.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { quantity } from '../../domain/values/quantity.js';
import { requiredFeeds } from '../../inspection/sync-feeds.js';
import { thisCommand } from '../actor.js';
import { runStatements, onlyShown, type RunStatements, type ShownStatement } from './run-statements.js';
import { comment, failureLines, outcomeLines, scriptLines } from './statement-lines.js';

/** What became of one feed. */
interface RemovedFeed {
  readonly feed: string;
  readonly statements: readonly ShownStatement[];
  /** Changed rows that were forgotten before they were delivered; null if the ledger knew nothing, or keeps what it knows. */
  readonly forgottenRows: number | null;
}

/** What became of all feeds of a sync. */
export interface Removed {
  readonly sync: string;
  readonly apply: boolean;
  readonly feeds: readonly RemovedFeed[];
  readonly failure: RunStatements['failure'];
}

/**
 * Removes the feeds of a sync if `apply` says so. The ledger forgets them last: if a statement fails, the next attempt finds
 * everything that is left. Throws `run_in_progress`.
 */
export async function removeFeeds(parts: Parts, name: string, apply: boolean): Promise<Removed> {
  const { spec, source } = await parts.openSync(name);
  const feeds = [];
  for (const { name: feed, config } of requiredFeeds(spec))
    feeds.push({ feed, ...(await source.changes(config).removal()) });
  if (apply) await assertNoRun(parts, name);
  const run = apply ? await runStatements(() => parts.sourceAdministrator(spec), feeds) : onlyShown(feeds);
  const removed: RemovedFeed[] = [];
  for (const { feed } of feeds) {
    const isForgotten = apply && run.failure === null;
    const forgottenRows = isForgotten ? await (await parts.ledger()).feeds.forget(name, feed, thisCommand()) : null;
    removed.push({ feed, statements: run.statements.get(feed)!, forgottenRows });
  }
  return { sync: name, apply, feeds: removed, failure: run.failure };
}

async function assertNoRun(parts: Parts, sync: string): Promise<void> {
  const [run] = await (await parts.ledger()).runs.notEnded(sync);
  if (run !== undefined)
    throw new PartnerSyncError(
      'run_in_progress',
      `run ${run.id} of ${sync} is active, and may be reading a change feed; nothing was removed. If its workflow was terminated, start a run, which ends it`,
    );
}

/** The lines for people: without `apply` all of them are a script for the client of the database. */
export function removeLines({ sync, apply, feeds, failure }: Removed): string[] {
  if (apply)
    return [
      ...feeds.flatMap(({ feed, statements, forgottenRows }) => [
        `change feed ${feed} of ${sync}: ${statements.length === 0 ? 'nothing of it is there' : ''}`.trimEnd(),
        ...outcomeLines(statements),
        ...(forgottenRows === null ? [] : [`  ${forgottenText(forgottenRows)}`]),
      ]),
      ...failureLines({ statements: new Map(), failure }),
    ];
  const isEmpty = feeds.every(({ statements }) => statements.length === 0);
  return [
    ...feeds.flatMap(({ feed, statements }) => [
      comment(`change feed ${feed} of ${sync}${statements.length === 0 ? ': nothing of it is there' : ''}`),
      ...scriptLines(statements),
    ]),
    ...(isEmpty ? [] : [comment(HOW_TO_RUN)]),
  ];
}

const HOW_TO_RUN =
  'Nothing was changed. Only --apply also forgets in the ledger how far the feed was read, and which rows have changed.';

const forgottenText = (rows: number): string =>
  rows === 0
    ? 'forgotten in the ledger'
    : `forgotten in the ledger, with ${quantity(rows, 'changed row that was', 'changed rows that were')} not delivered: the next run has to read every row (--mode full)`;
