/** Whether the latest runs of a sync failed, and why: from the ledger, and from what only Temporal knows. */
import { ERROR_CATALOGUE, type ErrorCode } from '../domain/errors.js';
import type { RunFailure } from '../domain/work.js';
import type { RunRow } from '../state/runs.js';
import { printable } from './table.js';
import type { UnrecordedRun } from './unrecorded-runs.js';

export interface ShownRun {
  readonly run: string;
  readonly sync: string;
  readonly mode: string;
  readonly outcome: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly workflowId: string;
  readonly failure: RunFailure | null;
}

export interface FailingSync {
  /** null for runs whose input names none. */
  readonly sync: string | null;
  /** How many runs have failed one after the other, of those that are shown. */
  readonly runs: number;
  readonly workflowId: string;
  readonly failure: RunFailure;
}

export const shownRun = (run: RunRow): ShownRun => ({
  run: run.id,
  sync: run.sync,
  mode: run.mode,
  outcome: run.outcome ?? 'running',
  startedAt: run.started_at.toISOString(),
  endedAt: run.ended_at?.toISOString() ?? null,
  workflowId: run.workflow_id,
  failure:
    run.outcome === 'failed'
      ? { code: run.failure_code ?? 'unexpected', message: run.failure_message ?? 'nothing is known of why' }
      : null,
});

/** Syncs of which the run that ended last has failed. One that was refused, since another one works, says nothing. */
export function failingSyncs(runs: readonly ShownRun[], unrecorded: readonly UnrecordedRun[]): FailingSync[] {
  const ended = [
    ...runs.filter((run) => run.outcome !== 'running' && run.failure?.code !== 'run_in_progress'),
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

export function failingLines({ sync, runs, workflowId, failure }: FailingSync): string[] {
  const which = runs === 1 ? 'the latest run failed' : `the latest ${runs} runs failed, the last of them`;
  const remedy = failure.code in ERROR_CATALOGUE ? ERROR_CATALOGUE[failure.code as ErrorCode].remedy : null;
  return [
    '',
    `${sync ?? 'a run without a sync'}: ${which} (${printable(workflowId)}): ${failure.code}: ${printable(failure.message)}`,
    ...(remedy === null ? [] : [`  ${remedy}`]),
  ];
}
