/** When an execution becomes too long for Temporal. A file of its own: beside `continueIfLong`, it would close a cycle of imports. */
import { workflowInfo } from '@temporalio/workflow';

/** Whether Temporal suggests a new execution; then nothing new is begun in this one. */
export const isHistoryLong = (): boolean => workflowInfo().continueAsNewSuggested;
