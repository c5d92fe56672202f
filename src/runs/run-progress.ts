/** How far a run has come, from the ledger or from its workflow. */
import type { WorkflowHandle } from '@temporalio/client';
import type { MappingProgress } from '../domain/run/progress.js';
import type { HoldUntil, RunWait } from '../domain/run/run.js';
import type { Pause } from '../domain/run/run-controls.js';
import type { LedgerView } from '../ledger/ledger-view.js';

/** What the workflow itself knows. */
export interface QueriedProgress {
  /** The ledger's id of the run; null until a worker has opened it. */
  readonly runId: string | null;
  readonly mappings: readonly MappingProgress[];
  readonly waits: readonly RunWait[];
  readonly pause: Pause | null;
  readonly holds: readonly HoldUntil[];
}

/** Rejects while no worker has taken up the workflow. */
export const queryProgress = (handle: Pick<WorkflowHandle, 'query'>): Promise<QueriedProgress> =>
  handle.query<QueriedProgress, []>('progress');

/**
 * From the ledger, which is updated with each chunk; without one (null) from the workflow, which learns of rows only when a time
 * slice ends.
 */
export async function progressOf(
  handle: Pick<WorkflowHandle, 'query'>,
  runId: string,
  ledger: (() => Promise<Pick<LedgerView, 'counts'>>) | null,
): Promise<readonly MappingProgress[]> {
  return ledger === null ? (await queryProgress(handle)).mappings : (await ledger()).counts.progress(runId);
}
