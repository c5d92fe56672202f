/** What one seed is about: its sizes, its settings, its faults, and what happens in it. Everything is drawn before it begins. */
import { ONLY_CHANGES } from './families.js';
import { fedIfDrawn, ofFeed, withWhatFeedsMiss } from './feed-stories.js';
import type { FeedFaults } from './feed-model.js';
import type { LedgerFaults } from './ledger-database.js';
import { undisturbed, type PlannedRun } from './planned-run.js';
import type { PlatformFaults } from './platform-model.js';
import { randomOf, type Random } from './random.js';
import type { ShopSettings, TableName } from './shop.js';
import type { SourceFaults } from './source-model.js';
import type { TemporalFaults } from './temporal-server.js';

/** Constants of the shipping code that would take a million rows to be reached (scripts/simulation/bundle.mjs). */
export interface Sizes {
  readonly firstPageRows: number;
  readonly pageRows: number;
  readonly firstChunkRows: number;
  readonly chunkRows: number;
  readonly chunksAtOnce: number;
  readonly partitionRows: number;
  readonly smallTenantRows: number;
}

/** A run in mode `live` with which nobody interferes: it must bring the platform to the state of the source while it goes on. */
export interface LastingRun {
  /** How many milliseconds it goes on before faults and changes end. */
  readonly lasts: number;
  /** Whether nobody approves what it holds until all rows have been delivered. */
  readonly holdsStay: boolean;
}

/** Where a worker is hit, and how: at the nth time that something happens. */
export interface Trap {
  readonly point: string;
  readonly nth: number;
  readonly hit: 'kill' | 'freeze';
  /** Milliseconds afterwards. */
  readonly after: number;
  /** How long it is frozen, in milliseconds. */
  readonly forMs: number;
}

/**
 * Runs that cross: several read a table at the same time, from a source whose pages stall, while its rows change and change
 * back. Then they are left alone, while some runs still hold what they read before: the end shows what became of it. No
 * worker and no server fails meanwhile.
 */
export interface Crossing {
  readonly table: TableName;
  /**
   * Whether each row changes once, gets back what it had after so many milliseconds at most, and is then left alone: what
   * became of it is not covered by a later change. Null if any row changes at any time.
   */
  readonly back: number | null;
}

export interface Plan {
  readonly seed: number;
  readonly sizes: Sizes;
  readonly settings: ShopSettings;
  readonly workers: number;
  readonly longHistory: number;
  readonly tenants: readonly string[];
  readonly customers: number;
  readonly crossing: Crossing | null;
  readonly lasting: LastingRun | null;
  readonly runs: readonly PlannedRun[];
  readonly traps: readonly Trap[];
  readonly temporal: TemporalFaults;
  readonly ledger: LedgerFaults;
  readonly source: SourceFaults;
  readonly feed: FeedFaults;
  /** Which runs must have missed nothing in the end; a mirror run follows them. */
  readonly lastMode: 'incremental' | 'live';
  readonly platform: PlatformFaults;
  /** Whether the platform takes no mark for a record that it does not have. */
  readonly wholeRecords: boolean;
  readonly writer: {
    /** Milliseconds between two changes, on average; null for none. */
    readonly every: number | null;
    /** Milliseconds that a transaction takes at most. */
    readonly longest: number;
    /** Milliseconds after which nothing changes any more; null if changes go on. */
    readonly lasts: number | null;
    readonly deletes: boolean;
    readonly moves: boolean;
    readonly badRows: boolean;
    readonly orphans: boolean;
    /** Whether rows come that are deleted soon after. */
    readonly shortLived: boolean;
    /** Whether rows come back soon after they were deleted. */
    readonly comeBack: boolean;
    /** Whether parents come after their children. */
    readonly lateParents: boolean;
    /** Whether children come without their parents, and are deleted before these come. */
    readonly briefChildren: boolean;
    /** Whether some of these get content that cannot be mapped before they are deleted. */
    readonly badChildren: boolean;
    /** Whether children move to parents that come later, and back. */
    readonly awaitedParents: boolean;
    /** Whether parents come with their children, and are gone some seconds later. */
    readonly briefParents: boolean;
    /** Whether rows of a tenant that the sync does not know come for a while, with external ids of others. */
    readonly strangers: boolean;
    /** Whether rows get a cursor value at times that does not tell when they changed. */
    readonly farAhead: boolean;
    /** Milliseconds for which a transaction stays open from the beginning on; null for none. */
    readonly leftOpen: number | null;
    /** Whether a table is emptied by TRUNCATE at times, and filled again. */
    readonly truncates: boolean;
    /** Whether most changes are of the same few rows, so that runs meet at them. */
    readonly hot: boolean;
    /** Whether rows also get back the content that they had before. */
    readonly reverts: boolean;
  };
}

const TRAP_POINTS = ['page', 'claim', '202', 'checkpoint', 'begin', 'statement'] as const;

export function planOf(seed: number): Plan {
  const random = randomOf(seed, 'plan');
  const inDoubtDelay = random.pick([4, 10, 30]);
  const isCrossing = random.chance(0.25);
  /** Small and busy, so that much happens to the same rows. */
  const hot = isCrossing || random.chance(0.4);
  const plan = storyOf(seed, random, { inDoubtDelay, hot });
  const fed = fedIfDrawn(isCrossing ? ofCrossingRuns(plan, randomOf(seed, 'crossing')) : plan, randomOf(seed, 'feed'));
  const story = fed.settings.isFed ? ofFeed(fed, seed) : fed;
  const told = withDeathsWhileSending(story, randomOf(seed, 'deaths-while-sending'));
  const back = withRowsThatComeBack(withSlowPlatform(told, randomOf(seed, 'a-minute')), randomOf(seed, 'come-back'));
  const strange = withAwaitedParents(withStrangers(back, randomOf(seed, 'strangers')), randomOf(seed, 'awaited'));
  return strange.settings.isFed
    ? withWhatFeedsMiss(strange, seed)
    : withTransactionLeftOpen(withRowsFarAhead(strange, randomOf(seed, 'far-ahead')), randomOf(seed, 'left-open'));
}

function storyOf(seed: number, random: Random, { inDoubtDelay, hot }: { inDoubtDelay: number; hot: boolean }): Plan {
  /** Swarm: each kind of fault is in about half of the seeds. */
  const some = (probability: number): number => (random.chance(0.5) ? random.next() * probability : 0);
  return {
    seed,
    sizes: {
      firstPageRows: random.between(1, hot ? 2 : 5),
      pageRows: random.between(1, hot ? 3 : 8),
      firstChunkRows: random.between(1, hot ? 2 : 6),
      chunkRows: random.between(1, hot ? 3 : 12),
      chunksAtOnce: random.pick([1, 1, 2, 4]),
      partitionRows: random.between(8, 60),
      smallTenantRows: random.between(1, 8),
    },
    settings: {
      batchSize: random.between(1, 6),
      requestsAtOnce: random.between(1, 8),
      inDoubtDelay,
      batchDeadline: Math.ceil(inDoubtDelay * (1 + random.next())),
      waitForPending: random.between(1, 20),
      dependencyWait: random.pick([0, 0, 3, 20]),
      overlap: random.pick([0, 0, 30]),
      guard: random.chance(0.2)
        ? `{ changed: ${random.between(5, 40)} %, records: ${random.between(1, 6)}, wait: 30s }`
        : null,
      isFed: false,
    },
    workers: random.between(1, 3),
    longHistory: random.pick([60, 120, 400, 10_000]),
    tenants: random.shuffled(['n', 's', 'w']).slice(0, random.between(1, hot ? 2 : 3)),
    customers: hot ? random.between(1, 3) : random.between(2, 5),
    crossing: null,
    lasting: null,
    runs: runsOf(random, hot),
    traps: hot && random.chance(0.5) ? longFreezes(random, inDoubtDelay) : trapsOf(random, inDoubtDelay),
    temporal: { deafAttempts: some(0.6) },
    ledger: { lostAnswer: some(0.01), lostStatement: some(0.01) },
    source: {
      lostQuery: some(0.1),
      shortPage: some(0.5),
      stalled: some(0.15),
      longestStall: 12_000,
      stalledById: 0,
      slowest: random.chance(hot ? 0.6 : 0.3) ? 1500 : 20,
    },
    feed: { forgotten: 0, unnamed: 0, lostAfter: [] },
    lastMode: 'incremental',
    platform: {
      lostRequest: some(0.1),
      lostResponse: some(0.1),
      impatient: some(0.1),
      busy: some(0.15),
      late: some(0.5),
      twice: some(0.3),
      invisible: some(0.3),
      silent: some(1),
      unordered: false,
    },
    wholeRecords: randomOf(seed, 'whole-records').chance(0.5),
    writer: {
      every: hot || random.chance(0.6) ? random.pick(hot ? [150, 500, 1500] : [300, 1000, 4000]) : null,
      longest: random.pick([10, 2000, hot ? 10 : 20_000]),
      lasts: null,
      deletes: random.chance(0.5),
      moves: random.chance(0.4),
      badRows: random.chance(0.4),
      orphans: random.chance(0.3),
      shortLived: false,
      comeBack: false,
      lateParents: false,
      briefChildren: false,
      badChildren: false,
      awaitedParents: false,
      briefParents: false,
      strangers: false,
      farAhead: false,
      leftOpen: null,
      truncates: false,
      hot,
      reverts: random.chance(0.4),
    },
  };
}

/**
 * In two fifths of the stories without crossing runs, workers die when the platform has just taken a batch, before anybody knows
 * its id; the parents of some children come after them; and the platform accepts what it has kept in any order.
 */
const withDeathsWhileSending = (plan: Plan, random: Random): Plan =>
  plan.crossing !== null || random.chance(0.6)
    ? plan
    : {
        ...plan,
        settings: { ...plan.settings, dependencyWait: random.pick([0, 3, 20, 60]) },
        traps: [
          ...plan.traps,
          ...Array.from({ length: random.between(1, 5) }, (): Trap => ({
            point: '202',
            nth: random.between(1, 25),
            hit: 'kill',
            after: 0,
            forMs: 0,
          })),
        ],
        platform: { ...plan.platform, late: random.next() * 0.5, unordered: true },
        writer: { ...plan.writer, lateParents: true },
      };

/** In half of these, the platform may take longer for a batch than a worker's death goes unnoticed. */
const withSlowPlatform = (plan: Plan, random: Random): Plan =>
  !plan.writer.lateParents || random.chance(0.5)
    ? plan
    : {
        ...plan,
        settings: { ...plan.settings, inDoubtDelay: 60, batchDeadline: Math.ceil(60 * (1 + random.next())) },
        platform: { ...plan.platform, late: 0.3 + random.next() * 0.5 },
      };

/** In a fifth of the stories without crossing runs. */
const withStrangers = (plan: Plan, random: Random): Plan =>
  plan.crossing !== null || random.chance(0.8) ? plan : { ...plan, writer: { ...plan.writer, strangers: true } };

/** In a fifth of the stories without a change feed. */
const withRowsFarAhead = (plan: Plan, random: Random): Plan =>
  random.chance(0.8) ? plan : { ...plan, writer: { ...plan.writer, farAhead: true } };

/**
 * In a fifth of the stories without a change feed and crossing runs, a transaction is open for minutes, and one or two incremental runs
 * begin while it is.
 */
const withTransactionLeftOpen = (plan: Plan, random: Random): Plan =>
  plan.crossing !== null || random.chance(0.8)
    ? plan
    : {
        ...plan,
        runs: [
          ...plan.runs,
          undisturbed('incremental', random.between(62_000, 90_000)),
          undisturbed('incremental', random.between(5000, 60_000), true),
        ],
        writer: {
          ...plan.writer,
          every: Math.max(1500, plan.writer.every ?? 4000),
          leftOpen: random.between(100_000, 300_000),
        },
      };

/**
 * In a sixth of the stories with crossing runs, there are twice as many, which read orders; these are moved to customers that come
 * later, back, and to these once more.
 */
const withAwaitedParents = (plan: Plan, random: Random): Plan =>
  plan.crossing === null || random.chance(5 / 6)
    ? plan
    : {
        ...plan,
        settings: { ...plan.settings, dependencyWait: 60, waitForPending: random.between(1, 3) },
        customers: 8,
        crossing: { table: 'orders', back: null },
        runs: [...plan.runs, ...crossingRuns(random).slice(1)].map((run) => ({
          ...run,
          startAfter: random.between(0, 4000),
        })),
        source: { ...plan.source, stalled: 0.1, stalledById: 0.7, longestStall: 40_000 },
        writer: {
          ...plan.writer,
          ...ONLY_CHANGES,
          every: 300,
          lasts: random.between(30_000, 60_000),
          awaitedParents: true,
        },
      };

/** In half of the stories in which rows are deleted, they come back. */
const withRowsThatComeBack = (plan: Plan, random: Random): Plan =>
  plan.writer.deletes && random.chance(0.5) ? { ...plan, writer: { ...plan.writer, comeBack: true } } : plan;

/** The same story with runs that cross, and without the faults that would only hold them up. */
function ofCrossingRuns(plan: Plan, random: Random): Plan {
  const customers = random.between(3, 6);
  const table = random.pick(['customers', 'customers', 'orders', 'lines'] as const);
  const lasts = random.between(3000, 15_000);
  return {
    ...plan,
    settings: { ...plan.settings, overlap: 0 },
    customers,
    crossing: { table, back: random.chance(0.6) ? random.pick([300, 1500, 5000]) : null },
    runs: crossingRuns(random),
    traps: [],
    temporal: { deafAttempts: 0 },
    ledger: { lostAnswer: 0, lostStatement: 0 },
    source: { ...plan.source, lostQuery: 0, stalled: 0.05 + random.next() * 0.15, slowest: 20 },
    writer: { ...plan.writer, every: random.pick([150, 400]), lasts, badRows: false, reverts: random.chance(0.7) },
  };
}

function runsOf(random: Random, hot: boolean): PlannedRun[] {
  const kinds = ['incremental', 'incremental', 'full', 'mirror', 'records', 'replay', 'range', 'range'] as const;
  return Array.from({ length: hot ? random.between(3, 6) : random.between(1, 3) }, (_, i) => ({
    kind: i === 0 ? random.pick(['incremental', 'full'] as const) : random.pick(kinds),
    startAfter: random.between(0, hot ? 6000 : 15_000),
    waits: random.chance(hot ? 0.2 : 0.5),
    intervention: random.chance(0.35) ? random.pick(['cancel', 'terminate', 'pause', 'setRate'] as const) : null,
    interveneAfter: random.between(100, 20_000),
  }));
}

function crossingRuns(random: Random): PlannedRun[] {
  const run = (kind: PlannedRun['kind']): PlannedRun => undisturbed(kind, random.between(0, 1000));
  const others = Array.from({ length: random.between(6, 10) }, () =>
    run(random.pick(['incremental', 'incremental', 'range'])),
  );
  return [run('full'), { ...others[0]!, waits: true }, ...others.slice(1)];
}

const trapsOf = (random: Random, inDoubtDelay: number): Trap[] =>
  Array.from({ length: random.chance(0.75) ? random.between(1, 7) : 0 }, () => ({
    point: random.pick(TRAP_POINTS),
    nth: random.chance(0.3) ? random.between(1, 400) : random.between(1, 15),
    hit: random.chance(0.5) ? 'kill' : 'freeze',
    after: random.chance(0.5) ? 0 : random.next() * 20,
    // Shorter and longer than a heartbeat's timeout, and than all that a batch in doubt waits for.
    forMs: random.pick([3000, 8000, 11_000, 14_000, 25_000, 60_000, 2500 * inDoubtDelay]),
  }));

/** Workers that are taken for dead while they hold claims, and then go on as if nothing had happened. */
const longFreezes = (random: Random, inDoubtDelay: number): Trap[] =>
  Array.from({ length: random.between(2, 5) }, () => ({
    point: random.pick(['claim', 'claim', 'page', '202', 'checkpoint']),
    nth: random.between(1, 15),
    hit: 'freeze',
    after: random.next() * 20,
    forMs: random.pick([14_000, 25_000, 2500 * inDoubtDelay, 4000 * inDoubtDelay]),
  }));
