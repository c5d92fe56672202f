/** When an execution becomes too long for Temporal, and what it leaves to the next one. */
import { workflowInfo } from '@temporalio/workflow';

/** Whether Temporal suggests a new execution; then nothing new is begun in this one. */
export const isHistoryLong = (): boolean => workflowInfo().continueAsNewSuggested;

/** What came of a step: one that is `unfinished`, since the history is long, is left to the next execution. */
export type Completion = 'finished' | 'unfinished';

/** What came of steps side by side. */
export const completionOf = (steps: readonly Completion[]): Completion =>
  steps.includes('unfinished') ? 'unfinished' : 'finished';
