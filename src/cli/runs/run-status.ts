/**
 * Whether the latest runs of a sync failed, and why: from the ledger, and from Temporal for runs that the ledger lacks.
 */
import { ERROR_CATALOGUE, type ErrorCode } from '../../domain/errors.js';
import { ABANDONED, type RunFailure } from '../../domain/run/work.js';
import { isRefused } from '../../domain/run/refused.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import { printable } from '../output/text-table.js';
import type { UnrecordedRun } from './unrecorded-runs.js';

/** A run of the ledger as `status` shows it. Times are ISO 8601 in UTC. */
export interface ShownRun {
  readonly run: string;
  readonly sync: string;
  readonly mode: string;
  /** `running`, `refused` if another run was in its way, or how it ended. */
  readonly outcome: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly workflowId: string;
  /** The schedule, or who ran a command; null if that is not known, as for the Web UI. */
  readonly startedBy: string | null;
  readonly failure: RunFailure | null;
}

/** A sync whose latest run failed. */
export interface FailingSync {
  /** null for runs whose input names no sync. */
  readonly sync: string | null;
  /** How many of the latest runs shown have failed in a row. */
  readonly runs: number;
  readonly workflowId: string;
  readonly failure: RunFailure;
}

/** A run whose workflow has ended without the ledger, as the next run of its sync will end it. */
export const abandonedRun = (run: RunRow): RunRow => ({
  ...run,
  outcome: 'failed',
  failure_code: ABANDONED.code,
  failure_message: ABANDONED.message,
});

/** A row of the ledger as {@link ShownRun}. */
export function shownRun(run: RunRow): ShownRun {
  const failure =
    run.outcome === 'failed'
      ? { code: run.failure_code ?? 'unexpected', message: run.failure_message ?? 'no reason is known' }
      : null;
  return {
    run: run.id,
    sync: run.sync,
    mode: run.mode,
    outcome: isRefused(failure) ? 'refused' : (run.outcome ?? 'running'),
    startedAt: run.started_at.toISOString(),
    endedAt: run.ended_at?.toISOString() ?? null,
    workflowId: run.workflow_id,
    startedBy: run.started_by,
    failure,
  };
}

/**
 * Syncs whose last ended run failed. A run that was turned away because another was in progress does not count: the
 * other one does the work.
 */
export function failingSyncs(runs: readonly ShownRun[], unrecorded: readonly UnrecordedRun[]): FailingSync[] {
  const ended = [
    ...runs.filter((run) => run.outcome !== 'running' && !isRefused(run.failure)),
    ...unrecorded.filter((run) => run.state === 'failed'),
  ].sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
  return [...new Set(ended.map((run) => run.sync))].flatMap((sync) => {
    const ofSync = ended.filter((run) => run.sync === sync);
    const good = ofSync.findIndex((run) => run.failure === null);
    const failed = good < 0 ? ofSync : ofSync.slice(0, good);
    const [latest] = failed;
    return latest === undefined
      ? []
      : [{ sync, runs: failed.length, workflowId: latest.workflowId, failure: latest.failure! }];
  });
}

/** The failure for people, with the remedy of its code; none for a code that this version does not know. */
export function failingLines({ sync, runs, workflowId, failure }: FailingSync): string[] {
  const which = runs === 1 ? 'the latest run failed' : `the latest ${runs} runs failed, most recently`;
  const remedy = failure.code in ERROR_CATALOGUE ? ERROR_CATALOGUE[failure.code as ErrorCode].remedy : null;
  return [
    '',
    `${sync ?? 'a run without a sync'}: ${which} (${printable(workflowId)}): ${failure.code}: ${printable(failure.message)}`,
    ...(remedy === null ? [] : [`  ${remedy}`]),
  ];
}
