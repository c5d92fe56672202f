/** Follows the change feeds of a run in mode `live` for some minutes: records which rows they name, and delivers these. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { FollowChangesInput, FollowedChanges, NewBeginning } from '../../domain/run/work.js';
import { milliseconds } from '../../domain/timeouts.js';
import { allEnded } from '../all-ended.js';
import type { Dependencies } from '../dependencies.js';
import { acquireFeed } from '../run/feed-reader.js';
import { collectAgain } from './collect-again.js';
import { LiveDelivery } from './live-delivery.js';
import { LiveTimeSlice } from './live-time-slice.js';
import { newBeginning } from './new-beginning.js';

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
  const isDraining = (): boolean => deps.isDraining?.() === true;
  const slice = new LiveTimeSlice(input.isLast ? 'timeSlice' : 'followSlice', signal, isDraining);
  const delivery = await LiveDelivery.open(deps, input, slice, signal, rowsDone);
  let beginAgain: NewBeginning | null = null;
  try {
    await allEnded(
      [() => delivery.run(), ...(input.isLast ? [] : [() => collect(), () => lookForNewBeginning()])].map((work) =>
        slice.during(work),
      ),
    );
  } catch (error) {
    if (input.isLast || !(error instanceof PartnerSyncError) || error.retryable) throw error;
    // Such as a column that is gone: the next run leaves out its mapping.
    beginAgain = error.code === 'changes_lost' ? 'changes_lost' : await newBeginning(deps, input);
    if (beginAgain === null) throw error;
  }
  signal.throwIfAborted();
  return {
    progress: await deps.ledger.counts.progress(input.runId),
    holds: delivery.holds,
    searches: [...delivery.searches],
    beginAgain: beginAgain ?? delivery.beginAgain,
  };

  async function collect(): Promise<void> {
    const readers = [];
    for (const feed of input.feeds) readers.push(await acquireFeed(deps, { ...input, feed }, signal));
    await allEnded(readers.map((reader) => slice.during(() => collectAgain(reader, slice, signal))));
  }

  async function lookForNewBeginning(): Promise<void> {
    while (!slice.isOver && beginAgain === null) {
      await slice.pause(milliseconds('newBeginning'));
      if (!slice.isOver) beginAgain = await newBeginning(deps, input);
    }
  }
}
