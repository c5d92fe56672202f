/** The state of a sync over all of its runs, from which its health is judged. */
import type { Knex } from 'knex';
import type { LiveLag, WatchedFeed } from '../../domain/monitoring/feed-health.js';
import type { EvaluatedState } from '../../domain/monitoring/sync-health.js';
import { ABANDONED, type RunFailure } from '../../domain/run/work.js';
import { SYNC_STATES } from './sync-state-query.js';

/** What is known of a sync. Times are the ledger's clock; null where there is nothing yet. */
export interface SyncState extends EvaluatedState {
  readonly sync: string;
  /** The latest run that has failed or ended incomplete since the last success. */
  readonly latest: {
    readonly run: string;
    readonly workflowId: string;
    readonly outcome: string;
    readonly mode: string;
    readonly endedAt: string | null;
    readonly failure: RunFailure | null;
  } | null;
  /** Runs since the last success that were refused because another one was working; up to `COUNT_BOUND`. */
  readonly refused: number;
  /** Schedules that have not started all of their runs. */
  readonly notStarted: readonly NotStarted[];
  /** null while no run in mode `live` works. */
  readonly live: LiveLag | null;
}

/** Runs that a schedule has not started since it was created. */
export interface NotStarted {
  readonly name: string;
  /** Because one was active, as many as Temporal has counted. */
  readonly skipped: number;
  /** Because of outages that were longer than its `catchupWindow`. */
  readonly missed: number;
  /** When there was last seen to be another one. */
  readonly lastAt: Date;
}

/** Looks up syncs. */
export interface SyncStates {
  /**
   * The syncs that have run or are expected to, or the one named; by name. Of the runs that have not ended, those in
   * `abandoned` count as ended.
   */
  of(sync: string | undefined, abandoned?: readonly string[]): Promise<readonly SyncState[]>;
}

export function openSyncStates(knex: Knex): SyncStates {
  return {
    async of(sync, abandoned = []) {
      const { rows } = await knex.raw<{ rows: SyncStateRow[] }>(SYNC_STATES, {
        sync: sync ?? null,
        abandoned: [...abandoned],
        end: JSON.stringify(ABANDONED),
      });
      return rows.map(
        ({
          lagging_mapping: mapping,
          read_until: readUntil,
          retrying_code: code,
          retrying_since: since,
          retrying_last_failed_at: lastFailedAt,
          paused,
          paused_runs: pausedRuns,
          not_started: notStarted,
          feeds,
          delivered_until: deliveredUntil,
          changed_rows: changedRows,
          ...state
        }) => ({
          ...state,
          mostLagging: mapping === null || readUntil === null ? null : { mapping, readUntil },
          pausedSchedules: paused.map((schedule) => ({ ...schedule, since: new Date(schedule.since) })),
          pausedRuns: pausedRuns.map((run) => ({ ...run, since: new Date(run.since) })),
          notStarted: notStarted.map((schedule) => ({ ...schedule, lastAt: new Date(schedule.lastAt) })),
          feeds: feeds.map((feed) => ({ ...feed, readAt: feed.readAt === null ? null : new Date(feed.readAt) })),
          live: changedRows === null ? null : { deliveredUntil, changedRows },
          retrying: code === null || since === null || lastFailedAt === null ? null : { code, since, lastFailedAt },
        }),
      );
    },
  };
}

type SyncStateRow = Omit<
  SyncState,
  'mostLagging' | 'retrying' | 'pausedSchedules' | 'pausedRuns' | 'notStarted' | 'feeds' | 'live'
> & {
  feeds: (Omit<WatchedFeed, 'readAt'> & { readAt: string | null })[];
  delivered_until: Date | null;
  changed_rows: number | null;
  paused: { name: string; since: string; note: string | null }[];
  paused_runs: { workflowId: string; since: string; by: string | null; reason: string | null }[];
  not_started: { name: string; skipped: number; missed: number; lastAt: string }[];
  lagging_mapping: string | null;
  read_until: Date | null;
  retrying_code: string | null;
  retrying_since: Date | null;
  retrying_last_failed_at: Date | null;
};
