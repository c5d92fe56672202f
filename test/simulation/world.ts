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
import { LONGEST_RECOVERY, Operators, reportOf } from './operators.js';
import type { Plan, Sizes } from './plan.js';
import { PlatformModel } from './platform-model.js';
import { randomOf, type Random } from './random.js';
import { SCHEMAS, SHAPES, SYNC, TABLES } from './shop.js';
import { setCurrent } from './simulation.js';
import { SourceModel } from './source-model.js';
import { TemporalServer, type SimulatedWorker } from './temporal-server.js';
import { Traps } from './traps.js';
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

const TASK_QUEUE = 'partner-sync';
/** Faults, and changes of the source, end after so many milliseconds: where both go on for ever, a run may never catch up. */
const LONGEST_STORY = 300_000;
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
  readonly #checker: Checker;
  readonly #traps: Traps;
  readonly #operators: Operators;
  readonly #mappings: string;
  readonly #random: Random;
  #workerNumbers = 0;
  #areFaultsOver = false;

  /** `mappings`: a folder that contains the sync's folder. */
  constructor(plan: Plan, database: LedgerDatabase, mappings: string) {
    const kernel = this.#kernel;
    const random = (stream: string): Random => randomOf(plan.seed, stream);
    this.#plan = plan;
    this.#database = database;
    this.#mappings = mappings;
    this.#random = random('world');
    const { note, saw: sometimes } = this.#chronicle;
    const areFaultsOver = (): boolean => this.#areFaultsOver;
    const common = { kernel, random: this.#random, chronicle: this.#chronicle, areFaultsOver };
    const workers = (): SimulatedProcess[] => this.#workers.map(({ process }) => process);
    this.#traps = new Traps({ ...common, traps: plan.traps, workers });
    const happened = (point: string): void => this.#traps.happened(point, kernel.process);
    this.#feed = new FeedModel(random('feed-model'), TABLES, plan.feed, sometimes);
    this.#source = new SourceModel(kernel, random('source'), TABLES, plan.source, this.#feed, happened);
    this.#writer = new Writer(kernel, random('writer'), plan, this.#source, this.#chronicle, {
      whenParentCame: (id) => this.#operators.deliverByHand('customers', id, 'a parent that came late'),
      whenMovedBack: (no) => this.#operators.deliverByHand('orders', no, 'a row that was moved back'),
      isDelivered: (table, row) => this.#checker.isDelivered(this.#platform, table, row),
    });
    this.#checker = new Checker(this.#source, this.#writer, database, this.#chronicle);
    this.#platform = new PlatformModel({
      kernel,
      random: random('platform'),
      schemas: SCHEMAS,
      faults: plan.platform,
      wholeRecords: plan.wholeRecords,
      inDoubtDelay: plan.settings.inDoubtDelay * 1000,
      mostRecords: 4,
      happened: (point, process) => this.#traps.happened(point, process),
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
    this.#operators = new Operators({
      ...common,
      plan,
      source: this.#source,
      platform: this.#platform,
      temporal: this.#temporal,
      checker: this.#checker,
      checkpoints: () => this.#traps.reached('checkpoint'),
    });
    database.begin({
      kernel,
      random: random('ledger'),
      faults: plan.ledger,
      idleLimit: milliseconds('ledgerIdleTransaction'),
      executed: (sql, process) => this.#traps.executed(sql, process),
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
        this.#operators.beginLasting(`run-${no + 1}`);
        continue;
      }
      const perform = (): Promise<void> => this.#operators.perform(run, `run-${no + 1}`);
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
    await this.#operators.untilDeliveredByHand();
    while (this.#source.openTransactions > 0) await this.#kernel.sleep(1000);
    this.#writer.addLast();
    await this.#kernel.sleep(70_000);
    if (!(await this.#operators.untilLastingHasDelivered())) return;
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
    await this.#operators.ended(this.#temporal.start('sync', `hidden-${mode}`, { sync: SYNC, mode }));
    this.#checker.isNotMarked(this.#platform, key);
    leave();
    await this.#kernel.sleep(70_000);
    if ((await this.#untilSettled(mode, 'after')) !== null) this.#checker.vanished(this.#platform);
  }

  /** Runs again and again until one has left nothing open; returns its report, or null if none does. */
  async #untilSettled(mode: 'incremental' | 'live' | 'mirror', name = 'final'): Promise<RunReport | null> {
    const began = this.#kernel.now;
    for (let no = 1; ; no++) {
      const workflowId = `${name}-${mode}-${no}`;
      const execution = this.#temporal.start('sync', workflowId, { sync: SYNC, mode });
      if (mode === 'live') void this.#operators.cancelAfter(workflowId, 20_000 * no);
      const ended = await this.#operators.ended(execution);
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
}

function setSizes(sizes: Sizes): void {
  (globalThis as { partnerSyncSizes?: Sizes }).partnerSyncSizes = sizes;
}
