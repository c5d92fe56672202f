/** A batch's status: waited for until nothing moves any more, and what its counters prove without a word of text. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchStatus, PendingResource } from '../src/platform/contract/batches.js';
import type { UploadScope } from './upload-batch.js';
import { warnOnce } from './warn-once.js';

const FIRST_POLL = 40;
const LONGEST_POLL = 2_000;

export interface PolledBatch {
  /** The last status that came; null where the platform does not know the batch. */
  readonly status: BatchStatus | null;
  /** False where it is still not settled at its deadline (`upload.batchDeadline`). */
  readonly settled: boolean;
}

/** Asks until only waiting records are open, or the deadline has passed. */
export async function pollUntilSettled(
  scope: UploadScope,
  platformBatchId: string,
  tenant: string,
): Promise<PolledBatch> {
  const { deps, sync, signal } = scope;
  const deadline = performance.now() + sync.spec.upload.batchDeadline * 1000;
  let status: BatchStatus | null = null;
  for (let delay = FIRST_POLL; performance.now() < deadline; delay = Math.min(LONGEST_POLL, delay * 1.7)) {
    await sleep(delay * (0.75 + Math.random() / 2), undefined, { signal });
    status = await deps.platform.findBatch(platformBatchId, { tenant, signal });
    // 404 soon after 202 is "not visible yet".
    if (status !== null && isSettled(status)) return { status, settled: true };
  }
  warnOnce('batch_stuck', scope, platformBatchId, status);
  return { status, settled: false };
}

/** Settled: complete, or nothing open but records that wait for others. */
export function isSettled({ completedAt, progress }: BatchStatus): boolean {
  if (completedAt != null) return true;
  return progress.pendingRecords > 0 && progress.processedRecords + progress.pendingRecords >= progress.totalRecords;
}

/** Whether all of the batch's records count as successful, and none as anything else. */
export const isAllAccepted = ({ progress, errors, pendingResources }: BatchStatus, sent: number): boolean =>
  progress.successfulRecords === sent &&
  progress.failedRecords + progress.pendingRecords === 0 &&
  (errors?.recordErrors?.length ?? 0) + (pendingResources?.length ?? 0) === 0;

export interface Counted {
  /** Those of the records that the platform lists as pending. */
  readonly listed: ReadonlyMap<string, PendingResource>;
  /** Whether the counters account for every record that was sent. */
  readonly addsUp: boolean;
  /** What all the others are, where the counters leave no doubt; else null. */
  readonly others: 'accepted' | 'rejected' | null;
}

/**
 * What the counters and the list of pending records say of some of a batch's records. What the platform says in words is not
 * looked at: it may name a record, a parent or nothing, in any form.
 *
 * @param sent how many records the batch was sent with
 */
export function countedIn(status: BatchStatus, externalIds: readonly string[], sent: number): Counted {
  const { successfulRecords, failedRecords, pendingRecords } = status.progress;
  const pending = new Map((status.pendingResources ?? []).map((p) => [p.resourceExternalId, p]));
  const listed = new Map(externalIds.flatMap((id) => (pending.has(id) ? [[id, pending.get(id)!] as const] : [])));
  const addsUp = successfulRecords + failedRecords + pendingRecords === sent;
  // Failures that are told of and not counted: whatever they mean, the counters are not the whole truth.
  const uncounted = failedRecords === 0 && (status.errors?.recordErrors?.length ?? 0) > 0;
  const proved = addsUp && !uncounted && listed.size === pendingRecords && pending.size === pendingRecords;
  const others = !proved ? null : failedRecords === 0 ? 'accepted' : successfulRecords === 0 ? 'rejected' : null;
  return { listed, addsUp, others };
}
