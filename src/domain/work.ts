/** One object in, one object out: what workflows and activities tell each other. Ids and counts, never rows. */
import type { RunInput, RunKind } from './run.js';

export interface OpenRunInput {
  readonly kind: RunKind;
  readonly input: RunInput;
}

export interface OpenedRun {
  readonly runId: string;
  readonly sync: string;
  readonly mode: string;
  /** Mapping names, stage by stage: parents before children. */
  readonly stages: readonly (readonly string[])[];
}

export interface MappingRef {
  readonly runId: string;
  readonly sync: string;
  readonly mapping: string;
}

export interface PlannedRanges {
  readonly rangeIds: readonly string[];
  /** How many ranges may be worked on side by side. */
  readonly lanes: number;
}

export interface RangeRef extends MappingRef {
  readonly rangeId: string;
}

export interface SliceResult {
  /** Whether the range is read to its end; if not, another slice continues it. */
  readonly done: boolean;
}

export interface RunRef {
  readonly runId: string;
  readonly sync: string;
}

export interface FollowResult {
  /** Records that still wait and will be looked at again within this run. */
  readonly waiting: number;
  /** Milliseconds after which looking again makes sense; null when this run has nothing more to wait for. */
  readonly lookAgainIn: number | null;
}
