/**
 * How long a child is queued that the platform did not accept without its parent. A file of its own, because the delivery of
 * chunks and that of pending records must agree on it.
 */
import { seconds } from '../../domain/timeouts.js';

/** Seconds, by how often the record was sent again already: none at first, then longer and longer. */
export const retryDelay = (tries: number): number =>
  tries === 0 ? 0 : Math.min(seconds('childLongestRetry'), seconds('childFirstRetry') * 2 ** (tries - 1));
