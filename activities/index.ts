/**
 * All activities. Workflows import only the type of this file. An activity has a file in this folder if it needs what only
 * Temporal knows: who runs it, which workflow it belongs to, a client. All others come from the modules that do the work.
 */
import type { Dependencies } from '../src/delivery/dependencies.js';
import { deliverNotifications } from '../src/alerts/deliver-notifications.js';
import { loadPartition } from '../src/delivery/load/load-partition.js';
import { replayDeadLetters } from '../src/delivery/load/replay-dead-letters.js';
import { sweepDeadLetters } from '../src/delivery/removals/sweep-dead-letters.js';
import { deliverParents } from '../src/delivery/pending/deliver-parents.js';
import { pollPending } from '../src/delivery/pending/poll-pending.js';
import { deliverSmallTenants, recoverSmallTenants } from '../src/delivery/small-tenants/deliver-small-tenants.js';
import { removeVanished } from '../src/delivery/removals/remove-vanished.js';
import { followChanges } from '../src/delivery/live/follow-changes.js';
import { approveHold } from '../src/delivery/run/approve-hold.js';
import { collectChanges } from '../src/delivery/run/collect-changes.js';
import { planMapping, type PlanInput } from '../src/delivery/run/plan-mapping.js';
import { setRate } from '../src/delivery/run/set-rate.js';
import type {
  ApproveHoldInput,
  CloseRunInput,
  CollectChangesInput,
  DeliverNotificationsInput,
  DetectSchemaDriftInput,
  ExamineWorkerInput,
  FailRunInput,
  FollowChangesInput,
  MappingRef,
  OpenRunInput,
  PartitionRef,
  PollPendingInput,
  PruneInput,
  RecordFailureInput,
  RecoverSmallTenantsInput,
  RemoveVanishedInput,
  ReplayRef,
  RunRef,
  SetRateActivityInput,
  SmallTenantsInput,
  SweepInput,
} from '../src/domain/run/work.js';
import type { NewAuditEntry } from '../src/domain/run/audit.js';
import { recordSchemaDrift } from '../src/delivery/run/schema-drift.js';
import { closeRun } from './close-run.js';
import { examineWorker } from './examine-worker.js';
import { failRun } from './fail-run.js';
import { openRun } from './open-run.js';
import { pruneAfterFailure, pruneLedger } from './prune-ledger.js';
import { recordingRetries } from './record-retries.js';
import { recordFailure } from './record-failure.js';
import { runActivity, type Pauses, type RowsDone } from './run-activity.js';
import { evaluateAfterRun, watchSyncs } from './watch-syncs.js';

export const createActivities = (deps: Dependencies) => ({
  openRun: (input: OpenRunInput) => runActivity(() => openRun(deps, input)),
  detectSchemaDrift: (input: DetectSchemaDriftInput) =>
    recordedActivity(deps, input, () => recordSchemaDrift(deps, input)),
  collectChanges: (input: CollectChangesInput) =>
    recordedActivity(deps, input, (signal) => collectChanges(deps, input, signal)),
  followChanges: (input: FollowChangesInput) =>
    recordedActivity(deps, input, (signal, rowsDone) => followChanges(deps, input, signal, rowsDone), {
      longest: 'followRetryLongest',
    }),
  planMapping: (input: PlanInput) => recordedActivity(deps, input, () => planMapping(deps, input)),
  deliverParents: (input: MappingRef) => recordedActivity(deps, input, (signal) => deliverParents(deps, input, signal)),
  loadPartition: (input: PartitionRef) =>
    recordedActivity(deps, input, (signal, rowsDone) => loadPartition(deps, input, signal, rowsDone)),
  replayDeadLetters: (input: ReplayRef) =>
    recordedActivity(deps, input, (signal) => replayDeadLetters(deps, input, signal)),
  sweepDeadLetters: (input: SweepInput) =>
    recordedActivity(deps, input, (signal) => sweepDeadLetters(deps, input, signal)),
  pollPending: (input: PollPendingInput) => recordedActivity(deps, input, (signal) => pollPending(deps, input, signal)),
  deliverSmallTenants: (input: SmallTenantsInput) => runActivity((signal) => deliverSmallTenants(deps, input, signal)),
  recoverSmallTenants: (input: RecoverSmallTenantsInput) =>
    recordedActivity(deps, input, (signal) => recoverSmallTenants(deps, input, signal)),
  removeVanished: (input: RemoveVanishedInput) =>
    recordedActivity(deps, input, (signal) => removeVanished(deps, input, signal)),
  examineWorker: (input: ExamineWorkerInput) => runActivity(() => examineWorker(deps, input)),
  approveHold: (input: ApproveHoldInput) => runActivity(() => approveHold(deps, input)),
  recordFailure: (input: RecordFailureInput) => failsRun(deps, input.input.sync, () => recordFailure(deps, input)),
  closeRun: (input: CloseRunInput) => endsRun(deps, input.sync, () => closeRun(deps, input)),
  failRun: (input: FailRunInput) => failsRun(deps, input.sync, () => failRun(deps, input)),
  watchSyncs: () => runActivity(() => watchSyncs(deps)),
  deliverNotifications: (input: DeliverNotificationsInput) =>
    runActivity(() => deliverNotifications(deps.ledger.alerts, deps.alerting, input), {
      first: 'alertRetryFirst',
      longest: 'alertRetryLongest',
    }),
  pruneLedger: (input: PruneInput) => runActivity((signal) => pruneLedger(deps, input, signal)),
  setRate: (input: SetRateActivityInput) => runActivity(() => setRate(deps, input)),
  recordAction: (input: NewAuditEntry) => runActivity(() => deps.ledger.audit.add(input)),
});

/**
 * What workflows call. Inputs and results are JSON in Temporal's history, so they contain names, counts and ids, never
 * rows.
 */
export type Activities = ReturnType<typeof createActivities>;

/** People are notified of how a run has ended as soon as the ledger knows it. */
const endsRun = <T>(
  deps: Dependencies,
  sync: string,
  end: () => Promise<T>,
  afterwards: (signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
): Promise<T> =>
  runActivity(async (signal) => {
    const result = await end();
    await evaluateAfterRun(deps, sync);
    await afterwards(signal);
    return result;
  });

/** Other runs prune in an activity of their own, since their report is not to wait for it. */
const failsRun = (deps: Dependencies, sync: string, end: () => Promise<void>): Promise<void> =>
  endsRun(deps, sync, end, (signal) => pruneAfterFailure(deps, sync, signal));

/** An activity that records in the ledger why it is retried. */
const recordedActivity = <T>(
  deps: Dependencies,
  run: RunRef,
  work: (signal: AbortSignal, rowsDone: RowsDone) => Promise<T>,
  pauses?: Partial<Pauses>,
): Promise<T> => runActivity((signal, rowsDone) => recordingRetries(deps, run, () => work(signal, rowsDone)), pauses);
