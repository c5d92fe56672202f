/** Waiting records: those that have no final outcome yet. Each is either pending or queued. */
import type { ParentCode, ParentName } from '../../domain/records/parent.js';
import type { SourceKey } from '../../domain/source/source.js';

/** Why the platform keeps a record: `dependency`: its parent may still come; else why the parent will not. */
export type PendingReason = 'dependency' | ParentCode;

/**
 * Why a record is sent again.
 *
 * - `contended`: it was not sent because of another reading of its row (see `SkipReason`), or its row was read again
 *   while it was pending;
 * - `lacks_parent`: the platform has dropped it, or rejected it, while it lacked a parent;
 * - `unknown`: it cannot be told whether the platform accepted it.
 */
export type QueuedReason = 'contended' | 'lacks_parent' | 'unknown';

/**
 * The source key of a waiting entry that was written without a reading of its row (`writeRecoveredPending`).
 * The row will be read in the order of its partition.
 */
export const NO_ROW_READ: SourceKey = [];

/** Whether the entry tells which row to read again. */
export const isRowKnown = ({ sourceKey }: { readonly sourceKey: SourceKey }): boolean => sourceKey.length > 0;

/** What pending and queued records have in common. */
interface WaitingFields {
  readonly tenantId: number;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  /** The parents that it is known to lack. */
  readonly missing: readonly ParentName[];
}

/** The platform keeps it until its parents arrive. */
export interface PendingRecord extends WaitingFields {
  readonly kind: 'pending';
  readonly reason: PendingReason;
  readonly batchId: string;
  /** What the batch was sent with, 32 hex digits. */
  readonly contentHash: string;
  /** When the platform drops it, as the platform has written it; null if it has not said. */
  readonly expiresAt: string | null;
  /** Seconds for which the platform was asked to keep it. */
  readonly dependencyWait: number;
}

/** It is in no batch: its row is read and sent again once it is due. */
export interface QueuedRecord extends WaitingFields {
  readonly kind: 'queued';
  readonly reason: QueuedReason;
  /** Seconds until it is due. */
  readonly dueIn: number;
  /** The platform's message (masked), if it rejected the record for anything but a missing parent, or failed at it; else null. */
  readonly rejection: string | null;
  /** Whether it was not sent this time: then this is no attempt at sending it. */
  readonly isPostponed?: boolean;
}

export type WaitingRecord = PendingRecord | QueuedRecord;

/**
 * Queues a record once more that was sent in vain because it lacks parents.
 *
 * @param dueIn seconds until its row is read and sent again
 */
export const queuedWithoutParents = (
  { tenantId, externalId, sourceKey }: Pick<WaitingFields, 'tenantId' | 'externalId' | 'sourceKey'>,
  missing: readonly ParentName[],
  dueIn: number,
  rejection: string | null = null,
): QueuedRecord => ({
  kind: 'queued',
  reason: 'lacks_parent',
  tenantId,
  externalId,
  sourceKey,
  missing,
  rejection,
  dueIn,
});

/**
 * Queues a queued record once more, for the same reason, without having sent it.
 *
 * @param missing the parents that it lacks now
 */
export const postponed = (
  { tenantId, externalId, sourceKey, reason, missing: lacked, rejection }: Omit<QueuedRecord, 'kind' | 'dueIn'>,
  dueIn: number,
  missing: readonly ParentName[] = lacked,
): QueuedRecord => ({
  kind: 'queued',
  reason,
  tenantId,
  externalId,
  sourceKey,
  missing,
  rejection,
  dueIn,
  isPostponed: true,
});
