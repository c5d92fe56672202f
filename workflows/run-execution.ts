/**
 * One execution of a run: what it shows (the response to the query `progress`, and the current details in the Web UI), and
 * what people, holds and small tenants may do to it meanwhile.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { holdUntilLine } from '../src/domain/sync/guard.js';
import type { MappingProgress } from '../src/domain/run/progress.js';
import type { HoldUntil, RunInput, RunKind, RunReport, RunWait } from '../src/domain/run/run.js';
import { pauseLine, type ControlInput, type Pause } from '../src/domain/run/run-controls.js';
import type { OpenedRun, RunStart } from '../src/domain/run/work.js';
import { waitLine } from '../src/domain/run/wait-line.js';
import { recordAction } from './activities.js';
import { askedLine, detailsInMarkdown } from './run-details.js';
import { TimeSliceDispatch } from './time-slice-dispatch.js';
import type { RunAttributes } from './run-attributes.js';
import { RunControls, updateActor, updateKey } from './run-controls.js';
import { RunHolds } from './run-holds.js';
import { handleSetRate } from './run-rate.js';
import { SmallTenantRounds } from './small-tenants.js';
import type { CheckedRun } from './without-drifted.js';

/** The result of the query `progress`. */
export interface RunProgress {
  /** The ledger's id of the run; null before the run is opened. */
  readonly runId: string | null;
  /** Counts as of the last finished time slice. */
  readonly mappings: readonly MappingProgress[];
  /** What the run waits for now; empty while it has something else to do. */
  readonly waits: readonly RunWait[];
  /** null unless the run is paused. */
  readonly pause: Pause | null;
  /** What awaits approval. */
  readonly holds: readonly HoldUntil[];
}

/** For `partner-sync run`, which shows it, and for any other Temporal client. */
export const progressQuery = defineQuery<RunProgress>('progress');

/** What a run was started with. */
interface Asked {
  readonly kind: RunKind;
  readonly input: RunInput;
}

/** Handles the query from its construction on; the details appear once there is a run to show. */
export class RunExecution {
  #run: OpenedRun | CheckedRun | null = null;
  #mappings: readonly MappingProgress[] = [];
  #waits: readonly RunWait[] = [];
  /** What people can do to the run, such as pausing it; the details show what they did. */
  readonly controls = new RunControls((action, input) => {
    this.#update();
    // The answer to whoever asked does not wait for the audit, but the end of the execution does.
    this.#pendingAudit += 1;
    void CancellationScope.nonCancellable(() => this.#note(action, input))
      .catch(() => undefined)
      .finally(() => (this.#pendingAudit -= 1));
  });
  /** Which task queue its time slices wait in. */
  readonly dispatch = new TimeSliceDispatch();
  /** Its deliveries ahead of their turn. */
  readonly smallTenants = new SmallTenantRounds();
  /** What waits for approval. */
  readonly holds = new RunHolds(() => {
    this.#update();
    this.#attributes?.onHold(this.holds.list.length > 0);
  });
  #attributes: RunAttributes | null = null;
  /** How many entries of the audit are not written yet. */
  #pendingAudit = 0;
  /** What the run was asked for; null if its static details say so. */
  #asked: string | null = null;

  constructor() {
    handleSetRate(() => this.#run);
    setHandler(progressQuery, () => ({
      runId: this.#run?.runId ?? null,
      mappings: this.#mappings,
      waits: this.#waits,
      pause: this.controls.pause,
      holds: this.holds.list,
    }));
  }

  /** `attributes` are to say from now on whether the run is on hold. */
  showOpened(run: OpenedRun, attributes: RunAttributes, start: RunStart, { kind, input }: Asked): void {
    this.#attributes = attributes;
    this.#asked = start.trigger === 'other' ? askedLine(kind, input) : null;
    this.showRun(run);
  }

  /** Whether every Update is answered and in the audit. */
  get isAnswered(): boolean {
    return this.#pendingAudit === 0 && allHandlersFinished();
  }

  /** Resolves when every Update is answered and in the audit, which must not be lost with the execution. */
  untilAnswered(): Promise<void> {
    return condition(() => this.isAnswered);
  }

  /** Whether neither people, holds nor small tenants keep the execution from continuing as a new one. */
  get isQuiet(): boolean {
    return (
      this.controls.pause === null && this.holds.list.length === 0 && !this.smallTenants.inProgress && this.isAnswered
    );
  }

  showRun(run: OpenedRun | CheckedRun): void {
    this.#run = run;
    this.#update();
  }

  /** Shows the counts after a time slice: the run is not waiting any more. */
  showLoaded(mappings: readonly MappingProgress[]): void {
    this.#mappings = mappings;
    this.showWaits([]);
  }

  showWaits(waits: readonly RunWait[]): void {
    this.#waits = waits;
    this.#update();
  }

  showReport({ mappings }: RunReport): void {
    this.showLoaded(mappings.map((mapping) => ({ ...mapping, inFlight: 0, done: true, expected: null })));
  }

  async #note(action: 'run_paused' | 'run_resumed', input: ControlInput): Promise<void> {
    const actor = updateActor(input);
    const key = updateKey();
    const { reason } = input;
    await condition(() => this.#run !== null);
    const { sync, runId: run } = this.#run!;
    await recordAction({ sync, action, actor, key, subject: { run, ...(reason !== undefined && { reason }) } });
  }

  #update(): void {
    if (this.#run === null) return;
    const skipped = 'skipped' in this.#run ? this.#run.skipped : [];
    const notes = [
      ...(this.#asked === null ? [] : [this.#asked]),
      ...(this.controls.pause === null ? [] : [`**${pauseLine(this.controls.pause)}**`]),
      ...this.holds.list.map((hold) => `**${holdUntilLine(hold)}**`),
      ...skipped.map(({ mapping, message }) => `**Skipped**: ${mapping}: ${message}`),
      ...this.#waits.map(waitLine),
    ];
    setCurrentDetails(detailsInMarkdown(this.#run, this.#mappings, notes));
  }
}
