/** Ends a run: its books become the report, its lease is given back. */
import { PartnerSyncError } from '../src/domain/errors.js';
import { addBooks, EMPTY_BOOKS, outcomeOf, type Owed, type RunReport } from '../src/domain/run.js';
import { needsAttention } from '../src/domain/removal.js';
import type { AbandonInput, CloseRunInput } from '../src/domain/work.js';
import type { RunRow } from '../src/state/runs.js';
import type { Dependencies } from './dependencies.js';

export async function closeRun(
  { ledger }: Dependencies,
  { runId, stopped = [], notes = [] }: CloseRunInput,
): Promise<RunReport> {
  const owed = await ledger.books.owed(runId);
  const mappings = (await ledger.books.progress(runId)).map(({ sent: _sent, done: _done, ...books }) => {
    const { waiting, deadLettered } = owed.get(books.mapping)!;
    return { ...books, owed: { waiting, deadLettered } };
  });
  const total = mappings.reduce(addBooks, EMPTY_BOOKS);
  const removals = await ledger.removals.ofRun(runId);
  const run = await ledger.runs.get(runId);
  if (run === undefined) throw new PartnerSyncError('unexpected', `no run ${runId} in the ledger`);
  // Records of vanished rows that a person has to look at are not in step with the source.
  const outcome =
    removals.some(needsAttention) || stopped.length > 0
      ? 'incomplete'
      : outcomeOf(mappings.map((m) => (answersFor(run, owed.get(m.mapping)!) ? m : { ...m, owed: NOTHING })));
  await ledger.runs.end(runId, outcome);
  const ended = await ledger.runs.get(runId);
  return {
    version: 1,
    run: runId,
    sync: run.sync,
    kind: run.kind,
    mode: run.mode,
    ...(run.input.limit !== undefined && { limit: run.input.limit }),
    outcome,
    startedAt: run.started_at.toISOString(),
    endedAt: ended!.ended_at!.toISOString(),
    mappings,
    deadLetters: await ledger.books.deadLetterGroups(runId),
    removals,
    ...(stopped.length > 0 && { stopped }),
    ...(notes.length > 0 && { notes }),
    total,
  };
}

const NOTHING: Owed = { waiting: 0, deadLettered: 0 };

/** A backfill and a sample answer for the rows that they were asked for; any other run for all that its mappings owe. */
const answersFor = ({ kind, input }: RunRow, { asked }: { readonly asked: boolean }): boolean =>
  asked && kind === 'sync' && input.limit === undefined;

/** Gives the lease back when a run failed or was cancelled; its ranges and position stay as they are. */
export async function abandonRun({ ledger }: Dependencies, { runId, failure }: AbandonInput): Promise<void> {
  await ledger.runs.end(runId, 'failed', failure);
}
