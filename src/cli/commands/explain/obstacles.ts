/** What keeps the runs of a sync from going on until a person does something about it. */
import type { ViewParts } from '../../../composition/parts.js';
import type { PausedRun } from '../../../domain/monitoring/sync-health.js';
import type { RemovalPlan } from '../../../domain/run/removal-plan.js';
import type { MappingOnHold } from '../../../ledger/runs/guards.js';
import { unrecordedRuns } from '../../runs/unrecorded-runs.js';

/** Runs that are paused or on hold, and removal plans that await approval. */
export interface Obstacles {
  readonly pausedRuns: readonly PausedRun[];
  /** What the guard has put on hold, of whichever mapping: those that refer to it wait as well. */
  readonly holds: readonly MappingOnHold[];
  readonly plans: readonly RemovalPlan[];
  /** Ids of the runs that have not ended: one of them may be on hold for its plan. */
  readonly activeRuns: readonly string[];
}

/** The obstacles of the sync, as `status` shows them. */
export async function obstaclesOf(parts: ViewParts, sync: string): Promise<Obstacles> {
  const { guards, removals, runs } = await parts.ledger();
  const [pausedRuns, holds, plans, notEnded] = await Promise.all([
    pausedRunsOf(parts, sync),
    guards.onHold(sync),
    removals.awaitingApproval(sync),
    runs.notEnded(sync),
  ]);
  return { pausedRuns, holds, plans, activeRuns: notEnded.map((run) => run.id) };
}

/** Temporal is asked only if a run is paused: whether its workflow still runs, as the ledger does not know. */
async function pausedRunsOf(parts: ViewParts, sync: string): Promise<readonly PausedRun[]> {
  const { syncStates } = await parts.ledger();
  const working = async (abandoned: readonly string[]): Promise<readonly PausedRun[]> =>
    (await syncStates.of(sync, abandoned))[0]?.pausedRuns ?? [];
  const paused = await working([]);
  if (paused.length === 0) return paused;
  const unrecorded = await unrecordedRuns(parts, sync);
  return 'abandoned' in unrecorded ? working(unrecorded.abandoned) : paused;
}
