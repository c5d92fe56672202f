/**
 * The workflows `sync` and `backfill`: a run from its input to its report.
 *
 * Mappings are loaded stage by stage, parents before children. Then the run polls the records that wait for a parent,
 * cleans up after rows that are gone, and closes. Each step is an activity that continues from the ledger, so a run
 * survives any crash. No row ever gets in here.
 */
import { CancellationScope, ContinueAsNew, workflowInfo } from '@temporalio/workflow';
import {
  checkRunInput,
  type BackfillInput,
  type MappingNote,
  type RunInput,
  type RunKind,
  type RunReport,
  type SyncInput,
} from '../src/domain/run.js';
import type { OpenedRun } from '../src/domain/work.js';
import { abandonRun, closeRun, openRun, summarized } from './activities.js';
import { continueIfLong } from './continue-run.js';
import { loadStage } from './load-stage.js';
import { pollPendingRecords } from './poll-pending-records.js';
import { prune } from './prune.js';
import { removeVanishedRecords } from './remove-vanished-records.js';
import { RunAttributes, runStart } from './run-attributes.js';
import { asRunFailure, codedFailure, recordingFailure, throwIfUndelivered } from './run-failure.js';
import { RunDetails } from './run-details.js';
import { withoutDrifted, type CheckedRun } from './without-drifted.js';

/**
 * Brings the platform in step with the source. Input in the Start Workflow form: `{"sync":"online-retail"}`. Fails with
 * `input_invalid` for an input that is not valid, and with the code of whatever ended the run.
 */
export const sync = (input: SyncInput): Promise<RunReport> => run('sync', input);

/**
 * Loads ranges, records or dead letters again, beside scheduled runs; never moves their position. Input in the form:
 * `{"sync":"online-retail","mapping":"customers","externalIds":["17850"]}`. Fails as {@link sync} does.
 */
export const backfill = (input: BackfillInput): Promise<RunReport> => run('backfill', input);

const run = (kind: RunKind, given: unknown): Promise<RunReport> =>
  asRunFailure(async () => {
    const details = new RunDetails();
    const { firstExecutionRunId } = workflowInfo();
    const start = runStart();
    const input = await recordingFailure(kind, start, given, () => checkRunInput(kind, given));
    const opened = await recordingFailure(kind, start, input, () =>
      openRun({ kind, input, firstExecutionRunId, start }),
    );
    const attributes = new RunAttributes(opened);
    details.showOpened(opened, attributes);
    attributes.opened(opened, start);
    const report = await closing(opened, attributes, async () =>
      carryOut(await withoutDrifted(opened, input), input, details),
    );
    details.showReport(report);
    attributes.reported(report);
    // The run has ended: a cancellation that comes now must not make it look cancelled.
    await CancellationScope.nonCancellable(async () => {
      await prune(opened);
      await details.untilAnswered();
    });
    throwIfUndelivered(report, opened.failOn);
    return report;
  });

/** Ends the run in the ledger if the work fails; an execution that continues as a new one has not failed. */
async function closing<T>({ runId, sync }: OpenedRun, attributes: RunAttributes, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ContinueAsNew)) {
      const failure = codedFailure(error);
      attributes.failed(failure.code);
      // If the ledger cannot be told, the next run ends this one; people are to see why it failed.
      await CancellationScope.nonCancellable(() => abandonRun({ runId, sync, failure })).catch(() => undefined);
    }
    throw error;
  }
}

/** All steps after opening. A continued execution repeats none of the stages that are done. */
async function carryOut(run: CheckedRun, input: RunInput, details: RunDetails): Promise<RunReport> {
  const { runId, sync, mode } = run;
  details.showRun(run);
  details.holds.continueFrom(input.continues?.notApproved ?? []);
  for (let stage = input.continues?.stagesDone ?? 0; stage < run.stages.length; stage++)
    await loadStage(run, input, stage, details);
  const until = input.continues?.pollUntil ?? Date.now() + run.waitForPending * 1000;
  const mark = { stagesDone: run.stages.length, pollUntil: until };
  await pollPendingRecords(run, { mappings: run.polled, until, waitForParents: true }, details, () =>
    continueIfLong(run, input, mark, details),
  );
  // Every row was read, so a dead letter that is still open may be that of a row which is gone.
  if (mode === 'full' || mode === 'mirror')
    await summarized('dead letters of rows that are gone').sweepDeadLetters({
      runId,
      sync,
      mappings: run.stages.flat(),
    });
  if (mode === 'mirror') await removeVanishedRecords(run, input, mark, details);
  return closeRun({ runId, sync, stopped: ofAsked(run, run.stopped), notes: ofAsked(run, run.notes) });
}

/**
 * Mappings that are merely polled are compared with their source as well; the report covers those that were asked for.
 */
const ofAsked = <T extends MappingNote>({ asked }: CheckedRun, notes: readonly T[]): T[] =>
  notes.filter(({ mapping }) => asked.includes(mapping));
