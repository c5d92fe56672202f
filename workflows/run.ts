/** What `sync` and `backfill` share: stages in order, ranges side by side, then the records that wait. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ContinueAsNew,
  defineQuery,
  isCancellation,
  makeContinueAsNewFunc,
  patched,
  setCurrentDetails,
  setHandler,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { PartnerSyncError } from '../src/domain/errors.js';
import {
  checkRunInput,
  type MappingNote,
  type MappingProgress,
  type RunInput,
  type RunKind,
  type RunReport,
  type RunWait,
} from '../src/domain/run.js';
import type { FollowResult, OpenedRun, SliceResult } from '../src/domain/work.js';
import {
  abandonRun,
  closeRun,
  deliverParents,
  followWaiting,
  inTurn,
  loadSlice,
  openRun,
  planMapping,
  removeVanished,
  replayLetters,
  sweepLetters,
  type Slices,
} from './activities.js';
import { compared, continuing, type ComparedRun } from './compared-run.js';
import { detailsOf } from './details.js';
import { failureOf, onRecord } from './on-record.js';

/** The run's id and its books as of the last finished slice. */
export const progressQuery = defineQuery<RunProgress>('progress');

export interface RunProgress {
  readonly runId: string | null;
  readonly mappings: readonly MappingProgress[];
  /** What the run waits for now; empty while it has anything else to do. */
  readonly waits: readonly RunWait[];
}

/** Seconds after a stage in which its busy records are read again before the next stage begins. */
const STAGE_FOLLOW = 60;

export async function run(kind: RunKind, given: unknown): Promise<RunReport> {
  const input = await onRecord(kind, given, () => checked(kind, given));
  let progress: RunProgress = { runId: null, mappings: [], waits: [] };
  setHandler(progressQuery, () => progress);
  let opened: ComparedRun = await onRecord(kind, input, () =>
    unwrapped(() => openRun({ kind, input, firstExecutionRunId: workflowInfo().firstExecutionRunId })),
  );
  const asked = opened.stages.flat();
  const show = (mappings: readonly MappingProgress[], waits: readonly RunWait[] = []): void => {
    progress = { runId: opened.runId, mappings, waits };
    setCurrentDetails(detailsOf(opened, mappings, waits));
  };
  const tell = (waits: readonly RunWait[]): void => show(progress.mappings, waits);
  show([]);
  try {
    return await unwrapped(async () => {
      opened = await compared(opened, input);
      for (let stage = input.continues?.stagesDone ?? 0; stage < opened.stages.length; stage++) {
        const mappings = opened.stages[stage]!;
        const ahead = opened.ahead?.[stage] ?? [];
        if (input.limit !== undefined) await sampleParents(opened, input, [...ahead, ...mappings]);
        await together([
          ...ahead.map((mapping) => () => loadMapping(opened, input, { mapping, ahead: true }, stage, show)),
          ...mappings.map((mapping) => () => loadMapping(opened, input, { mapping }, stage, show)),
        ]);
        await follow(opened, [...ahead, ...mappings], { seconds: STAGE_FOLLOW, held: false, tell });
      }
      await follow(opened, opened.followed ?? opened.stages.flat(), { seconds: opened.followFor, held: true, tell });
      // Every row was read: a letter that is still there may be that of a row which is gone.
      if ((opened.mode === 'full' || opened.mode === 'mirror') && patched('sweep-letters'))
        await sweepLetters({ runId: opened.runId, sync: opened.sync, mappings: opened.stages.flat() });
      if (opened.mode === 'mirror') await removeAll(opened, input, show);
      const ofAsked = <T extends MappingNote>(notes: readonly T[] = []): T[] =>
        notes.filter(({ mapping }) => asked.includes(mapping));
      const report = await closeRun({
        ...{ runId: opened.runId, sync: opened.sync },
        ...{ stopped: ofAsked(opened.stopped), notes: ofAsked(opened.notes) },
      });
      show(report.mappings.map((m) => ({ ...m, sent: 0, done: true })));
      return report;
    });
  } catch (error) {
    if (!(error instanceof ContinueAsNew))
      await CancellationScope.nonCancellable(() => abandonRun({ ...opened, failure: failureOf(error) }));
    throw error;
  }
}

/** Reads all ranges of a mapping, a few side by side; a long history continues as a new execution. */
async function loadMapping(
  opened: ComparedRun,
  input: RunInput,
  { mapping, ...pass }: { readonly mapping: string; readonly ahead?: boolean },
  stage: number,
  show: (progress: readonly MappingProgress[]) => void,
): Promise<void> {
  const ref = { runId: opened.runId, sync: opened.sync, mapping };
  const { rangeIds, lanes } = await planMapping({ ...ref, ...pass, mode: opened.mode, input });
  const queue = [...rangeIds];
  const ask = ({ loadSlice, replayLetters }: Slices, rangeId: string): Promise<SliceResult> =>
    input.replay === undefined
      ? loadSlice({ ...ref, rangeId })
      : replayLetters({ ...ref, rangeId, filter: input.replay });
  const slice = (rangeId: string): Promise<SliceResult> =>
    ask(inTurn(), rangeId).catch((error: unknown) => {
      if (isUntaken(error)) return ask({ loadSlice, replayLetters }, rangeId);
      throw error;
    });
  const lane = async (): Promise<void> => {
    for (let rangeId = queue.shift(); rangeId !== undefined; rangeId = queue.shift()) {
      for (;;) {
        if (workflowInfo().continueAsNewSuggested) return;
        const { done, progress } = await slice(rangeId);
        show(progress);
        if (done) break;
      }
    }
  };
  await together(Array.from({ length: Math.min(lanes, rangeIds.length) }, () => lane));
  if (workflowInfo().continueAsNewSuggested) await continueRun(continuing(input, opened, stage));
}

/** Whether no worker had room for a slice. */
const isUntaken = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof TimeoutFailure &&
  error.cause.timeoutType === 'SCHEDULE_TO_START';

/** Marks records whose rows are gone: children first, and only once every row was read and settled. */
async function removeAll(
  opened: ComparedRun,
  input: RunInput,
  show: (progress: readonly MappingProgress[]) => void,
): Promise<void> {
  for (const mappings of [...opened.stages].reverse()) {
    await together(
      mappings.map((mapping) => async () => {
        for (;;) {
          if (workflowInfo().continueAsNewSuggested) return;
          const { done, progress } = await removeVanished({ runId: opened.runId, sync: opened.sync, mapping });
          show(progress);
          if (done) return;
        }
      }),
    );
    if (workflowInfo().continueAsNewSuggested) await continueRun(continuing(input, opened, opened.stages.length));
    await follow(opened, mappings, { seconds: STAGE_FOLLOW, held: false });
  }
}

/** One mapping after the other: several may share a parent. */
async function sampleParents(opened: OpenedRun, input: RunInput, mappings: readonly string[]): Promise<void> {
  for (const mapping of mappings) {
    const ref = { runId: opened.runId, sync: opened.sync, mapping };
    await planMapping({ ...ref, mode: opened.mode, input });
    await deliverParents(ref);
  }
}

interface Following {
  readonly seconds: number;
  /** Whether records are waited for that the platform holds, or only those that will be sent again within moments. */
  readonly held: boolean;
  readonly tell?: (waits: readonly RunWait[]) => void;
}

/** Seconds between two looks, at most: where nothing happens a run of ten minutes looks a dozen times. */
const LONGEST_PAUSE = 120;
/** The same while there are records that will be sent again within moments. */
const LONGEST_SHORT_PAUSE = 30;

/** Looks after waiting records until nothing is left to do now, or the time is over. */
async function follow(
  opened: OpenedRun,
  mappings: readonly string[],
  { seconds, held, tell }: Following,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (let pause = 1; ; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
    const results = await followWaiting({ runId: opened.runId, sync: opened.sync, mappings });
    const open = results.filter((r) => r.dueSoon > 0 || (held && r.held > 0));
    const left = (deadline - Date.now()) / 1000;
    if (open.length === 0 || left <= 0) break;
    tell?.(waitsOf(open, left));
    if (open.some((r) => r.dueSoon > 0)) pause = Math.min(pause, LONGEST_SHORT_PAUSE);
    await sleep(`${Math.min(pause, Math.max(1, left))}s`);
  }
  tell?.([]);
}

function waitsOf(results: FollowResult, left: number): RunWait[] {
  return results
    .filter((r) => r.held > 0)
    .map(({ mapping, held, parents, heldFor }) => ({
      ...{ mapping, parents, records: held },
      until: new Date(Date.now() + Math.max(0, Math.min(left, heldFor)) * 1000).toISOString(),
    }));
}

/** Runs all; when one fails the others are cancelled and waited for, so that none outlives the run. */
async function together(works: readonly (() => Promise<void>)[]): Promise<void> {
  const scope = new CancellationScope();
  const results = await scope.run(() =>
    Promise.allSettled(
      works.map((work) =>
        work().catch((error: unknown) => {
          scope.cancel();
          throw error;
        }),
      ),
    ),
  );
  const failed = results.filter((r) => r.status === 'rejected').map((r) => r.reason as unknown);
  // The first failure that is not a mere consequence of the cancelling.
  if (failed.length > 0) throw failed.find((e) => e instanceof ContinueAsNew || !isCancellation(e)) ?? failed[0];
}

/** Continues under the same workflow type, whichever it is. */
async function continueRun(input: RunInput): Promise<never> {
  return makeContinueAsNewFunc<(input: RunInput) => Promise<RunReport>>({ workflowType: workflowInfo().workflowType })(
    input,
  );
}

function checked(kind: RunKind, input: unknown): RunInput {
  try {
    return checkRunInput(kind, input);
  } catch (error) {
    // Anything but an ApplicationFailure would retry the workflow task for ever.
    if (error instanceof PartnerSyncError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}

/** The failure of an activity as the failure of the run: its code and message are what people need to see. */
async function unwrapped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)
      throw ApplicationFailure.create({
        message: error.cause.message,
        type: error.cause.type ?? 'unexpected',
        nonRetryable: true,
      });
    throw error;
  }
}
