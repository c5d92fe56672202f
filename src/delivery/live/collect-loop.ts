/** Records what a change feed reports, again and again. */
import { milliseconds, times } from '../../domain/timeouts.js';
import type { FeedReader } from '../run/feed-reader.js';
import type { LiveSlice } from './live-slice.js';

/**
 * Reads the feed until the slice is over; whoever waits for news is woken. A reading is followed by a pause of several times
 * its length, so that the source never spends more than a small share of its time on the feed.
 *
 * @throws PartnerSyncError `changes_lost` if not every change can be read any more
 */
export async function collectLoop(reader: FeedReader, slice: LiveSlice, signal: AbortSignal): Promise<void> {
  let recordedAt = -Infinity;
  while (!slice.isOver) {
    const isDue = performance.now() - recordedAt >= milliseconds('feedPositionEvery');
    const { keys, readingMs } = await reader.record(signal, !isDue);
    if (isDue) recordedAt = performance.now();
    if (keys > 0) slice.wake();
    const shortest = milliseconds(keys > 0 ? 'feedPauseAfterChanges' : 'feedPause');
    await slice.pause(
      Math.max(shortest, Math.min(readingMs * times('feedPauseShare'), milliseconds('feedLongestPause'))),
    );
  }
}
