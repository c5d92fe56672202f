/** How long records that the platform did not accept without a parent wait before they are sent again. */
import { seconds } from '../../domain/timeouts.js';
import type { WaitingRecord } from '../../ledger/checkpoint-input.js';
import type { WaitingRow } from '../../ledger/waiting.js';

/** Seconds, by how often the record was sent again already: none at first, then longer and longer. */
export const retryDelay = (tries: number): number =>
  tries === 0 ? 0 : Math.min(seconds('childLongestRetry'), seconds('childFirstRetry') * 2 ** (tries - 1));

/**
 * The entry that makes a waiting record be read and sent again in `dueIn` seconds. `missing`: the parents that it
 * lacks.
 */
export const resendLater = (
  { tenantId, externalId, sourceKey }: WaitingRow,
  { missing, rejection, dueIn }: Pick<WaitingRecord, 'missing' | 'rejection' | 'dueIn'>,
): WaitingRecord => ({
  tenantId,
  externalId,
  sourceKey,
  reason: 'expired',
  batchId: null,
  contentHash: null,
  missing,
  rejection,
  expiresAt: null,
  dueIn,
});
