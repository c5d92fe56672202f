/** Follows the change feeds of a run, an activity after the other; beside it, mappings are loaded and searched. */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { Hold } from '../src/domain/sync/guard.js';
import type { RunInput } from '../src/domain/run/run.js';
import type { FollowedChanges } from '../src/domain/run/work.js';
import { seconds } from '../src/domain/timeouts.js';
import { activitiesWithSummary } from './activities.js';
import { asCancellation, isFromCancellation } from './cancellation.js';
import { continueRun } from './continue-run.js';
import { isHistoryLong } from './history-length.js';
import { loadMappings } from './load-stage.js';
import { prune } from './prune.js';
import { removeUntilOnHold } from './remove-vanished-records.js';
import type { RunExecution } from './run-execution.js';
import type { CheckedRun } from './without-drifted.js';

export class FeedFollower {
  readonly #run: CheckedRun;
  readonly #input: RunInput;
  readonly #execution: RunExecution;
  /** Mappings that are on hold, each with the cause. */
  readonly #onHold = new Map<string, Hold>();
  /** Mappings whose records are looked through, or are to be once their rows are loaded. */
  readonly #searching: Set<string>;
  /** Mappings of which every row is read. */
  readonly #loading: Set<string>;
  /** Waits for approval. */
  readonly #waits = new CancellationScope();
  /** What is done beside the feeds, one thing after the other. */
  #beside: Promise<void> = Promise.resolve();
  #isBusy = false;
  /** Whether the activity that follows the feeds is to begin anew, since what it was given has changed. */
  #hasNews = false;
  #beginsAgain = false;
  #failure: { readonly error: unknown } | null = null;

  /** @param unloaded the mappings of which every row is still to be read */
  constructor(run: CheckedRun, input: RunInput, execution: RunExecution, unloaded: readonly string[]) {
    // Without a guard, a removal plan that needs approval waits for as long as the run lasts.
    this.#run = { ...run, guardWait: run.guardWait ?? 2 * seconds('liveReport') };
    this.#input = input;
    this.#execution = execution;
    this.#loading = new Set(unloaded);
    this.#searching = new Set(unloaded);
  }

  /** Resolves when the run is to end and another one to begin. A long history continues as a new execution of the same run. */
  async follow(): Promise<void> {
    const { controls } = this.#execution;
    const scope = new CancellationScope();
    try {
      await scope.run(async () => {
        if (this.#loading.size > 0) this.#do(() => this.#load());
        // Not between two runs, where changes would have to wait for it.
        this.#do(() => prune(this.#run));
        while (true) {
          // First of all: a paused run does not end either.
          await controls.untilRunning();
          if (this.#isOver) return;
          if (isHistoryLong() && !this.#isLoadOnHold) await this.#continue();
          const followed = await this.#followOnce();
          if (this.#failure !== null) throw this.#failure.error;
          if (followed !== null) this.#take(followed);
        }
      });
    } finally {
      // All of it is in the ledger, and the next run goes on with it.
      this.#waits.cancel();
      scope.cancel();
      await CancellationScope.nonCancellable(() => this.#beside);
    }
  }

  /** The next execution would have to wait for an approval before it could follow anything. */
  get #isLoadOnHold(): boolean {
    return this.#execution.holds.list.some(({ mapping }) => this.#loading.has(mapping));
  }

  get #isOver(): boolean {
    return this.#beginsAgain || (Date.now() >= this.#run.liveUntil! && !this.#isBusy);
  }

  /** Resolves if a load was put on hold meanwhile: this execution then goes on, since it alone need not wait for an approval. */
  async #continue(): Promise<void> {
    await Promise.race([this.#beside, condition(() => this.#isLoadOnHold)]);
    if (this.#isLoadOnHold) return;
    // The next execution finds out again what is on hold.
    this.#waits.cancel();
    await this.#beside;
    if (this.#failure !== null) throw this.#failure.error;
    await continueRun(this.#run, this.#input, { stagesDone: 0 }, this.#execution);
  }

  /** null if it was interrupted: by a pause, or because something is on hold, or no longer. */
  async #followOnce(): Promise<FollowedChanges | null> {
    const { runId, sync, feeds, stages, polled, skipped } = this.#run;
    const scope = new CancellationScope();
    let ended = false;
    let interrupted = false;
    this.#hasNews = false;
    condition(() => ended || this.#hasNews || this.#execution.controls.pause !== null).then(
      () => {
        if (ended) return;
        interrupted = true;
        scope.cancel();
      },
      () => undefined,
    );
    try {
      return await scope.run(() =>
        activitiesWithSummary(`changes of ${feeds.map(({ name }) => name).join(', ')}`).followChanges({
          ...{ runId, sync, stages, polled },
          feeds: feeds.map(({ name }) => name),
          skipped: skipped.map(({ mapping }) => mapping),
          onHold: [...this.#onHold.values()].map(({ mapping, cause }) => ({ mapping, cause })),
          loading: [...this.#loading],
          searching: [...this.#searching],
          isLast: false,
        }),
      );
    } catch (error) {
      if (!isFromCancellation(error)) throw error;
      // Also if it was resumed before the activity had heard of the pause.
      if (interrupted && !CancellationScope.current().consideredCancelled) return null;
      throw asCancellation(error);
    } finally {
      ended = true;
    }
  }

  #take({ progress, holds, searches, beginAgain }: FollowedChanges): void {
    this.#execution.showLoaded(progress);
    for (const hold of holds) this.#wait(hold);
    for (const mapping of searches) this.#search(mapping);
    this.#beginsAgain ||= beginAgain !== null;
  }

  /** Lets the mapping rest until somebody approves, while all others go on. */
  #wait(hold: Hold): void {
    const { mapping } = hold;
    this.#onHold.set(mapping, hold);
    this.#waits
      .run(() => this.#execution.holds.untilApproved(this.#run, hold))
      .then(
        (isApproved) => {
          // Removals that nobody has approved in time are left to the next run.
          if (!isApproved) return;
          this.#onHold.delete(mapping);
          this.#hasNews = true;
          if (this.#searching.has(mapping)) this.#search(mapping, true);
        },
        (error: unknown) => this.#fail(error),
      );
  }

  /** Reads every row of mappings that are new to their feed, parents before children; then looks for rows that are gone. */
  async #load(): Promise<void> {
    const unloaded = new Set(this.#loading);
    const only = (stage: readonly string[]): string[] => stage.filter((mapping) => unloaded.has(mapping));
    const run = { ...this.#run, stages: this.#run.stages.map(only), firstPass: this.#run.firstPass.map(only) };
    for (let stage = 0; stage < run.stages.length; stage++) {
      const completions = await loadMappings(run, this.#input, stage, this.#execution);
      if (completions.includes('unfinished')) {
        // The next execution goes on with it, and need not wait for the activity that follows the feeds.
        this.#hasNews = true;
        return;
      }
      for (const mapping of run.stages[stage]!) this.#loading.delete(mapping);
    }
    for (const mapping of run.stages.flat().toReversed()) this.#search(mapping);
  }

  /** @param isApproved whether a person has approved what the search has found */
  #search(mapping: string, isApproved = false): void {
    this.#searching.add(mapping);
    this.#do(async () => {
      const { runId, sync } = this.#run;
      const input = { runId, sync, mapping, among: 'changed_rows', awaitsApproval: true } as const;
      const result = await removeUntilOnHold(input, this.#execution);
      if (result === 'unfinished') return;
      if (result !== null) return this.#wait(result);
      this.#searching.delete(mapping);
      this.#beginsAgain ||= isApproved;
      // Once for all of them: the feeds are not read for some seconds then.
      this.#hasNews ||= isApproved || this.#searching.size === 0;
    });
  }

  #do(work: () => Promise<void>): void {
    this.#beside = this.#beside.then(async () => {
      if (this.#failure !== null || isHistoryLong()) return;
      this.#isBusy = true;
      try {
        await work();
      } catch (error) {
        this.#fail(error);
      } finally {
        this.#isBusy = false;
      }
    });
  }

  #fail(error: unknown): void {
    if (isFromCancellation(error)) return;
    this.#failure ??= { error };
    this.#hasNews = true;
  }
}
