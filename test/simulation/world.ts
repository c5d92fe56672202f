/** One seed from its beginning to its verified end: the servers, the workers, and the runs that people start. */
import { createActivities } from '../../activities/index.js';
import { compose } from '../../src/composition/compose.js';
import type { RunReport } from '../../src/domain/run/run.js';
import { loadQueueOf } from '../../src/domain/run/work.js';
import { milliseconds } from '../../src/domain/timeouts.js';
import { openLedgerDatabase } from '../../src/ledger/database/connection.js';
import { ledgerOn } from '../../src/ledger/ledger.js';
import { readChunks } from '../../src/reading/read-chunks.js';
import type { OpenReader } from '../../src/reading/reader.js';
import * as workflows from '../../workflows/run.js';
import { Checker } from './checker.js';
import { Chronicle } from './chronicle.js';
import { START } from './globals.js';
import { FeedModel } from './feed-model.js';
import { Kernel, NothingScheduled, SimulatedProcess } from './kernel.js';
import type { LedgerDatabase } from './ledger-database.js';
import type { Plan, Sizes, Trap } from './plan.js';
import { undisturbed, type PlannedRun } from './planned-run.js';
import { PlatformModel } from './platform-model.js';
import { randomOf, type Random } from './random.js';
import { SCHEMAS, SHAPES, TABLES } from './shop.js';
import { setCurrent } from './simulation.js';
import { SourceModel } from './source-model.js';
import { TemporalServer, type SimulatedWorker } from './temporal-server.js';
import type { WorkflowExecution } from './workflow-execution.js';
import { toldBy } from './told-by-statements.js';
import { Writer } from './writer.js';

export interface SeedResult {
  readonly seed: number;
  /** What was found wrong; empty if nothing was. */
  readonly violations: readonly string[];
  /** How often something interesting happened. */
  readonly sometimes: Readonly<Record<string, number>>;
  /** Of all lines of the trace: the same seed gives the same one. */
  readonly hash: string;
  readonly events: number;
  /** Virtual seconds. */
  readonly seconds: number;
  readonly trace: readonly string[];
  readonly plan: Plan;
}

const SYNC = 'shop';
const TASK_QUEUE = 'partner-sync';
/** Faults, and changes of the source, end after so many milliseconds: where both go on for ever, a run may never catch up. */
const LONGEST_STORY = 300_000;
/** No run and no wait may last longer once faults have stopped. */
const LONGEST_RECOVERY = 2 * 3_600_000;
/** Recovery reads many rows at once, and quickly: what small chunks and slow pages can show, they have shown before. */
const SIZES_OF_RECOVERY = { firstPageRows: 20, pageRows: 20, firstChunkRows: 20, chunkRows: 60 };
/** No seed takes longer; one that does has come to a standstill. */
const MOST_EVENTS = 400_000;

export class World {
  readonly #plan: Plan;
  readonly #kernel = new Kernel(START);
  readonly #database: LedgerDatabase;
  readonly #feed: FeedModel;
  readonly #source: SourceModel;
  readonly #platform: PlatformModel;
  readonly #temporal: TemporalServer;
  readonly #workers: SimulatedWorker[] = [];
  readonly #chronicle = new Chronicle(this.#kernel);
  readonly #writer: Writer;
  /** The runs in mode live that go on. */
  readonly #live = new Set<string>();
  /** Runs that somebody started by hand for a parent that came late. */
  readonly #forParents: Promise<void>[] = [];
  readonly #checker: Checker;
  readonly #reached = new Map<string, number>();
  readonly #mappings: string;
  readonly #random: Random;
  #workerNumbers = 0;
  #areFaultsOver = false;
  /** The run in mode live that goes on, if the seed has drawn one, and its id. */
  #lasting: Promise<void> | null = null;
  #lastingId = '';
  #isLastingOver = false;
  /** The process in whose transaction a partition ends. */
  #ending: SimulatedProcess | null = null;
  /** The process that carries out a removal plan, as of the latest statement that told so. */
  #removing: SimulatedProcess | null = null;

  /** `mappings`: a folder that contains the sync's folder. */
  constructor(plan: Plan, database: LedgerDatabase, mappings: string) {
    const kernel = this.#kernel;
    const random = (stream: string): Random => randomOf(plan.seed, stream);
    this.#plan = plan;
    this.#database = database;
    this.#mappings = mappings;
    this.#random = random('world');
    const { note, saw: sometimes } = this.#chronicle;
    const happened = (point: string): void => this.#happened(point, kernel.process);
    this.#feed = new FeedModel(random('feed-model'), TABLES, plan.feed, sometimes);
    this.#source = new SourceModel(kernel, random('source'), TABLES, plan.source, this.#feed, happened);
    this.#writer = new Writer(kernel, random('writer'), plan, this.#source, this.#chronicle);
    this.#checker = new Checker(this.#source, this.#writer, database, this.#chronicle);
    this.#platform = new PlatformModel({
      kernel,
      random: random('platform'),
      schemas: SCHEMAS,
      faults: plan.platform,
      wholeRecords: plan.wholeRecords,
      inDoubtDelay: plan.settings.inDoubtDelay * 1000,
      mostRecords: 4,
      happened: (point, process) => this.#happened(point, process),
      sometimes,
      note,
      applied: (...stored) => this.#checker.applied(...stored),
    });
    this.#temporal = new TemporalServer({
      kernel,
      random: random('temporal'),
      taskQueue: TASK_QUEUE,
      longHistory: plan.longHistory,
      faults: plan.temporal,
      workflows,
      note,
      sometimes,
    });
    database.begin({
      kernel,
      random: random('ledger'),
      faults: plan.ledger,
      idleLimit: milliseconds('ledgerIdleTransaction'),
      executed: (sql, process) => this.#executed(sql, process),
    });
    setSizes(plan.sizes);
    setCurrent({
      kernel,
      random: random('code'),
      temporal: this.#temporal,
      platform: (request) => this.#platform.send(request),
      note,
    });
  }

  async run(): Promise<SeedResult> {
    try {
      let isOver = false;
      const end = (): void => void (isOver = true);
      this.#kernel
        .within(null, () => this.#story())
        .then(end, (error: unknown) => {
          this.#chronicle.violate(error instanceof Error ? (error.stack ?? error.message) : String(error));
          end();
        });
      await this.#kernel.run(() => {
        if (this.#kernel.events > MOST_EVENTS) throw new Error(`no end after ${MOST_EVENTS} events`);
        return isOver || this.#chronicle.violations.length > 0;
      });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#chronicle.violate(error instanceof NothingScheduled ? error.message : (error.stack ?? error.message));
    } finally {
      setCurrent(null);
    }
    return {
      seed: this.#plan.seed,
      violations: this.#chronicle.violations,
      sometimes: this.#chronicle.sometimes,
      hash: this.#chronicle.hash,
      events: this.#kernel.events,
      seconds: (this.#kernel.now - START) / 1000,
      trace: this.#chronicle.trace,
      plan: this.#plan,
    };
  }

  async #story(): Promise<void> {
    const plan = this.#plan;
    this.#writer.fill();
    for (let i = 0; i < plan.workers; i++) this.#startWorker();
    this.#writer.whenParentCame = (id) => this.#deliverLateParent(id);
    if (plan.crossing === null) this.#writer.write();
    // One run alone delivers all rows before.
    else this.#source.faults = { ...plan.source, stalled: 0 };
    this.#watchBatches();
    this.#kernel.after(LONGEST_STORY, () => this.#endFaults(), null);
    for (const after of plan.feed.lostAfter) this.#kernel.after(after, () => this.#loseChanges(), null);
    let last: Promise<void> = Promise.resolve();
    let lastSync = last;
    const all: Promise<void>[] = [];
    for (const [no, run] of plan.runs.entries()) {
      await this.#kernel.sleep(run.startAfter);
      if (run.waits) await last;
      if (plan.crossing !== null && no === 1 && !this.#areFaultsOver) {
        this.#source.faults = plan.source;
        this.#writer.write();
      }
      if (plan.lasting !== null && run.kind === 'live') {
        this.#lasting = this.#goOn(`run-${no + 1}`);
        continue;
      }
      const perform = (): Promise<void> => this.#perform(run, `run-${no + 1}`);
      // Runs of the sync exclude each other. Where runs are to cross, each of them begins at the end of the one before.
      if (plan.crossing !== null && ['incremental', 'live'].includes(run.kind))
        last = lastSync = lastSync.then(perform);
      else last = perform();
      all.push(last);
    }
    if (plan.lasting !== null) all.push(this.#kernel.sleep(plan.lasting.lasts));
    const areOver = Promise.all(all).then(() => true);
    if (!(await Promise.race([areOver, this.#kernel.sleep(LONGEST_STORY + LONGEST_RECOVERY).then(() => false)])))
      return this.#chronicle.violate(`runs have not ended ${LONGEST_RECOVERY / 60_000} minutes after the last fault`);
    await this.#recover();
  }

  /** Somebody creates the slot anew; while a run goes on, a family has just been deleted then. */
  #loseChanges(): void {
    if (this.#plan.lasting !== null && !this.#areFaultsOver) this.#writer.deleteFamily();
    this.#kernel.after(1, () => this.#feed.lose(), null);
  }

  #endFaults(): void {
    if (this.#areFaultsOver) return;
    this.#areFaultsOver = true;
    this.#writer.stop();
    this.#chronicle.note('faults are over');
    this.#temporal.faults = { deafAttempts: 0 };
    const none = { lostAnswer: 0, lostStatement: 0 };
    this.#database.turns.faults = none;
    this.#source.faults = { ...this.#source.faults, lostQuery: 0, shortPage: 0, stalled: 0, stalledById: 0 };
    this.#feed.faults = { forgotten: 0, unnamed: 0, lostAfter: [] };
    this.#platform.faults = {
      lostRequest: 0,
      lostResponse: 0,
      impatient: 0,
      busy: 0,
      late: 0,
      twice: 0,
      invisible: 0,
      silent: 0,
      unordered: false,
    };
  }

  /** Faults stop, and what is left must come right: the platform has what the source has. */
  async #recover(): Promise<void> {
    this.#endFaults();
    await Promise.all(this.#forParents);
    while (this.#source.openTransactions > 0) await this.#kernel.sleep(1000);
    this.#writer.addLast();
    await this.#kernel.sleep(70_000);
    if (this.#lasting !== null && !(await this.#untilDelivered(this.#lasting))) return;
    setSizes({ ...this.#plan.sizes, ...SIZES_OF_RECOVERY });
    this.#source.faults = { ...this.#source.faults, slowest: 20 };
    // They alone must have missed no row; a mirror run reads all of them, and finds what is gone.
    if ((await this.#untilSettled(this.#plan.lastMode)) === null) return;
    this.#checker.records(this.#platform);
    if (this.#plan.settings.isFed) this.#checker.vanished(this.#platform);
    const report = await this.#untilSettled('mirror');
    if (report === null) return;
    this.#checker.records(this.#platform);
    this.#checker.vanished(this.#platform);
    await this.#checker.read('the last run', report, Object.keys(SHAPES), this.#kernel.now);
    await this.#checker.ledgerNow(this.#platform);
    await this.#checker.ledger();
    if (this.#plan.writer.strangers) await this.#hideLast();
  }

  /** A row whose tenant nobody knows may be that of a record whose row is gone. Nobody marks the record before that row is gone, too. */
  async #hideLast(): Promise<void> {
    const { key, leave } = this.#writer.hideLast();
    await this.#kernel.sleep(70_000);
    const mode = this.#plan.settings.isFed ? 'incremental' : 'mirror';
    await this.#ended(this.#temporal.start('sync', `hidden-${mode}`, { sync: SYNC, mode }));
    this.#checker.isNotMarked(this.#platform, key);
    leave();
    await this.#kernel.sleep(70_000);
    if ((await this.#untilSettled(mode, 'after')) !== null) this.#checker.vanished(this.#platform);
  }

  /** A run in mode live that nobody stops before all is delivered. If it ends by itself, it is started again, as a schedule would do. */
  async #goOn(workflowId: string): Promise<void> {
    for (let no = 1; !this.#isLastingOver; no++) {
      if (no > 1) await this.#kernel.sleep(10_000);
      this.#lastingId = `${workflowId}-${no}`;
      await this.#perform(undisturbed('live'), this.#lastingId);
    }
  }

  /** Faults are over, and the lasting run goes on: it alone must bring the platform what it lacks, and mark what is gone unless that is on hold. */
  async #untilDelivered(lasting: Promise<void>): Promise<boolean> {
    const { holdsStay } = this.#plan.lasting!;
    const platform = this.#platform;
    const wrong = (): string[] => [
      ...this.#checker.missing(platform, 'while a live run goes on'),
      ...(holdsStay ? [] : this.#checker.left(platform)),
    ];
    for (const began = this.#kernel.now; wrong().length > 0; await this.#kernel.sleep(20_000)) {
      if (this.#kernel.now - began < LONGEST_RECOVERY) continue;
      for (const each of wrong()) this.#chronicle.violate(each);
      return false;
    }
    this.#chronicle.saw('a live run went on until all was delivered');
    this.#isLastingOver = true;
    const isOver = lasting.then(() => true);
    do this.#temporal.cancel(this.#lastingId);
    while (!(await Promise.race([isOver, this.#kernel.sleep(30_000).then(() => false)])));
    return true;
  }

  /** Runs again and again until one has left nothing open; returns its report, or null if none does. */
  async #untilSettled(mode: 'incremental' | 'live' | 'mirror', name = 'final'): Promise<RunReport | null> {
    const began = this.#kernel.now;
    for (let no = 1; ; no++) {
      const workflowId = `${name}-${mode}-${no}`;
      const execution = this.#temporal.start('sync', workflowId, { sync: SYNC, mode });
      if (mode === 'live') void this.#cancelAfter(workflowId, 20_000 * no);
      const ended = await this.#ended(execution);
      const report = ended.status === 'COMPLETED' ? (ended.result as RunReport) : reportOf(ended);
      if (report !== null) {
        this.#checker.report(ended.name.workflowId, report);
        await this.#checker.nothingLeft(ended.name.workflowId, report);
      }
      if (report !== null && this.#isSettled(mode, report)) return report;
      if (this.#kernel.now - began > LONGEST_RECOVERY) {
        const minutes = LONGEST_RECOVERY / 60_000;
        this.#chronicle.violate(
          `no ${mode} run has come to its end within ${minutes} minutes without faults: ${ended.status} ${String(ended.failure)} ${JSON.stringify(report)}`,
        );
        return null;
      }
      // Waiting records are tried again less and less often.
      await this.#kernel.sleep(Math.min(600_000, 60_000 * no));
    }
  }

  /** Whether a run has left nothing but what cannot be delivered. Only a run that reads all rows closes dead letters of vanished ones. */
  #isSettled(mode: 'incremental' | 'live' | 'mirror', { outcome }: RunReport): boolean {
    if (outcome === 'complete_with_dead_letters') return mode !== 'mirror' || this.#checker.hasUndeliverable();
    return outcome === 'complete';
  }

  async #perform(run: PlannedRun, workflowId: string, [type, input] = this.#inputOf(run)): Promise<void> {
    const began = this.#kernel.now;
    const visible = this.#source.watermark;
    this.#chronicle.note(`starts ${workflowId}: ${type} ${JSON.stringify(input)}`);
    const execution = this.#temporal.start(type, workflowId, input);
    const ended = this.#ended(execution);
    const besideLive = this.#live.size > 0;
    if (run.kind === 'live') this.#live.add(workflowId);
    if (run.intervention !== null) {
      await Promise.race([ended, this.#kernel.sleep(run.interveneAfter)]);
      if (execution().status === 'RUNNING') await this.#intervene(run.intervention, workflowId);
      // Nothing else ends it.
      if (run.kind === 'live') void this.#cancelAfter(workflowId, this.#random.between(0, 20_000));
    }
    const { status, result, failure } = await ended;
    this.#live.delete(workflowId);
    if (status === 'FAILED') this.#chronicle.saw(`a run failed`);
    const report = status === 'COMPLETED' ? (result as RunReport) : reportOf({ failure });
    this.#chronicle.note(
      `${workflowId} ${status}: ${report === null ? String((failure as Error | null)?.message) : JSON.stringify(report)}`,
    );
    if (report === null) return;
    this.#checker.report(workflowId, report);
    await this.#checker.nothingLeft(workflowId, report);
    // A backfill may report other mappings, too, of which it has fetched parents.
    const { mappings = Object.keys(SHAPES) } = input as { mappings?: string[] };
    const readsAll = ['range', 'orders'].includes(run.kind) || ['full', 'mirror'].includes(report.mode);
    if (report.kind === 'sync' && report.outcome === 'complete')
      this.#checker.delivered(this.#platform, workflowId, visible);
    if (readsAll && report.kind === 'sync' && besideLive) this.#chronicle.saw('a run read every row beside a live one');
    if (readsAll) await this.#checker.read(workflowId, report, mappings, began);
  }

  /** Often somebody does not wait for the next run. */
  #deliverLateParent(id: string): void {
    if (!this.#random.chance(0.5)) return;
    this.#chronicle.saw('a parent that came late was delivered by hand');
    const workflowId = `parent-${this.#forParents.length + 1}`;
    const input = { sync: SYNC, mapping: 'customers', externalIds: [id] };
    const started = this.#kernel.sleep(this.#random.next() * 3000);
    this.#forParents.push(started.then(() => this.#perform(undisturbed('records'), workflowId, ['backfill', input])));
  }

  async #cancelAfter(workflowId: string, milliseconds: number): Promise<void> {
    await this.#kernel.sleep(milliseconds);
    if (this.#temporal.cancel(workflowId)) this.#chronicle.saw('a live run was told to stop');
  }

  #inputOf({ kind }: PlannedRun): ['sync' | 'backfill', object] {
    const random = this.#random;
    const of = { sync: SYNC };
    const table = this.#plan.crossing?.table ?? random.pick(Object.keys(SHAPES));
    if (kind === 'replay') return ['backfill', { ...of, replay: {} }];
    if (kind === 'range') return ['backfill', { ...of, mappings: [table] }];
    if (kind === 'orders') return ['backfill', { ...of, mappings: ['orders'] }];
    if (kind === 'records') {
      const ids = [
        ...new Set(
          [...this.#source.rows(table).values()].map((row) => row[SHAPES[table as keyof typeof SHAPES].column]!),
        ),
      ];
      return ['backfill', { ...of, mapping: table, externalIds: random.shuffled([...ids, '99999']).slice(0, 3) }];
    }
    return ['sync', { ...of, mode: kind }];
  }

  async #intervene(what: NonNullable<PlannedRun['intervention']>, workflowId: string): Promise<void> {
    this.#chronicle.note(`operator: ${what} ${workflowId}`);
    this.#chronicle.saw(`intervention: ${what}`);
    if (what === 'cancel') void this.#temporal.cancel(workflowId);
    else if (what === 'terminate') this.#temporal.terminate(workflowId);
    else if (what === 'setRate') this.#temporal.update(workflowId, 'setRate', { requestsAtOnce: 1 });
    else if (this.#temporal.update(workflowId, 'pause') && what === 'pause') {
      await this.#kernel.sleep(this.#random.between(1000, 40_000));
      this.#temporal.update(workflowId, 'resume');
    }
  }

  /** Resolves with the last execution once the workflow has ended. Holds are approved after a while, or not. */
  async #ended(execution: () => WorkflowExecution): Promise<WorkflowExecution> {
    const { workflowId } = execution().name;
    const isGuarded = this.#plan.settings.guard !== null;
    while (execution().status === 'RUNNING' || execution().status === 'CONTINUED_AS_NEW') {
      await this.#kernel.sleep(500);
      const isLeft = this.#plan.lasting?.holdsStay === true && !this.#isLastingOver;
      if (!isGuarded || isLeft || !this.#random.chance(this.#areFaultsOver ? 0.5 : 0.03)) continue;
      if (this.#temporal.update(workflowId, 'approve')) this.#chronicle.saw('a hold was approved');
    }
    return execution();
  }

  #startWorker(): void {
    const process = new SimulatedProcess(`worker-${++this.#workerNumbers}`);
    this.#chronicle.note(`${process.name} starts`);
    this.#kernel.after(1, () => void this.#bootWorker(process), process);
    process.whenKilled(() => this.#kernel.after(500 + this.#random.next() * 8000, () => this.#startWorker(), null));
  }

  async #bootWorker(process: SimulatedProcess): Promise<void> {
    const openReader: OpenReader = () => {
      const source = this.#source.open();
      return { source, chunks: (...args) => readChunks(source, ...args) };
    };
    const parts = compose(
      {
        PARTNER_SYNC_STATE_URL: 'postgres://ledger@127.0.0.1:5432/ledger',
        PARTNER_SYNC_MAPPINGS: this.#mappings,
        PLATFORM_BASE_URL: 'http://127.0.0.1:9',
        PLATFORM_TOKEN: 'simulated-token',
        SOURCE_URL: 'postgres://reader@127.0.0.1:5432/shop',
      },
      { read: openReader, openLedger: (url) => Promise.resolve(ledgerOn(openLedgerDatabase(url, { poolMin: 1 }))) },
    );
    const activities = createActivities(await parts.dependencies());
    const worker: SimulatedWorker = {
      process,
      free: new Map([
        [TASK_QUEUE, 16],
        [loadQueueOf(TASK_QUEUE), 2],
      ]),
      polls: true,
      activities: activities as unknown as SimulatedWorker['activities'],
    };
    this.#workers.push(worker);
    process.whenKilled(() => this.#workers.splice(this.#workers.indexOf(worker), 1));
    this.#temporal.addWorker(worker);
  }

  #watchBatches(): void {
    this.#kernel.after(
      2000 + this.#random.next() * 5000,
      () => {
        if (this.#areFaultsOver) return;
        void this.#checker.ledgerNow(this.#platform);
        this.#watchBatches();
      },
      null,
    );
  }

  #hit(process: SimulatedProcess, { point, hit, forMs }: Trap): void {
    if (!process.alive || this.#areFaultsOver) return;
    this.#chronicle.note(`${process.name} is hit: ${hit}${hit === 'freeze' ? ` for ${forMs} ms` : ''}`);
    this.#chronicle.saw(hit === 'kill' ? `a worker was killed at ${point}` : `a worker was frozen at ${point}`);
    if (hit === 'kill') process.kill();
    else process.frozenUntil = Math.max(process.frozenUntil, this.#kernel.now + forMs);
  }

  /** Something happened at which a trap may wait. `process`: whose it is, if that is known. */
  #happened(point: string, process: SimulatedProcess | null): void {
    const nth = (this.#reached.get(point) ?? 0) + 1;
    this.#reached.set(point, nth);
    for (const trap of this.#plan.traps) {
      if (trap.point !== point || trap.nth !== nth) continue;
      const target = process ?? this.#random.pick(this.#workers.length > 0 ? this.#workers : [null])?.process;
      if (target !== undefined) this.#kernel.after(trap.after, () => this.#hit(target, trap), null);
    }
  }

  #executed(sql: string, process: SimulatedProcess | null): void {
    this.#happened('statement', process);
    const { points, seen } = toldBy(sql);
    for (const point of points) if (point !== 'done') this.#happened(point, process);
    if (points.includes('removals')) this.#removing = process;
    if (points.includes('done')) this.#ending = process;
    if (process !== null && this.#ending === process && sql.startsWith('COMMIT')) this.#hasEndedPartition(process);
    for (const what of seen) this.#chronicle.saw(what);
  }

  /** Not before: a process that is frozen in a transaction loses it. */
  #hasEndedPartition(process: SimulatedProcess): void {
    this.#ending = null;
    this.#happened('done', process);
    if (this.#removing !== process) return;
    this.#removing = null;
    this.#happened('removed', process);
  }
}

/** The report of a run that has failed because it was incomplete. */
function reportOf({ failure }: Pick<WorkflowExecution, 'failure'>): RunReport | null {
  const { details } = (failure ?? {}) as { details?: unknown[] };
  const [report] = details ?? [];
  return (report as RunReport | undefined) ?? null;
}

function setSizes(sizes: Sizes): void {
  (globalThis as { partnerSyncSizes?: Sizes }).partnerSyncSizes = sizes;
}
