/** Shows how a run in mode `live` stands, for as long as somebody watches it. */
import type { LiveMapping, LiveProgress } from '../../domain/monitoring/live-progress.js';
import { milliseconds } from '../../domain/timeouts.js';
import { retriedFailureOf } from '../../runs/workflow-failure.js';
import { DeliveryRate } from './delivery-rate.js';
import { createLiveDisplay } from './live-display.js';
import { bounded, ledgerIfKnown, pause, queried, whenChanged, type RunView, type Watching } from './run-view.js';

/** Each day, another run begins in the same workflow: the view goes on with that. */
export function liveView(watching: Watching, sync: string): RunView {
  const { handle, ended } = watching;
  const display = createLiveDisplay();
  return {
    note: display.note,
    end: display.show,
    async follow(runId) {
      const noteRetry = whenChanged(display.note);
      const rate = new DeliveryRate(milliseconds('liveRate'));
      let [pausedOrHeld, id]: [Pick<LiveProgress, 'pause' | 'holds'>, string] = [{ pause: null, holds: [] }, runId];
      while (true) {
        await pause(display.every, ended);
        const progress = await queried(watching);
        if (progress !== null) pausedOrHeld = progress;
        if (progress !== null && progress.runId !== null && progress.runId !== id) {
          display.note(
            `run ${id} has ended, and run ${progress.runId} goes on; partner-sync status ${sync} ${id} shows its report`,
          );
          id = progress.runId;
        }
        const { now, mappings } = await standing(watching, sync, id).catch(() => ({ now: new Date(), mappings: null }));
        if (ended.aborted) return;
        if (mappings !== null) {
          const { pause: isPaused, holds } = pausedOrHeld;
          const changesPerSecond = rate.next(performance.now(), deliveredOf(mappings));
          display.show({ sync, now, mappings, changesPerSecond, pause: isPaused, holds });
        }
        const failure = await bounded(watching, () => retriedFailureOf(handle));
        noteRetry(failure === null ? '' : `  retrying: ${failure}`);
      }
    },
  };
}

/** The mappings that the run works on; without the ledger, only the workflow's counts of some minutes ago. */
async function standing(
  watching: Watching,
  sync: string,
  runId: string,
): Promise<{ readonly now: Date; readonly mappings: readonly LiveMapping[] }> {
  const ledger = await ledgerIfKnown(watching);
  if (ledger === null) {
    const mappings = (await queried(watching))?.mappings ?? [];
    return { now: new Date(), mappings: mappings.map((progress) => ({ progress, delivery: null })) };
  }
  const [mappings, { now, mappings: deliveries }] = await Promise.all([
    ledger.counts.progress(runId),
    ledger.feeds.delivery(sync),
  ]);
  return {
    now,
    mappings: mappings.map((progress) => ({
      progress,
      delivery: deliveries.find(({ mapping }) => mapping === progress.mapping) ?? null,
    })),
  };
}

/** Only what the feeds have named: while every row is read, the counts are of other rows. */
const deliveredOf = (mappings: readonly LiveMapping[]): ReadonlyMap<string, number> =>
  new Map(
    mappings
      .filter(({ delivery }) => delivery?.loaded === true)
      .map(({ progress: { mapping, accepted, unchanged } }) => [mapping, accepted + unchanged]),
  );
