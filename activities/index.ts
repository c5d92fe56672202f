/** All activities, by the verbs of the domain; workflows import this file's type only. */
import { Context } from '@temporalio/activity';
import type {
  AbandonInput,
  CloseRunInput,
  CompareInput,
  FollowInput,
  MappingRef,
  NoteFailureInput,
  OpenRunInput,
  RangeRef,
  ReplayRef,
  SweepInput,
} from '../src/domain/work.js';
import { abandonRun, closeRun } from './close-run.js';
import type { Dependencies } from './dependencies.js';
import { compareSource } from './compare-source.js';
import { deliverParents } from './deliver-parents.js';
import { examineWorker } from './examine-worker.js';
import { followWaiting } from './follow-waiting.js';
import { loadSlice } from './load-slice.js';
import { openRun } from './open-run.js';
import { noteFailure } from './note-failure.js';
import { planMapping, type PlanInput } from './plan-mapping.js';
import { removeVanished } from './remove-vanished.js';
import { replayLetters, sweepLetters } from './replay-letters.js';
import { withFailures } from './to-failure.js';

/** Milliseconds between heartbeats: they prove life only, progress is in the ledger. */
const HEARTBEAT = 2_000;

export const createActivities = (deps: Dependencies) => ({
  openRun: (input: OpenRunInput) => withFailures(() => openRun(deps, input)),
  compareSource: (input: CompareInput) => withFailures(() => compareSource(deps, input)),
  planMapping: (input: PlanInput) => withFailures(() => planMapping(deps, input)),
  deliverParents: (input: MappingRef) => withFailures((signal) => alive(deliverParents(deps, input, signal))),
  loadSlice: (input: RangeRef) => withFailures((signal) => alive(loadSlice(deps, input, signal))),
  replayLetters: (input: ReplayRef) => withFailures((signal) => alive(replayLetters(deps, input, signal))),
  sweepLetters: (input: SweepInput) => withFailures((signal) => alive(sweepLetters(deps, input, signal))),
  followWaiting: (input: FollowInput) => withFailures((signal) => alive(followWaiting(deps, input, signal))),
  removeVanished: (input: MappingRef) => withFailures((signal) => alive(removeVanished(deps, input, signal))),
  examineWorker: (sync: string | null) => withFailures(() => examineWorker(deps, sync)),
  noteFailure: (input: NoteFailureInput) => withFailures(() => noteFailure(deps, input)),
  closeRun: (input: CloseRunInput) => withFailures(() => closeRun(deps, input)),
  abandonRun: (input: AbandonInput) => withFailures(() => abandonRun(deps, input)),
});

export type Activities = ReturnType<typeof createActivities>;

async function alive<T>(work: Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
