/** Delivers the new rows of small tenants while a run is busy with those of large ones (ADR 0033). */
import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import { milliseconds } from '../src/domain/timeouts.js';
import type { SmallTenantsStep } from '../src/domain/run/work.js';
import { deliverSmallTenants, activitiesWithSummary } from './activities.js';
import { isHistoryLong } from './history-length.js';
import type { RunControls } from './run-controls.js';
import type { RunHolds } from './run-holds.js';
import type { CheckedRun } from './without-drifted.js';

/** What keeps a round from beginning. */
interface Blockers {
  readonly controls: RunControls;
  readonly holds: RunHolds;
}

/** The rounds of one execution. */
export class SmallTenantRounds {
  #inProgress = false;
  /** Whether a round has begun in this run: the ledger knows whether one has left batches open. */
  #hasBegun = false;

  /** Whether a round is in progress. The execution must not continue as a new one meanwhile. */
  get inProgress(): boolean {
    return this.#inProgress;
  }

  /**
   * Does `work`; as long as that takes, delivers what is new of small tenants now and then.
   *
   * @param isContinued whether rounds may have begun in an earlier execution of the run
   */
  async beside(run: CheckedRun, blockers: Blockers, isContinued: boolean, work: () => Promise<void>): Promise<void> {
    if (!run.manyTenants) return work();
    this.#hasBegun = isContinued;
    const scope = new CancellationScope();
    const ended = scope.run(() => this.#deliver(run, blockers));
    try {
      await work();
    } finally {
      scope.cancel();
      await CancellationScope.nonCancellable(() => ended);
    }
    if (!this.#hasBegun) return;
    await blockers.controls.untilRunning();
    const { runId, sync, stages } = run;
    await activitiesWithSummary('open batches of small tenants').recoverSmallTenants({
      runId,
      sync,
      mappings: stages.flat(),
    });
  }

  /**
   * Ends when it is cancelled, or the execution is to continue as a new one. A round that fails is shown in the timeline and
   * fails nothing else: if the reason lasts, the reading in order meets it as well.
   */
  async #deliver(run: CheckedRun, { controls, holds }: Blockers): Promise<void> {
    const { runId, sync } = run;
    const [shortest, longest] = [milliseconds('smallTenantsEvery'), milliseconds('smallTenantsLongestPause')];
    let steps = stepsOf(run);
    let pause = shortest;
    try {
      while (true) {
        await sleep(pause, { summary: 'until the new rows of small tenants are delivered' });
        await controls.untilRunning();
        await condition(() => holds.list.length === 0);
        if (isHistoryLong()) return;
        const round = await this.#round(() => deliverSmallTenants({ runId, sync, steps }));
        const next = round?.next ?? 0;
        steps = [...steps.slice(next), ...steps.slice(0, next)];
        // A source that counts a huge range for long is left in peace for twice as long.
        pause = round === null ? Math.min(longest, 2 * pause) : Math.max(shortest, 2 * round.countingMs);
      }
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
  }

  /** The result of the round; null if it failed. */
  async #round<T>(deliver: () => Promise<T>): Promise<T | null> {
    this.#inProgress = true;
    this.#hasBegun = true;
    try {
      return await deliver();
    } catch (error) {
      if (isCancellation(error)) throw error;
      return null;
    } finally {
      this.#inProgress = false;
    }
  }
}

/** The passes over the run's mappings, in the order of its stages. */
const stepsOf = ({ stages, firstPass }: CheckedRun): SmallTenantsStep[] =>
  stages.flatMap((full, stage) => [
    ...(firstPass[stage] ?? []).map((mapping) => ({ mapping, firstPass: true })),
    ...full.map((mapping) => ({ mapping, firstPass: false })),
  ]);
