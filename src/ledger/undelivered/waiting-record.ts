/** Waiting records: those that have no final outcome yet. Each is either pending or queued. */
import type { ParentCode, ParentName } from '../../domain/parent.js';
import type { SourceKey } from '../../domain/source.js';

/** Why the platform keeps a record: `dependency`: its parent may still come; else why the parent will not. */
export type PendingReason = 'dependency' | ParentCode;

/**
 * Why a record is sent again.
 *
 * - `busy`: it was not sent (see `SkipReason`), or its row has changed while it was pending;
 * - `lacks_parent`: the platform has let go of it, or rejected it, while it lacked a parent;
 * - `unknown`: it cannot be told whether the platform accepted it.
 */
export type QueuedReason = 'busy' | 'lacks_parent' | 'unknown';

interface Waiting {
  readonly tenantId: number;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  /** The parents that it is known to lack. */
  readonly missing: readonly ParentName[];
}

/** The platform keeps it until its parents arrive. */
export interface PendingRecord extends Waiting {
  readonly kind: 'pending';
  readonly reason: PendingReason;
  readonly batchId: string;
  /** What the batch was sent with, 32 hex digits. */
  readonly contentHash: string;
  /** When the platform lets go of it, as the platform has written it; null if it has not said. */
  readonly expiresAt: string | null;
  /** Seconds for which the platform was asked to keep it. */
  readonly dependencyWait: number;
}

/** It is in no batch: its row is read and sent again once it is due. */
export interface QueuedRecord extends Waiting {
  readonly kind: 'queued';
  readonly reason: QueuedReason;
  /** Seconds until it is due. */
  readonly dueIn: number;
  /** The platform's message (masked), if it rejected the record for anything but a missing parent; else null. */
  readonly rejection: string | null;
}

export type WaitingRecord = PendingRecord | QueuedRecord;

/**
 * Queues a waiting record once more because it lacks parents.
 *
 * @param dueIn seconds until its row is read and sent again
 */
export const queuedWithoutParents = (
  { tenantId, externalId, sourceKey }: Pick<Waiting, 'tenantId' | 'externalId' | 'sourceKey'>,
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
