/**
 * The workflows `sync` and `backfill`: a run from its input to its report.
 *
 * Mappings are loaded stage by stage, parents before children. Then the run polls the records that wait for a parent,
 * cleans up after rows that are gone, and closes. Each step is an activity that continues from the ledger, so a run
 * survives any crash. Rows never enter a workflow.
 */
import { CancellationScope, ContinueAsNew, workflowInfo } from '@temporalio/workflow';
import {
  checkRunInput,
  type BackfillInput,
  type RunInput,
  type RunKind,
  type RunReport,
  type SyncInput,
} from '../src/domain/run/run.js';
import type { NotNeeded, OpenedRun } from '../src/domain/run/work.js';
import { failRun, closeRun, openRun } from './activities.js';
import { continueIfLong } from './continue-run.js';
import { loadStage } from './load-stage.js';
import { pollPendingRecords } from './poll-pending-records.js';
import { prune } from './prune.js';
import { removeVanishedRecords } from './remove-vanished-records.js';
import { RunAttributes, runStart } from './run-attributes.js';
import { asRunFailure, codedFailure, recordingFailure, throwIfUndelivered } from './run-failure.js';
import { runLive } from './run-live.js';
import { RunExecution } from './run-execution.js';
import { sweepOpenDeadLetters } from './sweep-open-dead-letters.js';
import { withChanges } from './with-changes.js';
import { ofAsked, withoutDrifted, type CheckedRun } from './without-drifted.js';

/**
 * Brings the platform in sync with the source. Input in the Start Workflow form: `{"sync":"online-retail"}`. Fails with
 * `input_invalid` for an input that is not valid, and with the code of whatever ended the run.
 */
export const sync = (input: SyncInput): Promise<RunReport | NotNeeded> => run('sync', input);

/**
 * Loads ranges, records or dead letters again, beside scheduled runs; never moves their position. Input in the form:
 * `{"sync":"online-retail","mapping":"customers","externalIds":["17850"]}`. Fails as {@link sync} does.
 */
export const backfill = (input: BackfillInput): Promise<RunReport | NotNeeded> => run('backfill', input);

const run = (kind: RunKind, given: unknown): Promise<RunReport | NotNeeded> =>
  asRunFailure(async () => {
    const execution = new RunExecution();
    const { firstExecutionRunId } = workflowInfo();
    const start = runStart();
    const input = await recordingFailure(kind, start, given, () => checkRunInput(kind, given));
    const opened = await recordingFailure(kind, start, input, () =>
      openRun({ kind, input, firstExecutionRunId, start }),
    );
    if ('activeRun' in opened) return opened;
    const attributes = new RunAttributes(opened);
    execution.showOpened(opened, attributes, start, { kind, input });
    attributes.opened(opened, start);
    const report = await failingOnError(opened, attributes, execution, async () => {
      await execution.controls.untilRunning();
      if (opened.mode === 'live') return runLive(opened, input, execution, attributes);
      const checked = await withoutDrifted(opened, input);
      return runSteps(await withChanges(checked, input, execution), input, execution);
    });
    execution.showReport(report);
    attributes.reported(report);
    // The run has ended: a cancellation that comes now must not make it look cancelled.
    await CancellationScope.nonCancellable(async () => {
      await prune(opened);
      await execution.untilAnswered();
    });
    throwIfUndelivered(report, opened.failOn);
    return report;
  });

/** Ends the run in the ledger if the work fails; an execution that continues as a new one has not failed. */
async function failingOnError<T>(
  { runId, sync }: OpenedRun,
  attributes: RunAttributes,
  execution: RunExecution,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ContinueAsNew)) {
      const failure = codedFailure(error);
      attributes.failed(failure.code);
      await CancellationScope.nonCancellable(async () => {
        // If the ledger cannot be told, the next run ends this one; people are to see why it failed.
        await failRun({ runId, sync, failure }).catch(() => undefined);
        await execution.untilAnswered();
      });
    }
    throw error;
  }
}

/** All steps after opening. A continued execution repeats none of the stages that are done. */
async function runSteps(run: CheckedRun, input: RunInput, execution: RunExecution): Promise<RunReport> {
  const { runId, sync, mode } = run;
  execution.showRun(run);
  execution.holds.continueFrom(input.continues?.notApproved ?? []);
  await execution.smallTenants.beside(run, execution, input.continues !== undefined, async () => {
    for (let stage = input.continues?.stagesDone ?? 0; stage < run.stages.length; stage++)
      await loadStage(run, input, stage, execution);
  });
  const until = input.continues?.pollUntil ?? Date.now() + run.waitForPending * 1000;
  const readsAll = mode === 'full' || mode === 'mirror';
  const sweep = input.continues?.sweep ?? { mappings: readsAll ? run.stages.flat() : [], after: '0' };
  const reached = { stagesDone: run.stages.length, pollUntil: until, sweep };
  await pollPendingRecords(run, { mappings: run.polled, until, waitForParents: true }, execution, () =>
    continueIfLong(run, input, reached, execution),
  );
  const swept = await sweepOpenDeadLetters(run, input, reached, execution);
  const isFed = mode === 'incremental' && run.feeds.length > 0;
  if (mode === 'mirror' || isFed) await removeVanishedRecords(run, input, swept, execution);
  await execution.controls.untilRunning();
  return closeRun({ runId, sync, skipped: ofAsked(run, run.skipped), notes: ofAsked(run, run.notes) });
}
