/** The Update that changes how fast a run sends, while it works. */
import { defineUpdate, setHandler } from '@temporalio/workflow';
import { checkSetRateInput, rateLine, type SetRateInput, UpdateRefused } from '../src/domain/run/run-controls.js';
import type { OpenedRun } from '../src/domain/run/work.js';
import { setRate } from './activities.js';
import { updateActor, updateKey } from './run-controls.js';

const setRateUpdate = defineUpdate<string, [SetRateInput?]>('setRate');

/** Handles the Update from now on. `run` is null until the run is opened. */
export function handleSetRate(run: () => OpenedRun | null): void {
  setHandler(
    setRateUpdate,
    async (input?: SetRateInput) => {
      const { by: _, reason, ...rate } = input ?? {};
      const { runId, sync } = run()!;
      await setRate({
        runId,
        sync,
        rate,
        reason: reason ?? null,
        actor: updateActor(input ?? {}),
        key: updateKey(),
      });
      return `${sync} sends ${rateLine(rate)} from now on, until its next run begins`;
    },
    {
      description:
        'Changes the request rate of the sync. Input: {"requestsAtOnce":2,"requestsPerSecond":5}, or nothing to restore the limits of sync.yaml',
      validator: (input?: SetRateInput) => {
        checkSetRateInput(input);
        if (run() === null) throw new UpdateRefused('setRate: the run has not begun yet');
      },
    },
  );
}
