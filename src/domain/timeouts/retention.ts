/** How long the ledger keeps finished runs, batches and plans, and audit entries, and how long a run takes to remove them. */
import type { TimeoutEntry } from './entry.js';

export const RETENTION = {
  keepBatches: {
    value: 14,
    unit: 'd',
    bounds: 'how long a batch is kept after it was settled or superseded',
    why: 'questions to the platform about a batch come within days',
    setting: '`retention.batches`',
  },
  keepPartitions: {
    value: 90,
    unit: 'd',
    bounds: 'how long the partitions of a run and their counts are kept after its end',
    why: 'the report of the run has the totals',
    setting: '`retention.partitions`',
  },
  keepRemovalPlans: {
    value: 90,
    unit: 'd',
    bounds: 'how long a removal plan that was carried out or replaced is kept after the end of its run',
    why: 'the report of the run has its counts',
    setting: '`retention.removalPlans`',
  },
  keepRuns: {
    value: 400,
    unit: 'd',
    bounds: 'how long a run and its report are kept after its end',
    why: 'a month can be compared with the same month of the year before',
    setting: '`retention.runs`',
  },
  keepAudit: {
    value: 400,
    unit: 'd',
    bounds: 'how long an entry of the audit is kept',
    why: 'as long as the runs that it names',
    setting: '`retention.audit`',
  },
  pruneTime: {
    value: 5,
    unit: 's',
    bounds: 'how long a run removes such rows after it has ended',
    why: 'usually it takes milliseconds; the next run removes the rest',
  },
  pruneAttempt: {
    value: 1,
    unit: 'min',
    bounds: 'the activity that does so, including the wait for a worker',
    why: 'a statement may have to wait for a lock; nothing depends on the result',
  },
  pruneAttempts: {
    value: 1,
    unit: 'attempts',
    bounds: 'attempts of this activity',
    why: 'the next run removes what this one leaves',
  },
  pruneProgress: {
    value: 3,
    unit: 's',
    bounds: 'the time between two lines of progress of `prune`',
    why: 'each is a line of its own',
  },
  auditAttempt: {
    value: 20,
    unit: 's',
    bounds: 'one attempt to record in the audit that a run was paused or resumed',
    why: 'it is one statement',
  },
  auditTotal: {
    value: 1,
    unit: 'h',
    bounds: 'the same with all attempts',
    why: 'a database that is restarted must not lose the entry; the pause itself does not wait for it',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
