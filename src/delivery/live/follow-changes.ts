/** Follows the change feeds of a run in mode `live` for some minutes: records which rows they name, and delivers these. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { FollowChangesInput, FollowedChanges } from '../../domain/run/work.js';
import { allEnded } from '../all-ended.js';
import type { Dependencies } from '../dependencies.js';
import { acquireFeed, type FeedReader } from '../run/feed-reader.js';
import { collectLoop } from './collect-loop.js';
import { LiveDelivery } from './live-delivery.js';
import { LiveSlice } from './live-slice.js';

/**
 * The workflow starts the activity again until the run is told to stop. Feeds are read and rows are delivered side by side,
 * so that a platform that does not answer keeps nothing at the source.
 *
 * @param rowsDone called with the rows of each chunk that is in the ledger
 */
export async function followChanges(
  deps: Dependencies,
  input: FollowChangesInput,
  signal: AbortSignal,
  rowsDone: (rows: number) => void,
): Promise<FollowedChanges> {
  const slice = new LiveSlice(input.isLast ? 'timeSlice' : 'followSlice', signal, () => deps.isDraining?.() === true);
  const readers: FeedReader[] = [];
  for (const feed of input.isLast ? [] : input.feeds) readers.push(await acquireFeed(deps, { ...input, feed }, signal));
  const delivery = await LiveDelivery.open(deps, input, slice, signal, rowsDone);
  let areLost = false;
  const collect = async (reader: FeedReader): Promise<void> => {
    try {
      await collectLoop(reader, slice, signal);
    } catch (error) {
      if (!(error instanceof PartnerSyncError) || error.code !== 'changes_lost') throw error;
      areLost = true;
    }
  };
  await allEnded([...readers.map((reader) => slice.during(() => collect(reader))), slice.during(() => delivery.run())]);
  signal.throwIfAborted();
  return {
    progress: await deps.ledger.counts.progress(input.runId),
    holds: delivery.holds,
    searches: [...delivery.searches],
    beginAgain: areLost
      ? 'changes_lost'
      : delivery.approvedIsDone
        ? 'removals_approved'
        : (await haveFilesChanged(deps, input))
          ? 'files_changed'
          : null,
  };
}

/** Whether the next run would begin with other files. Files that cannot be used are left until they can. */
async function haveFilesChanged(
  { loadSync, openSync }: Dependencies,
  { sync, runId }: FollowChangesInput,
): Promise<boolean> {
  const { version } = (await openSync(sync, runId)).spec;
  try {
    return (await loadSync(sync)).spec.version !== version;
  } catch (error) {
    if (error instanceof PartnerSyncError) return false;
    throw error;
  }
}
