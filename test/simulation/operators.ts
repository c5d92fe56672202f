/** The people of a story: they start runs, interfere with them, approve what is on hold, and stop what would go on for ever. */
import type { RunReport } from '../../src/domain/run/run.js';
import type { Checker } from './checker.js';
import type { Chronicle } from './chronicle.js';
import type { Kernel } from './kernel.js';
import type { Plan } from './plan.js';
import { undisturbed, type PlannedRun } from './planned-run.js';
import type { PlatformModel } from './platform-model.js';
import type { Random } from './random.js';
import { SHAPES, SYNC, type TableName } from './shop.js';
import { timeText, type Row, type SourceModel } from './source-model.js';
import type { TemporalServer } from './temporal-server.js';
import type { WorkflowExecution } from './workflow-execution.js';

/** No run and no wait may last longer once faults have stopped. */
export const LONGEST_RECOVERY = 2 * 3_600_000;

export interface OperatedWorld {
  readonly plan: Plan;
  readonly kernel: Kernel;
  readonly random: Random;
  readonly chronicle: Chronicle;
  readonly source: SourceModel;
  readonly platform: PlatformModel;
  readonly temporal: TemporalServer;
  readonly checker: Checker;
  readonly areFaultsOver: () => boolean;
  /** How many checkpoints were written. */
  readonly checkpoints: () => number;
}

export class Operators {
  readonly #world: OperatedWorld;
  /** The runs in mode live that go on. */
  readonly #live = new Set<string>();
  /** Runs that somebody started by hand for single rows. */
  readonly #byHand: Promise<void>[] = [];
  /** The run in mode live that goes on, if the seed has drawn one, and its id. */
  #lasting: Promise<void> | null = null;
  #lastingId = '';
  #isLastingOver = false;

  constructor(world: OperatedWorld) {
    this.#world = world;
  }

  async perform(run: PlannedRun, workflowId: string, [type, input] = this.#inputOf(run)): Promise<void> {
    const { kernel, random, chronicle, platform, temporal, checker } = this.#world;
    const began = kernel.now;
    const due = this.#due();
    chronicle.note(`starts ${workflowId}: ${type} ${JSON.stringify(input)}`);
    const execution = temporal.start(type, workflowId, input);
    const ended = this.ended(execution);
    const besideLive = this.#live.size > 0;
    if (run.kind === 'live') this.#live.add(workflowId);
    if (run.intervention !== null) {
      await Promise.race([ended, this.#untilTime(run, execution)]);
      if (execution().status === 'RUNNING') await this.#intervene(run.intervention, workflowId);
      // Nothing else ends it.
      if (run.kind === 'live') void this.cancelAfter(workflowId, random.between(0, 20_000));
    }
    const { status, result, failure } = await ended;
    this.#live.delete(workflowId);
    if (status === 'FAILED') chronicle.saw(`a run failed`);
    const report = status === 'COMPLETED' ? (result as RunReport) : reportOf({ failure });
    chronicle.note(
      `${workflowId} ${status}: ${report === null ? String((failure as Error | null)?.message) : JSON.stringify(report)}`,
    );
    if (report === null) return;
    checker.report(workflowId, report);
    await checker.nothingLeft(workflowId, report);
    // A backfill may report other mappings, too, of which it has fetched parents.
    const { mappings = Object.keys(SHAPES) } = input as { mappings?: string[] };
    const readsAll = ['range', 'orders'].includes(run.kind) || ['full', 'mirror'].includes(report.mode);
    if (report.kind === 'sync' && report.outcome === 'complete') checker.delivered(platform, workflowId, due);
    if (readsAll && report.kind === 'sync' && besideLive) chronicle.saw('a run read every row beside a live one');
    if (readsAll) await checker.read(workflowId, report, mappings, began);
  }

  /**
   * The rows that a run which begins now must deliver if it says `complete`: those before the high watermark; if a transaction holds this
   * back, all that changed a minute ago and have been committed; and those far ahead.
   */
  #due(): ReadonlySet<Row> {
    const { kernel, source, chronicle } = this.#world;
    const [aMinuteAgo, farAhead] = [timeText(kernel.now - 61_000), timeText(kernel.now + 49 * 3_600_000)];
    const isBehind = source.watermark < aMinuteAgo;
    if (isBehind) chronicle.saw('a run began while a transaction had been open for more than a minute');
    const passed = isBehind ? aMinuteAgo : source.watermark;
    const rows = Object.keys(SHAPES).flatMap((table) => [...source.rows(table).values()]);
    return new Set(rows.filter(({ updated_at: at }) => at! < passed || at! > farAhead));
  }

  /** Often somebody does not wait for the next run, and has a row delivered by its external id: `what` says which row that is. */
  deliverByHand(mapping: TableName, id: string, what: string): void {
    const { kernel, random, chronicle } = this.#world;
    if (!random.chance(0.5)) return;
    chronicle.saw(`${what} was delivered by hand`);
    const workflowId = `by-hand-${this.#byHand.length + 1}`;
    const input = { sync: SYNC, mapping, externalIds: [id] };
    const started = kernel.sleep(random.next() * (mapping === 'customers' ? 3000 : 1000));
    this.#byHand.push(started.then(() => this.perform(undisturbed('records'), workflowId, ['backfill', input])));
  }

  /** Begins the run in mode live of a seed that has drawn one. */
  beginLasting(workflowId: string): void {
    this.#lasting = this.#goOn(workflowId);
  }

  /** Resolves once all rows were delivered by those who did not wait for the next run. */
  async untilDeliveredByHand(): Promise<void> {
    await Promise.all(this.#byHand);
  }

  /** A run in mode live that nobody stops before all is delivered. If it ends by itself, it is started again, as a schedule would do. */
  async #goOn(workflowId: string): Promise<void> {
    for (let no = 1; !this.#isLastingOver; no++) {
      if (no > 1) await this.#world.kernel.sleep(10_000);
      this.#lastingId = `${workflowId}-${no}`;
      await this.perform(undisturbed('live'), this.#lastingId);
    }
  }

  /**
   * Faults are over, and the lasting run, if there is one, goes on: it alone must bring the platform what it lacks, and mark what is gone
   * unless that is on hold. Resolves with false if it does not.
   */
  async untilLastingHasDelivered(): Promise<boolean> {
    if (this.#lasting === null) return true;
    const { plan, kernel, platform, temporal, checker, chronicle } = this.#world;
    const wrong = (): string[] => [
      ...checker.missing(platform, 'while a live run goes on'),
      ...(plan.lasting!.holdsStay ? [] : checker.left(platform)),
    ];
    for (const began = kernel.now; wrong().length > 0; await kernel.sleep(20_000)) {
      if (kernel.now - began < LONGEST_RECOVERY) continue;
      for (const each of wrong()) chronicle.violate(each);
      return false;
    }
    chronicle.saw('a live run went on until all was delivered');
    this.#isLastingOver = true;
    const isOver = this.#lasting.then(() => true);
    do temporal.cancel(this.#lastingId);
    while (!(await Promise.race([isOver, kernel.sleep(30_000).then(() => false)])));
    return true;
  }

  async cancelAfter(workflowId: string, milliseconds: number): Promise<void> {
    const { kernel, chronicle, temporal } = this.#world;
    await kernel.sleep(milliseconds);
    if (temporal.cancel(workflowId)) chronicle.saw('a live run was told to stop');
  }

  /** Resolves with the last execution once the workflow has ended. Holds are approved after a while, or not. */
  async ended(execution: () => WorkflowExecution): Promise<WorkflowExecution> {
    const { workflowId } = execution().name;
    const isGuarded = this.#world.plan.settings.guard !== null;
    while (execution().status === 'RUNNING' || execution().status === 'CONTINUED_AS_NEW') {
      await this.#world.kernel.sleep(500);
      const isLeft = this.#world.plan.lasting?.holdsStay === true && !this.#isLastingOver;
      if (!isGuarded || isLeft || !this.#world.random.chance(this.#world.areFaultsOver() ? 0.5 : 0.03)) continue;
      if (this.#world.temporal.update(workflowId, 'approve')) this.#world.chronicle.saw('a hold was approved');
    }
    return execution();
  }

  #inputOf({ kind }: PlannedRun): ['sync' | 'backfill', object] {
    const random = this.#world.random;
    const of = { sync: SYNC };
    const table = this.#world.plan.crossing?.table ?? random.pick(Object.keys(SHAPES));
    if (kind === 'replay') return ['backfill', { ...of, replay: {} }];
    if (kind === 'range') return ['backfill', { ...of, mappings: [table] }];
    if (kind === 'orders') return ['backfill', { ...of, mappings: ['orders'] }];
    if (kind === 'records') {
      const ids = [
        ...new Set(
          [...this.#world.source.rows(table).values()].map((row) => row[SHAPES[table as keyof typeof SHAPES].column]!),
        ),
      ];
      return ['backfill', { ...of, mapping: table, externalIds: random.shuffled([...ids, '99999']).slice(0, 3) }];
    }
    return ['sync', { ...of, mode: kind }];
  }

  /** Resolves when somebody is to interfere with the run. */
  async #untilTime({ interveneAfter, afterCheckpoints }: PlannedRun, run: () => WorkflowExecution): Promise<void> {
    const { kernel, checkpoints } = this.#world;
    if (afterCheckpoints === undefined) return kernel.sleep(interveneAfter);
    while (run().status === 'RUNNING' && checkpoints() < afterCheckpoints) await kernel.sleep(20);
  }

  async #intervene(what: NonNullable<PlannedRun['intervention']>, workflowId: string): Promise<void> {
    const { kernel, random, chronicle, temporal } = this.#world;
    chronicle.note(`operator: ${what} ${workflowId}`);
    chronicle.saw(`intervention: ${what}`);
    if (what === 'cancel') void temporal.cancel(workflowId);
    else if (what === 'terminate') temporal.terminate(workflowId);
    else if (what === 'setRate') temporal.update(workflowId, 'setRate', { requestsAtOnce: 1 });
    else if (temporal.update(workflowId, 'pause') && what === 'pause') {
      await kernel.sleep(random.between(1000, 40_000));
      temporal.update(workflowId, 'resume');
    }
  }
}

/** The report of a run that has failed because it was incomplete. */
export function reportOf({ failure }: Pick<WorkflowExecution, 'failure'>): RunReport | null {
  const { details } = (failure ?? {}) as { details?: unknown[] };
  const [report] = details ?? [];
  return (report as RunReport | undefined) ?? null;
}
