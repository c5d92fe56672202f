/** Shows how far a run has come that has an end. */
import type { MappingProgress } from '../../domain/run/progress.js';
import type { RunKind } from '../../domain/run/run.js';
import { waitLine } from '../../domain/run/wait-line.js';
import { holdUntilLine } from '../../domain/sync/guard.js';
import { progressOf } from '../../runs/run-progress.js';
import { retriedFailureOf } from '../../runs/workflow-failure.js';
import { createProgress, type ProgressDisplay } from './progress-display.js';
import { bounded, ledgerIfKnown, pause, queried, whenChanged, type RunView, type Watching } from './run-view.js';

/** Shows the counts of the run, what it waits for, and why it is being retried. */
export function countsView(watching: Watching, kind: RunKind): RunView {
  const { handle, ended } = watching;
  const display = ofWhatIsRead(kind, createProgress());
  return {
    note: display.note,
    end: display.show,
    async follow(runId) {
      const noteWaits = whenChanged(display.note);
      const noteHolds = whenChanged(display.note);
      const noteRetry = whenChanged(display.note);
      while (true) {
        await pause(display.every, ended);
        if (ended.aborted) return;
        const mappings = await bounded(watching, () => shownProgress(watching, runId));
        if (ended.aborted) return;
        display.show(mappings);
        const progress = await queried(watching);
        noteWaits((progress?.waits ?? []).map((wait) => `  ${waitLine(wait)}`).join('\n'));
        noteHolds((progress?.holds ?? []).map((hold) => `  ${holdUntilLine(hold)}`).join('\n'));
        const failure = await bounded(watching, () => retriedFailureOf(handle));
        noteRetry(failure === null ? '' : `  retrying: ${failure}`);
      }
    },
  };
}

/** A backfill, such as a replay of one row, is only about some mappings: the others, of which it reads nothing, are left out. */
const ofWhatIsRead = (kind: RunKind, display: ProgressDisplay): ProgressDisplay =>
  kind === 'sync' ? display : { ...display, show: (mappings) => display.show(mappings.filter(({ read }) => read > 0)) };

/** As far as it can be known: a question that failed is no reason to stop watching. */
async function shownProgress(watching: Watching, runId: string): Promise<readonly MappingProgress[]> {
  try {
    const ledger = await ledgerIfKnown(watching);
    return await progressOf(watching.handle, runId, ledger === null ? null : () => Promise.resolve(ledger));
  } catch {
    return [];
  }
}
