/** One object in, one object out: what workflows and activities tell each other. Ids and counts, never rows. */
import type { DeadLetterFilter } from './dead-letter.js';
import type { MappingNote, MappingProgress, RunInput, RunKind, StoppedMapping } from './run.js';

export interface OpenRunInput {
  /** The first execution of the workflow's chain: a continued run is the same run. */
  readonly firstExecutionRunId: string;
  readonly kind: RunKind;
  readonly input: RunInput;
}

export interface OpenedRun {
  readonly runId: string;
  readonly sync: string;
  readonly mode: string;
  /** Mapping names, stage by stage: parents before children. */
  readonly stages: readonly (readonly string[])[];
  /**
   * Beside the mappings of each stage: those of which new records are sent without the references that lead in a
   * circle; in full they come in a later stage. Absent in old histories.
   */
  readonly ahead?: readonly (readonly string[])[];
  /**
   * Mappings whose waiting records the run looks after at its end, parents first: its own, and those that are
   * connected with them by references, since parents are fetched and children come back. Absent in old histories.
   */
  readonly followed?: readonly string[];
  /** Seconds that the run follows records held by the platform before it ends with them waiting. */
  readonly followFor: number;
}

export interface MappingRef {
  readonly runId: string;
  readonly sync: string;
  readonly mapping: string;
}

export interface PlannedRanges {
  /** Ranges that are not read to their end yet. */
  readonly rangeIds: readonly string[];
  /** How many ranges may be worked on side by side. */
  readonly lanes: number;
}

/**
 * The task queue of slices, of which a worker takes few at once: two fill its thread, and so they spread over the
 * workers. Who waits there for long is given to any worker.
 */
export const sliceQueueOf = (taskQueue: string): string => `${taskQueue}-slices`;

/** The task queue of one worker alone, on which it can be asked how it is; Temporal knows workers by their identities. */
export const queueOfWorker = (taskQueue: string, identity: string): string => `${taskQueue}-worker-${identity}`;

export interface AskWorkersInput {
  /** The sync that they are asked about; without one they tell of the ledger only. */
  readonly sync: string | null;
  readonly taskQueue: string;
  readonly identities: readonly string[];
}

/** What a worker finds missing or wrong: a part of the work, a code of the catalogue, and its sentence. */
export interface WorkerTrouble extends RunFailure {
  readonly part: 'files' | 'ledger' | 'source' | 'platform';
}

/** How a worker stands towards a sync. */
export interface WorkerState {
  /** Of its files; null where it has none that can be used, or was asked about no sync. */
  readonly version: string | null;
  readonly troubles: readonly WorkerTrouble[];
}

/** What workers answered; null for one that did not. */
export type WorkerStates = readonly { readonly identity: string; readonly state: WorkerState | null }[];

export interface RangeRef extends MappingRef {
  readonly rangeId: string;
}

/** A range of dead letters; the filter goes with it, since what it meets changes while letters close. */
export interface ReplayRef extends RangeRef {
  readonly filter: DeadLetterFilter;
}

export interface SweepInput {
  readonly runId: string;
  readonly sync: string;
  readonly mappings: readonly string[];
}

export interface SliceResult {
  /** Whether the range is read to its end; if not, another slice continues it. */
  readonly done: boolean;
  readonly progress: readonly MappingProgress[];
}

export interface CompareInput {
  readonly sync: string;
  readonly mappings: readonly string[];
  /** Whether changed types are taken as they are. */
  readonly accept: boolean;
}

/** How the source differs from what it was when the mappings last ran. */
export interface SourceDrift {
  readonly stopped: readonly StoppedMapping[];
  readonly notes: readonly MappingNote[];
}

export interface CloseRunInput extends RunRef, Partial<SourceDrift> {}

export interface RunRef {
  readonly runId: string;
  readonly sync: string;
}

/** Why a run failed: a code of the catalogue, and its sentence. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
}

/** A run that failed after it was opened. */
export interface AbandonInput extends RunRef {
  readonly failure?: RunFailure;
}

/** A run that failed before it was opened; of an input that was not understood only the sync is told. */
export interface NoteFailureInput extends OpenRunInput {
  readonly failure: RunFailure;
}

export interface FollowInput extends RunRef {
  /** Parents before children, as far as references have an order. */
  readonly mappings: readonly string[];
}

/** What of a mapping's waiting records concerns a run. */
export interface MappingOutlook {
  /** All records of the mapping without a final outcome. */
  readonly waiting: number;
  /** Records of this run that the platform holds for a dependency that may still come. */
  readonly held: number;
  /** Records that will be read and sent again within moments. */
  readonly dueSoon: number;
  /** Seconds until the platform has let go of the last record held. */
  readonly heldFor: number;
  /** Schemas of the parents that the held records miss, five at most. */
  readonly parents: readonly string[];
}

/** Mappings that a run still has reason to look after. */
export type FollowResult = readonly (MappingOutlook & { readonly mapping: string })[];
