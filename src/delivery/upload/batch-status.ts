/** Polls a batch until the platform has processed it, and says what its counters prove (platform-api.md 4.14). */
import { milliseconds, times } from '../../domain/timeouts.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '@temporalio/activity';
import { ERROR_CATALOGUE } from '../../domain/errors.js';
import type { OpenBatch } from '../../ledger/batches/batches.js';
import { countsOf, isComplete } from '../../platform/batch-progress.js';
import { segmentProblem } from '../../platform/path.js';
import type { BatchStatus, PendingResource } from '../../platform/contract/batches.js';
import type { PartitionContext } from '../partition-context.js';

/** null also for an id that cannot be part of a URL: the platform cannot be asked about such a batch. */
export const platformIdOf = ({ platformBatchId: id }: Pick<OpenBatch, 'platformBatchId'>): string | null =>
  id === null || segmentProblem(id) !== undefined ? null : id;

export interface PollResult {
  /** The last status; null if the platform does not know the batch. */
  readonly status: BatchStatus | null;
  /** False if it was not at its deadline (`upload.batchDeadline`). */
  readonly processed: boolean;
}

/**
 * Polls at growing intervals until only pending records are open or the deadline has passed.
 *
 * @param sent how many records the batch was sent with
 */
export async function pollUntilProcessed(
  context: PartitionContext,
  {
    platformBatchId,
    tenant,
    sent,
  }: { readonly platformBatchId: string; readonly tenant: string; readonly sent: number },
): Promise<PollResult> {
  const { sync, signal } = context;
  const deadline = performance.now() + sync.spec.upload.batchDeadline * 1000;
  let status: BatchStatus | null = null;
  let delay = milliseconds('batchFirstPoll');
  const counted = { progress: '', times: 0 };
  while (performance.now() < deadline) {
    await sleep(delay * (0.75 + Math.random() / 2), undefined, { signal });
    status = await statusOf(context, platformBatchId, tenant);
    // A 404 soon after the 202 means that the batch is not visible yet.
    if (status !== null) {
      const progress = JSON.stringify(countsOf(status));
      counted.times = progress === counted.progress ? counted.times + 1 : 1;
      counted.progress = progress;
      if (isProcessed(status, sent, counted.times)) return { status, processed: true };
    }
    delay = Math.min(milliseconds('batchLongestPoll'), delay * times('batchPollFactor'));
  }
  warnOnce('batch_stuck', context, platformBatchId, status);
  return { status, processed: false };
}

/** Asks the platform once, within the sync's limit of requests; null if it does not know the batch. */
export const statusOf = (
  { deps, sync, effort, signal }: PartitionContext,
  platformBatchId: string,
  tenant: string,
): Promise<BatchStatus | null> =>
  sync.requestLimit.run({ queue: tenant, signal }, (pace) =>
    deps.platform.findBatch(platformBatchId, {
      tenant,
      signal,
      pace,
      onRetry: sync.onRetry,
      onEnd: effort.requestEnded,
    }),
  );

/** So often must the counters be the same for records that are counted as pending, and not listed, to wait for their parents. */
const STEADY_POLLS = 3;

/**
 * Whether the batch is complete, or no record is open except pending ones. A platform may count records as pending until it has
 * looked at them: those that it lists wait for their parents, others if nothing moves any more.
 *
 * @param sent how many records the batch was sent with
 * @param polls in how many polls, one after the other, the counters were the same
 */
export function isProcessed(status: BatchStatus, sent: number, polls: number): boolean {
  if (isComplete(status)) return true;
  const { successfulRecords, failedRecords, pendingRecords } = countsOf(status);
  if (pendingRecords === 0 || successfulRecords + failedRecords + pendingRecords < sent) return false;
  return (status.pendingResources?.length ?? 0) >= pendingRecords || polls >= STEADY_POLLS;
}

/** Whether all of the batch's records are counted as successful, and none is counted or listed as anything else. */
export function isAllAccepted(status: BatchStatus, sent: number): boolean {
  const { successfulRecords, failedRecords, pendingRecords } = countsOf(status);
  const listed = (status.errors?.recordErrors?.length ?? 0) + (status.pendingResources?.length ?? 0);
  return successfulRecords === sent && failedRecords + pendingRecords + listed === 0;
}

/** What is known of a batch's records without reading any of them back. */
export interface CounterProof {
  /** The records that the platform lists as pending. */
  readonly listed: ReadonlyMap<string, PendingResource>;
  /** How many of the records are counted as pending without being listed. */
  readonly unlistedPending: number;
  /** Whether the counters account for every record that was sent. */
  readonly addsUp: boolean;
  /** Whether they do, and the lists of pending and failed records do not contradict them. */
  readonly agrees: boolean;
  /** The outcome of all records that are not listed, if the counters leave no doubt about it; else null. */
  readonly outcomeOfUnlisted: 'accepted' | 'rejected' | null;
}

/**
 * What the counters and the list of pending records prove about some of a batch's records. Messages prove nothing: they
 * may name a record, a parent or nothing, in any form.
 *
 * @param sent how many records the batch was sent with
 */
export function provenByCounters(status: BatchStatus, externalIds: readonly string[], sent: number): CounterProof {
  const { successfulRecords, failedRecords, pendingRecords } = countsOf(status);
  const pending = new Map((status.pendingResources ?? []).map((p) => [p.resourceExternalId, p]));
  const listed = new Map(externalIds.flatMap((id) => (pending.has(id) ? [[id, pending.get(id)!] as const] : [])));
  const addsUp = successfulRecords + failedRecords + pendingRecords === sent;
  // If failures are listed but not counted, the counters cannot be trusted.
  const uncounted = failedRecords === 0 && (status.errors?.recordErrors?.length ?? 0) > 0;
  const agrees = addsUp && !uncounted && listed.size === pendingRecords && pending.size === pendingRecords;
  const outcomeOfUnlisted = !agrees
    ? null
    : failedRecords === 0
      ? 'accepted'
      : successfulRecords === 0
        ? 'rejected'
        : null;
  return { listed, unlistedPending: pendingRecords - listed.size, addsUp, agrees, outcomeOfUnlisted };
}

/** Warnings that were logged. When there are many they are all forgotten, at the price of repeating a few. */
const warned = new Set<string>();
const WARNINGS_KEPT = 1000;

/** Logs a problem with the platform's batches once for each run, mapping and cause, not for each batch. */
export function warnOnce(
  code: 'batch_stuck' | 'batch_inconsistent',
  { sync, mapping, partition }: Pick<PartitionContext, 'sync' | 'mapping' | 'partition'>,
  platformBatchId: string,
  status: BatchStatus | null,
): void {
  const [syncName, mappingName] = [sync.spec.name, mapping.spec.name];
  const cause = `${partition.runId} ${syncName} ${mappingName} ${code}`;
  if (warned.has(cause)) return;
  if (warned.size >= WARNINGS_KEPT) warned.clear();
  warned.add(cause);
  log.warn(ERROR_CATALOGUE[code].meaning, {
    code,
    sync: syncName,
    mapping: mappingName,
    platformBatchId,
    visible: status !== null,
    ...(status === null ? {} : countsOf(status)),
  });
}
