/** What a run counts as, in SQL. Indexes of `runs` have these very conditions, since PostgreSQL uses them for no others. */

/** Keeps the platform in sync: neither a backfill nor a sample, which say nothing about the rows that they were not asked for. */
export const IS_SYNC = `kind = 'sync' AND mode <> 'sample'`;
/** Has ended with nothing waiting. */
export const IS_GOOD = `outcome IN ('complete', 'complete_with_dead_letters')`;
/** Was turned away because another run was working: it says nothing about the sync. */
export const IS_REFUSED = `failure_code = 'run_in_progress'`;
export const IS_NOT_REFUSED = `failure_code IS DISTINCT FROM 'run_in_progress'`;
/** Has failed or ended incomplete. */
export const IS_BAD = `outcome IN ('failed', 'incomplete') AND ${IS_NOT_REFUSED}`;
/** Tells how often a schedule starts runs, and how long they take. */
export const IS_SCHEDULED = `trigger = 'schedule' AND ended_at IS NOT NULL AND ${IS_NOT_REFUSED}`;
