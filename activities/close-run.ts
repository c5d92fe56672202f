/** Ends a run: its books become the report, its lease is given back. */
import { PartnerSyncError } from '../src/domain/errors.js';
import { addBooks, EMPTY_BOOKS, outcomeOf, type MappingProgress, type RunReport } from '../src/domain/run.js';
import { needsAttention } from '../src/domain/removal.js';
import type { CloseRunInput, RunRef } from '../src/domain/work.js';
import type { Dependencies } from './dependencies.js';

export async function closeRun(
  { ledger }: Dependencies,
  { runId, stopped = [], notes = [] }: CloseRunInput,
): Promise<RunReport> {
  const mappings = await ledger.books.progress(runId);
  const total = mappings.reduce(addBooks, EMPTY_BOOKS);
  const removals = await ledger.removals.ofRun(runId);
  // Records of vanished rows that a person has to look at are not in step with the source.
  const outcome = removals.some(needsAttention) || stopped.length > 0 ? 'incomplete' : outcomeOf(mappings);
  await ledger.runs.end(runId, outcome);
  const run = await ledger.runs.get(runId);
  if (run === undefined) throw new PartnerSyncError('unexpected', `no run ${runId} in the ledger`);
  return {
    version: 1,
    run: runId,
    sync: run.sync,
    kind: run.kind,
    mode: run.mode,
    ...(run.input.limit !== undefined && { limit: run.input.limit }),
    outcome,
    startedAt: run.started_at.toISOString(),
    endedAt: run.ended_at!.toISOString(),
    mappings: mappings.map(({ sent: _sent, done: _done, ...report }: MappingProgress) => report),
    deadLetters: await ledger.books.deadLetterGroups(runId),
    removals,
    ...(stopped.length > 0 && { stopped }),
    ...(notes.length > 0 && { notes }),
    total,
  };
}

/** Gives the lease back when a run failed or was cancelled; its ranges and position stay as they are. */
export async function abandonRun({ ledger }: Dependencies, { runId }: RunRef): Promise<void> {
  await ledger.runs.end(runId, 'failed');
}
