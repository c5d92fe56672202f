/** Records what a change feed reports, again and again. */
import { milliseconds, times } from '../../domain/timeouts.js';
import type { FeedReader } from '../run/feed-reader.js';
import type { LiveTimeSlice } from './live-time-slice.js';

/** What reading a change takes, at most. The same change would take as long at any other time, so no pause saves it. */
const MS_PER_KEY = 0.1;

/**
 * Reads the feed until the slice is over; whoever waits for news is woken. A reading is followed by a pause of several times
 * what it has taken beyond its changes, so that the source spends no more than a small share of its time on decoding its log
 * in vain. A pause that grew with the number of changes would let them pile up.
 *
 * @throws PartnerSyncError `changes_lost` if not every change can be read any more
 */
export async function collectAgain(reader: FeedReader, slice: LiveTimeSlice, signal: AbortSignal): Promise<void> {
  let recordedAt = -Infinity;
  while (!slice.isOver) {
    const isDue = performance.now() - recordedAt >= milliseconds('feedPositionEvery');
    const { keys, readingMs } = await reader.record(signal, !isDue);
    if (isDue) recordedAt = performance.now();
    if (keys > 0) slice.endPauses();
    const shortest = milliseconds(keys > 0 ? 'feedPauseAfterChanges' : 'feedPause');
    const inVain = Math.max(0, readingMs - keys * MS_PER_KEY);
    await slice.pause(Math.max(shortest, Math.min(inVain * times('feedPauseShare'), milliseconds('feedLongestPause'))));
  }
}
