/** What workflows and activities exchange: one object in, one object out, of ids and counts, never rows. */
import type { Actor } from './audit.js';
import type { DeadLetterFilter } from '../records/dead-letter.js';
import type { Hold, HoldCause } from '../sync/guard.js';
import type { MappingProgress } from './progress.js';
import type { MappingNote, RemainingSweep, RunInput, RunKind, SkippedMapping } from './run.js';
import type { SetRateInput } from './run-controls.js';
import type { RunTrigger } from './search-attributes.js';
import type { FailOn } from '../sync/sync.js';

/** Input of `openRun`. */
export interface OpenRunInput {
  /** The first execution of the workflow's chain: a continued run is the same run, unless {@link RunInput.runsBefore} differs. */
  readonly firstExecutionRunId: string;
  readonly kind: RunKind;
  readonly input: RunInput;
  readonly start: RunStart;
}

/** The memo that commands give to a run: who started it. A memo needs no registration, unlike a search attribute. */
export const STARTED_BY = 'partnerSyncStartedBy';

/** How a run was started. */
export interface RunStart {
  readonly trigger: RunTrigger;
  /** The schedule's id, or the account and machine of a command; null if neither is known, as for the Web UI. */
  readonly by: string | null;
}

/**
 * A start of a schedule that is always on, while another run is active: nothing is recorded of it. The schedule begins a run once
 * that one has ended.
 */
export interface NotNeeded {
  /** The run that is active, and its workflow. */
  readonly activeRun: { readonly run: string; readonly workflowId: string };
}

/** A run that is recorded in the ledger, and what it is to do. */
export interface OpenedRun {
  readonly runId: string;
  readonly sync: string;
  readonly mode: string;
  /** Mapping names, stage by stage: parents before children. */
  readonly stages: readonly (readonly string[])[];
  /**
   * For each stage, beside its mappings: those whose new records are sent without the references that are part of a
   * cycle; a later stage has them in full. Empty for a replay.
   */
  readonly firstPass: readonly (readonly string[])[];
  /**
   * Mappings whose waiting records the run polls at its end, parents first: its own, and those connected with them by
   * references, since parents are fetched and children become ready.
   */
  readonly polled: readonly string[];
  /** A note for each mapping that fills another schema than before; absent if there are none. */
  readonly schemaNotes?: readonly MappingNote[];
  /** Seconds for which the run polls records that the platform keeps pending, before it ends with them waiting. */
  readonly waitForPending: number;
  readonly failOn: FailOn;
  /** Whether its mappings have rows of several tenants, of which small ones need not wait for large ones. */
  readonly manyTenants: boolean;
  /** The change feeds that it goes by, or begins; absent if there are none. */
  readonly feeds?: readonly FeedOfRun[];
  /** Of mode `live`: when it is to close with a report and the next run to begin, in milliseconds since 1970. */
  readonly liveUntil?: number;
  /** Seconds for which a run that its guard holds waits for approval; null if the sync has no guard. */
  readonly guardWait: number | null;
  /** Names of the search attributes that the namespace has. */
  readonly searchAttributes: readonly string[];
}

/** A change feed, and those of a run's mappings that it is of. */
export interface FeedOfRun {
  readonly name: string;
  readonly mappings: readonly string[];
}

/** One mapping in one run. */
export interface MappingRef extends RunRef {
  readonly mapping: string;
}

/** Result of `planMapping`. */
export interface PlannedPartitions {
  /** The partitions that are not done; `label` says what one reads (partition-label.ts). */
  readonly partitions: readonly { readonly id: string; readonly label: string | null }[];
  /** How many partitions may be loaded at the same time. */
  readonly concurrency: number;
  /** Partitions that are loaded once all of these are; absent if there are none. */
  readonly next?: PlannedPartitions['partitions'];
  /** As in {@link TimeSliceResult}. */
  readonly hold: Hold | null;
}

/**
 * The load queue: the task queue of the activities that load partitions. A worker takes two time slices at once from it,
 * which fill its thread, so they spread over the workers. One that waits there for too long goes to the common queue.
 */
export const loadQueueOf = (taskQueue: string): string => `${taskQueue}-load`;

/** The task queue of one worker, on which it is asked about its state. `identity` is that in Temporal. */
export const queueOfWorker = (taskQueue: string, identity: string): string => `${taskQueue}-worker-${identity}`;

/** Input of the workflow `alerts`, and of its activity. */
export interface DeliverNotificationsInput {
  readonly sync: string;
  /** The target's id, from which its address cannot be told. */
  readonly target: string;
}

/** The id of the workflow that tells a target: one at a time, so that none waits for another one. */
export const alertsWorkflowId = (taskQueue: string, { sync, target }: DeliverNotificationsInput): string =>
  `alerts/${taskQueue}/${sync}/${target}`;

/** Input of `examineWorker`. */
export interface ExamineWorkerInput {
  /** The sync to check; null for the ledger alone. */
  readonly sync: string | null;
  /** With it the values of variables are hashed. */
  readonly salt: string;
}

/** Input of the workflow `askWorkers`. */
export interface AskWorkersInput extends ExamineWorkerInput {
  readonly taskQueue: string;
  readonly identities: readonly string[];
}

/** Something that a worker found missing or wrong: where, a code of the catalogue, and the message. */
export interface WorkerFailure extends RunFailure {
  readonly part: 'files' | 'ledger' | 'source' | 'platform';
}

/** Whether a worker could run a sync. */
export interface WorkerState {
  /** The version of its files; null if they cannot be used, or no sync was named. */
  readonly version: string | null;
  /** The version of the program. */
  readonly program: string;
  /** Salted hashes of its variables, by their names: of the program and of its files; null for one that is not set. */
  readonly variables: Readonly<Record<string, string | null>>;
  readonly failures: readonly WorkerFailure[];
}

/** The states of workers; null for one that did not respond. */
export type WorkerStates = readonly { readonly identity: string; readonly state: WorkerState | null }[];

/** One partition of a mapping in one run. */
export interface PartitionRef extends MappingRef {
  readonly partitionId: string;
}

/** A partition of dead letters. It carries the filter, since the matching dead letters change as they are delivered. */
export interface ReplayRef extends PartitionRef {
  readonly filter: DeadLetterFilter;
}

/** Input of `sweepDeadLetters`, whose result is what remains. */
export interface SweepInput extends RunRef, RemainingSweep {}

/** A mapping, or the first of its two passes, in a round of small tenants. */
export interface SmallTenantsStep {
  readonly mapping: string;
  readonly firstPass: boolean;
}

/** Input of `deliverSmallTenants`. */
export interface SmallTenantsInput extends RunRef {
  /** Parents before children, unless the round before has not come to the first ones. */
  readonly steps: readonly SmallTenantsStep[];
}

/** Input of `recoverSmallTenants`. */
export interface RecoverSmallTenantsInput extends RunRef {
  readonly mappings: readonly string[];
}

/** Result of `deliverSmallTenants`. */
export interface SmallTenantsResult {
  /** How many records were sent. */
  readonly sent: number;
  /** For how long the source has counted rows. */
  readonly countingMs: number;
  /** The index of the step with which the next round is to begin: 0, or where the time slice was over. */
  readonly next: number;
}

/** Result of one time slice. */
export interface TimeSliceResult {
  /** Whether the partition is read to its end; otherwise another time slice continues it. */
  readonly done: boolean;
  /** Why the run must not go on with the mapping until somebody approves it; null if nothing is wrong. */
  readonly hold: Hold | null;
  readonly progress: readonly MappingProgress[];
}

/** Input of `detectSchemaDrift`. */
export interface DetectSchemaDriftInput extends RunRef {
  readonly mappings: readonly string[];
  /** Whether changed types are accepted. */
  readonly accept: boolean;
}

/** How the source's columns differ from those of the mappings' last run. */
export interface SchemaDrift {
  /** Mappings that cannot run with the changes. */
  readonly skipped: readonly SkippedMapping[];
  /** Changes with which the mappings can run. */
  readonly notes: readonly MappingNote[];
}

/** Input of `collectChanges`. */
export interface CollectChangesInput extends RunRef {
  readonly feed: string;
  /** Mappings that the run leaves out because of schema drift. */
  readonly skipped: readonly string[];
}

/** Result of `collectChanges`. */
export interface CollectedChanges {
  /** What people are to know about the feed, for each of its mappings. */
  readonly notes: readonly MappingNote[];
  /** Its mappings of which every row is still to be read; for a run in mode `live`. */
  readonly unloaded?: readonly string[];
}

/** Input of `followChanges`. */
export interface FollowChangesInput extends RunRef {
  readonly feeds: readonly string[];
  /** The mappings whose changed rows are delivered, parents before children. */
  readonly stages: readonly (readonly string[])[];
  /** As of the run. */
  readonly polled: readonly string[];
  /** Mappings that the run leaves out because of schema drift. */
  readonly skipped: readonly string[];
  /** What nobody has approved yet. */
  readonly onHold: readonly Pick<Hold, 'mapping' | 'cause'>[];
  /** Mappings of which the run reads every row meanwhile. */
  readonly loading: readonly string[];
  /** Mappings whose records the run looks through meanwhile, or once it has read every row. */
  readonly searching: readonly string[];
  /** Whether the run is about to end: the feeds are left alone, and what they have named is delivered. */
  readonly isLast: boolean;
}

/** Result of `followChanges`. */
export interface FollowedChanges {
  readonly progress: readonly MappingProgress[];
  /** What somebody has to approve before the run goes on with the mapping, or removes its records. */
  readonly holds: readonly Hold[];
  /** Mappings whose records have to be looked through, since the feed could not tell which rows are gone. */
  readonly searches: readonly string[];
  /** Why the ledger's run is to end, and another one to begin; null if it goes on. */
  readonly beginAgain: NewBeginning | null;
}

/**
 * What the next run of a workflow in mode `live` begins for: to read every row again, not to count removals that were approved, to
 * use other files, or to leave out other mappings.
 */
export type NewBeginning = 'changes_lost' | 'removals_approved' | 'files_changed' | 'source_changed';

/** Input of `removeVanished`. */
export interface RemoveVanishedInput extends MappingRef {
  /** What the run looks through: all records of the mapping, or, if it goes by a change feed, those of changed rows. */
  readonly among: 'all' | 'changed_rows';
  /**
   * Whether the run is put on hold for a plan that needs approval even if it has no guard: one in mode `live` does not end, so
   * that no other run could carry the plan out.
   */
  readonly awaitsApproval?: boolean;
}

/** Input of `approveHold`. */
export interface ApproveHoldInput extends MappingRef, Approval {
  readonly cause: HoldCause;
}

/** Who has approved something, and why. */
export interface Approval {
  readonly actor: Actor;
  readonly reason: string | null;
}

/** Input of `setRate`. */
export interface SetRateActivityInput extends RunRef {
  readonly rate: Pick<SetRateInput, 'requestsAtOnce' | 'requestsPerSecond'>;
  readonly reason: string | null;
  readonly actor: Actor;
  /** Of the Update, for the audit. */
  readonly key: string;
}

/** Input of `closeRun`. */
export interface CloseRunInput extends RunRef, SchemaDrift {
  /** Whether somebody has told a run in mode `live` to stop. */
  readonly isStopped?: boolean;
}

/** One run. */
export interface RunRef {
  readonly runId: string;
  readonly sync: string;
}

/** Why a run failed: a code of the catalogue, and the message. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
}

/** Why a run has failed whose workflow cannot say so any more. */
export const ABANDONED: RunFailure = {
  code: 'run_stopped',
  message: 'its workflow was terminated, or ended without the ledger',
};

/** Why a run has failed that somebody has cancelled. */
export const CANCELLED: RunFailure = { code: 'run_stopped', message: 'cancelled' };

export const isCancelled = ({ code, message }: RunFailure): boolean =>
  code === CANCELLED.code && message === CANCELLED.message;

/** How somebody has stopped a workflow: who, as they name themselves, and why; null if they have not said. */
export interface Stop {
  readonly action: 'run_cancelled' | 'run_terminated';
  readonly who: string | null;
  readonly reason: string | null;
}

/** Input of `failRun`: a run that failed after it was opened. */
export interface FailRunInput extends RunRef {
  readonly failure: RunFailure;
}

/** Input of `recordFailure`: a run that failed before it was opened. An invalid `input` is reduced to its sync and mode. */
export interface RecordFailureInput extends OpenRunInput {
  readonly failure: RunFailure;
}

/** Input of `pruneLedger`. */
export interface PruneInput {
  readonly sync: string;
}

/** Input of `pollPending`. */
export interface PollPendingInput extends RunRef {
  /** Parents before children, as far as references have an order. */
  readonly mappings: readonly string[];
}

/** A mapping's waiting records, as far as they concern a run. */
export interface MappingBacklog {
  /** All records of the mapping without a final outcome. */
  readonly waiting: number;
  /** Records of this run that the platform keeps pending for a parent which may still come. */
  readonly pending: number;
  /** Records that will be read and sent again within seconds. */
  readonly dueSoon: number;
  /** Seconds until the platform has given up the last pending record. */
  readonly pendingFor: number;
  /** Schemas of the parents that pending records miss, five at most. */
  readonly parents: readonly string[];
}

/** Result of `pollPending`. */
export interface PollPendingResult {
  /** Whether its time was over before all due records were sent again; another poll goes on with them. */
  readonly interrupted: boolean;
  /** The mappings with waiting records. */
  readonly backlogs: readonly (MappingBacklog & { readonly mapping: string })[];
}
