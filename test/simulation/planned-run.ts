/** A run of a story that is started, and what people do to it. */
export interface PlannedRun {
  /** `range`: a backfill of a whole table; `orders`: one of the orders. */
  readonly kind: 'incremental' | 'live' | 'full' | 'mirror' | 'records' | 'replay' | 'range' | 'orders';
  /** Milliseconds after the run before was started. */
  readonly startAfter: number;
  /** Whether it waits for the end of the one before it. */
  readonly waits: boolean;
  /** `leavePaused`: it is paused, and told to stop later on. */
  readonly intervention: 'cancel' | 'terminate' | 'pause' | 'leavePaused' | 'setRate' | null;
  /** Milliseconds after its start. */
  readonly interveneAfter: number;
  /** Instead of that: once so many checkpoints were written. */
  readonly afterCheckpoints?: number;
}

/** A run that nobody interferes with. */
export const undisturbed = (kind: PlannedRun['kind'], startAfter = 0, waits = false): PlannedRun => ({
  kind,
  startAfter,
  waits,
  intervention: null,
  interveneAfter: 0,
});
