/**
 * All activities. Workflows import only the type of this file. An activity has a file in this folder if it needs what only
 * Temporal knows: who runs it, which workflow it belongs to, a client. All others come from the modules that do the work.
 */
import { milliseconds } from '../src/domain/timeouts.js';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { deliverNotices } from '../src/alerts/deliver-notices.js';
import { loadPartition } from '../src/delivery/load/load-partition.js';
import { replayDeadLetters } from '../src/delivery/load/replay-dead-letters.js';
import { sweepDeadLetters } from '../src/delivery/removals/sweep-dead-letters.js';
import { deliverParents } from '../src/delivery/pending/deliver-parents.js';
import { pollPending } from '../src/delivery/pending/poll-pending.js';
import { removeVanished } from '../src/delivery/removals/remove-vanished.js';
import { approveHold } from '../src/delivery/run/approve-hold.js';
import { closeRun } from '../src/delivery/run/close-run.js';
import { planMapping, type PlanInput } from '../src/delivery/run/plan-mapping.js';
import { setRate } from '../src/delivery/run/set-rate.js';
import type {
  AbandonInput,
  ApproveHoldInput,
  CloseRunInput,
  DeliverNoticesInput,
  DetectSchemaDriftInput,
  MappingRef,
  OpenRunInput,
  PartitionRef,
  PollPendingInput,
  PruneInput,
  RecordFailureInput,
  ReplayRef,
  RunRef,
  SetRateActivityInput,
  SweepInput,
} from '../src/domain/work.js';
import type { NewAuditEntry } from '../src/domain/audit.js';
import { detectSchemaDrift } from '../src/delivery/run/schema-drift.js';
import { examineWorker } from './examine-worker.js';
import { openRun } from './open-run.js';
import { pruneLedger } from './prune-ledger.js';
import { notingTrouble } from './note-trouble.js';
import { recordFailure } from './record-failure.js';
import { runActivity, withHeartbeats } from './run-activity.js';
import { lookAfterRun, watchSyncs } from './watch-syncs.js';

/** Short activities are bounded by their timeout; loads send heartbeats. */
export const createActivities = (deps: Dependencies) => ({
  openRun: (input: OpenRunInput) => runActivity(() => openRun(deps, input)),
  detectSchemaDrift: (input: DetectSchemaDriftInput) =>
    runActivity(() => notingTrouble(deps, input, () => detectSchemaDrift(deps, input))),
  planMapping: (input: PlanInput) => runActivity(() => notingTrouble(deps, input, () => planMapping(deps, input))),
  deliverParents: (input: MappingRef) => longActivity(deps, input, (signal) => deliverParents(deps, input, signal)),
  loadPartition: (input: PartitionRef) =>
    longActivity(deps, input, (signal, read) => loadPartition(deps, input, signal, read)),
  replayDeadLetters: (input: ReplayRef) =>
    longActivity(deps, input, (signal) => replayDeadLetters(deps, input, signal)),
  sweepDeadLetters: (input: SweepInput) => longActivity(deps, input, (signal) => sweepDeadLetters(deps, input, signal)),
  pollPending: (input: PollPendingInput) => longActivity(deps, input, (signal) => pollPending(deps, input, signal)),
  removeVanished: (input: MappingRef) => longActivity(deps, input, (signal) => removeVanished(deps, input, signal)),
  examineWorker: (sync: string | null) => runActivity(() => examineWorker(deps, sync)),
  approveHold: (input: ApproveHoldInput) => runActivity(() => approveHold(deps, input)),
  recordFailure: (input: RecordFailureInput) => endsRun(deps, input.input.sync, () => recordFailure(deps, input)),
  closeRun: (input: CloseRunInput) => endsRun(deps, input.sync, () => closeRun(deps, input)),
  /**
   * Records the run as `failed`, and releases its lease. Its partitions and the position stay as they are, so the next run
   * continues there.
   */
  abandonRun: ({ runId, sync, failure }: AbandonInput) =>
    endsRun(deps, sync, () => deps.ledger.runs.end(runId, 'failed', failure)),
  watchSyncs: () => runActivity(() => watchSyncs(deps)),
  deliverNotices: (input: DeliverNoticesInput) =>
    runActivity(() => deliverNotices(deps.ledger.alerts, deps.alerting, input)),
  pruneLedger: (input: PruneInput) => runActivity((signal) => pruneLedger(deps, input, signal)),
  setRate: (input: SetRateActivityInput) => runActivity(() => setRate(deps, input)),
  noteAction: (input: NewAuditEntry) => runActivity(() => deps.ledger.audit.add(input)),
});

/**
 * What workflows call. Inputs and results are JSON in Temporal's history, so they contain names, counts and ids, never
 * rows.
 */
export type Activities = ReturnType<typeof createActivities>;

/** People are told how a run has ended as soon as the ledger knows it. */
const endsRun = <T>(deps: Dependencies, sync: string, end: () => Promise<T>): Promise<T> =>
  runActivity(async () => {
    const result = await end();
    await lookAfterRun(deps, sync);
    return result;
  });

/** An activity that sends heartbeats, and notes in the ledger why it is tried again. */
const longActivity = <T>(
  deps: Dependencies,
  run: RunRef,
  work: (signal: AbortSignal, read: (rows: number) => void) => Promise<T>,
): Promise<T> =>
  runActivity((signal) =>
    notingTrouble(deps, run, () => withHeartbeats(milliseconds('heartbeatEvery'), (read) => work(signal, read))),
  );
