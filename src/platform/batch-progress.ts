/** What the status of a batch says about its progress (platform-api.md, section 2), in the one way in which everybody reads it. */
import type { BatchStatus } from './contract/batches.js';

/** How many of a batch's records have which outcome so far. */
export type BatchCounts = {
  readonly [count in 'successfulRecords' | 'failedRecords' | 'pendingRecords']: number;
};

/** The counters. One that is left out counts as 0: many platforms leave zeros out of their responses. */
export const countsOf = ({ progress }: Pick<BatchStatus, 'progress'>): BatchCounts => ({
  successfulRecords: progress?.successfulRecords ?? 0,
  failedRecords: progress?.failedRecords ?? 0,
  pendingRecords: progress?.pendingRecords ?? 0,
});

/** Whether `completedAt` is set. Some write a time that is none, such as the year 1, as long as there is none; others write one in a form of their own. */
export const isComplete = ({ completedAt }: Pick<BatchStatus, 'completedAt'>): boolean =>
  completedAt != null && /[1-9]/.test(completedAt) && !(Date.parse(completedAt) <= 0);
