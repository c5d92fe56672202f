/** Ends a run: makes its report from its counts and releases its lease. */
import type { Dependencies } from '../dependencies.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { needsAttention } from '../../domain/run/removal-plan.js';
import {
  addCounts,
  NO_COUNTS,
  outcomeOf,
  type RunOutcome,
  type RunReport,
  type Undelivered,
} from '../../domain/run/run.js';
import type { CloseRunInput, Stop } from '../../domain/run/work.js';
import { leftByLiveRun, outcomeOfLeft } from './left-by-live-run.js';
import type { RunRow } from '../../ledger/runs/runs.js';

/**
 * The report of the run, which is the workflow's result. A run that has ended before keeps its outcome, and a second
 * attempt reports that, with the counts as they are by then. `stop`: who has told it to stop, if anybody has. Throws `run_stopped` if it has ended as failed, and
 * `unexpected` for a run that the ledger does not have.
 */
export async function closeRun(
  deps: Pick<Dependencies, 'ledger' | 'openSync'>,
  { runId, skipped, notes }: CloseRunInput,
  stop: Stop | null = null,
): Promise<RunReport> {
  const { ledger } = deps;
  const undelivered = await ledger.counts.undelivered(runId);
  const mappings = (await ledger.counts.progress(runId)).map(({ inFlight: _inFlight, done: _done, ...counts }) => {
    const { waiting, deadLettered } = undelivered.get(counts.mapping)!;
    return { ...counts, undelivered: { waiting, deadLettered } };
  });
  const removals = await ledger.removals.ofRun(runId);
  const run = await ledger.runs.get(runId);
  const left = run.mode === 'live' ? await leftByLiveRun(deps, run) : null;
  const changedRows = left?.changedRows ?? (await ledger.counts.changedRowsLeft(runId));
  // Records of vanished rows that await a decision are not in sync with the source.
  const isIncomplete = removals.some(needsAttention) || skipped.length > 0 || changedRows > 0;
  const included = mappings.map((mapping) =>
    includesEarlierRuns(run, undelivered.get(mapping.mapping)!) ? mapping : { ...mapping, undelivered: NOTHING },
  );
  const outcome = left === null ? outcomeOf(included) : outcomeOfLeft(left);
  await ledger.runs.end(runId, isIncomplete ? 'incomplete' : outcome, undefined, stop);
  const ended = await ledger.runs.get(runId);
  if (ended.outcome === 'failed')
    throw new PartnerSyncError('run_stopped', `run ${runId} has ended already: ${ended.failure_message ?? ''}`);
  const report: RunReport = {
    version: 1,
    run: runId,
    sync: run.sync,
    kind: run.kind,
    mode: run.mode,
    ...(run.input.limit !== undefined && { limit: run.input.limit }),
    outcome: ended.outcome as RunOutcome,
    startedAt: run.started_at.toISOString(),
    endedAt: ended.ended_at!.toISOString(),
    mappings,
    deadLetters: await ledger.counts.deadLetterCounts(runId),
    removals,
    ...(changedRows > 0 && { changedRows }),
    ...(left !== null && left.unfinished.length > 0 && { unfinished: left.unfinished }),
    ...(skipped.length > 0 && { skipped }),
    ...(notes.length > 0 && { notes }),
    total: mappings.reduce(addCounts, NO_COUNTS),
  };
  await ledger.runs.keepReport(runId, report);
  return report;
}

const NOTHING: Undelivered = { waiting: 0, deadLettered: 0 };

/**
 * Whether the run's outcome includes what its mappings have left undelivered in earlier runs. That of a backfill or a
 * sample is only about the rows that it was asked for.
 */
const includesEarlierRuns = ({ kind, input }: RunRow, { wasRead }: { readonly wasRead: boolean }): boolean =>
  wasRead && kind === 'sync' && input.limit === undefined;
