/** Stories in which a change feed tells which rows have changed. */
import { ONLY_CHANGES } from './families.js';
import type { Plan, Trap } from './plan.js';
import { undisturbed, type PlannedRun } from './planned-run.js';
import { randomOf, type Random } from './random.js';

/** In a third of the seeds, a change feed tells which rows have changed. */
export const fedIfDrawn = (plan: Plan, random: Random): Plan =>
  random.chance(1 / 3)
    ? {
        ...plan,
        settings: { ...plan.settings, isFed: true },
        feed: {
          forgotten: random.chance(0.5) ? random.next() * 0.5 : 0,
          unnamed: 0,
          lostAfter: random.chance(0.3) ? [random.between(3000, 60_000)] : [],
        },
      }
    : plan;

export const ofFeed = (plan: Plan, seed: number): Plan => {
  const unfinished = withUnfinishedRuns(withLiveRuns(plan, randomOf(seed, 'live')), randomOf(seed, 'unfinished'));
  return withStoppedLoad(unfinished, randomOf(seed, 'stopped-load'));
};

/** What comes after all other stories, so that these stay what they are. */
export const withWhatFeedsMiss = (plan: Plan, seed: number): Plan => {
  const brief = withBriefChildren(plan, randomOf(seed, 'brief-children'));
  const awaited = withChildrenThatMove(brief, randomOf(seed, 'children-that-move'));
  const worse = withBadChildren(awaited, randomOf(seed, 'bad-children'));
  const hasty = withHastyRuns(worse, randomOf(seed, 'hasty'));
  const lasting = withLastingRun(hasty, randomOf(seed, 'lasting'));
  const frozen = withFrozenRemovals(lasting, randomOf(seed, 'frozen-removals'));
  const goingOn = withLoadToGoOnWith(frozen, randomOf(seed, 'load-to-go-on-with'));
  const brieflyThere = withBriefParents(goingOn, randomOf(seed, 'brief-parents'));
  return withUnnamedChanges(brieflyThere, randomOf(seed, 'unnamed'));
};

/** In a third of these stories, the feed does not tell of each row that it has changed, and tables are emptied. */
const withUnnamedChanges = (plan: Plan, random: Random): Plan =>
  random.chance(2 / 3)
    ? plan
    : {
        ...plan,
        feed: { ...plan.feed, unnamed: random.chance(0.7) ? random.pick([0.01, 0.05]) : 0 },
        writer: { ...plan.writer, truncates: !plan.writer.awaitedParents && random.chance(0.7) },
      };

/** Some of its runs follow the feed, until somebody cancels or terminates them; beside some of these, another one reads every row. */
const withLiveRuns = (plan: Plan, random: Random): Plan => ({
  ...plan,
  runs: plan.runs.flatMap((run): PlannedRun[] => {
    if (run.kind !== 'incremental' || random.chance(0.5)) return [run];
    const live: PlannedRun = {
      ...run,
      kind: 'live',
      intervention: random.pick(['cancel', 'cancel', 'pause', 'terminate'] as const),
      interveneAfter: random.between(1000, plan.crossing === null ? 40_000 : 8000),
    };
    if (random.chance(0.5)) return [live];
    const beside = random.pick(['mirror', 'mirror', 'full'] as const);
    return [live, undisturbed(beside, random.between(0, live.interveneAfter))];
  }),
  lastMode: random.pick(['incremental', 'live'] as const),
});

/**
 * In half of these stories, runs end with something left that only the feed's list of changed rows has: loads of many partitions,
 * removals that nobody approves, and rows that are gone before their records have arrived.
 */
const withUnfinishedRuns = (plan: Plan, random: Random): Plan =>
  plan.crossing !== null || random.chance(0.5)
    ? plan
    : {
        ...plan,
        sizes: { ...plan.sizes, partitionRows: random.between(2, 10) },
        settings: {
          ...plan.settings,
          guard: `{ gone: ${random.between(1, 30)} %, records: ${random.between(1, 4)}, wait: ${random.between(1, 30)}s }`,
        },
        runs: plan.runs.map((run) => (random.chance(0.3) ? { ...run, ...stoppedEarly(random) } : run)),
        writer: { ...plan.writer, shortLived: true },
      };

/** In a third of these stories, the first run is stopped while it reads every row, and the next one goes on with what is left. */
const withStoppedLoad = (plan: Plan, random: Random): Plan =>
  plan.crossing !== null || random.chance(2 / 3)
    ? plan
    : {
        ...plan,
        ...ofManyChunks(plan, random),
        runs: [
          { ...undisturbed('incremental'), ...stoppedEarly(random), afterCheckpoints: random.between(2, 12) },
          undisturbed('incremental', random.between(0, 5000), true),
          ...plan.runs.slice(1),
        ],
      };

/** Rows in several partitions of several chunks each, so that a load can be stopped in the middle of one. */
const ofManyChunks = (plan: Plan, random: Random): Pick<Plan, 'sizes' | 'customers'> => ({
  sizes: {
    ...plan.sizes,
    firstPageRows: 1,
    pageRows: random.between(1, 2),
    firstChunkRows: 1,
    chunkRows: random.between(1, 2),
    partitionRows: random.between(3, 8),
  },
  customers: Math.max(5, plan.customers),
});

const stoppedEarly = (random: Random): Pick<PlannedRun, 'intervention' | 'interveneAfter'> => ({
  intervention: random.pick(['cancel', 'terminate']),
  interveneAfter: random.between(100, 5000),
});

/**
 * In a fifth of the stories with a feed, a live run goes on for so long that children are deleted while the platform keeps them for
 * their parents, which come afterwards. In some of these, the feed loses changes meanwhile.
 */
const withBriefChildren = (plan: Plan, random: Random): Plan =>
  plan.crossing !== null || random.chance(0.8)
    ? plan
    : {
        ...plan,
        settings: { ...plan.settings, dependencyWait: 60, guard: null, inDoubtDelay: 4, batchDeadline: 8 },
        source: { ...plan.source, slowest: 20, stalled: 0, lostQuery: random.chance(0.7) ? 0 : plan.source.lostQuery },
        feed: { ...plan.feed, lostAfter: random.chance(0.4) ? [random.between(20_000, 90_000)] : [] },
        traps: plan.traps.slice(0, 2),
        runs: [
          undisturbed('incremental'),
          { ...undisturbed('live', 0, true), intervention: 'cancel', interveneAfter: random.between(60_000, 120_000) },
        ],
        writer: { ...plan.writer, every: random.pick([300, 1000]), longest: 2000, briefChildren: true },
      };

/**
 * In a tenth of the others, children move to parents that come some seconds later, and back, while requests arrive after their
 * connection was lost: the platform rejects what is sent again, and then takes what was sent before.
 */
const withChildrenThatMove = (plan: Plan, random: Random): Plan =>
  plan.crossing !== null || plan.writer.briefChildren || random.chance(0.9)
    ? plan
    : {
        ...plan,
        settings: { ...plan.settings, dependencyWait: 0, guard: null, inDoubtDelay: 30, batchDeadline: 45 },
        source: { ...plan.source, slowest: 20, stalled: 0, lostQuery: 0 },
        ledger: { lostAnswer: 0, lostStatement: 0 },
        platform: {
          ...plan.platform,
          impatient: 0.2 + 0.2 * random.next(),
          unordered: true,
        },
        traps: plan.traps.slice(0, 1),
        runs: [
          undisturbed('incremental'),
          { ...undisturbed('live', 0, true), intervention: 'cancel', interveneAfter: random.between(60_000, 120_000) },
        ],
        customers: 8,
        writer: {
          ...plan.writer,
          ...ONLY_CHANGES,
          every: random.pick([300, 1000]),
          longest: 10,
          awaitedParents: true,
        },
      };

/** In half of these, workers die when they have just sent some, which then change to what cannot be mapped before they are deleted. */
const withBadChildren = (plan: Plan, random: Random): Plan =>
  !plan.writer.briefChildren || random.chance(0.5)
    ? plan
    : {
        ...plan,
        ledger: { lostAnswer: 0, lostStatement: 0 },
        traps: Array.from({ length: random.between(2, 6) }, (): Trap => ({
          point: '202',
          nth: random.between(1, 40),
          hit: 'kill',
          after: 0,
          forMs: 0,
        })),
        writer: { ...plan.writer, badChildren: true },
      };

/** In a third of the stories with live runs, some of these are paused or told to stop when they have hardly begun. */
const withHastyRuns = (plan: Plan, random: Random): Plan =>
  random.chance(2 / 3)
    ? plan
    : {
        ...plan,
        runs: plan.runs.map((run) =>
          run.kind === 'live' && random.chance(0.7)
            ? {
                ...run,
                intervention: random.pick(['cancel', 'leavePaused'] as const),
                interveneAfter: random.between(1, 2000),
              }
            : run,
        ),
      };

/**
 * In a quarter of the stories without crossing runs, one of a few runs is in mode live and goes on, while changes are lost again
 * and again, rows come and go, and workers freeze when they have just finished a partition.
 */
const withLastingRun = (plan: Plan, random: Random): Plan => {
  if (plan.crossing !== null || plan.writer.briefChildren || plan.writer.awaitedParents || random.chance(0.75))
    return plan;
  const lasts = random.between(20_000, 60_000);
  const holdsStay = random.chance(0.5);
  const others = Array.from({ length: random.between(0, 2) }, () =>
    undisturbed(random.pick(['full', 'mirror', 'range', 'records', 'replay'] as const), random.between(0, 8000)),
  );
  return {
    ...plan,
    lasting: { lasts, holdsStay },
    // Otherwise it would hardly get anywhere before it has to begin anew.
    ledger: { lostAnswer: plan.ledger.lostAnswer / 20, lostStatement: plan.ledger.lostStatement / 20 },
    workers: Math.max(2, plan.workers),
    settings: {
      ...plan.settings,
      guard: holdsStay
        ? `{ changed: 100 %, deadLettered: 100 %, gone: ${random.between(1, 10)} %, records: ${random.between(0, 2)}, wait: ${random.between(1, 30)}s }`
        : null,
    },
    runs: [
      ...(random.chance(0.5) ? [undisturbed('incremental', random.between(0, 8000))] : []),
      undisturbed('live', random.between(0, 8000), true),
      ...others,
    ],
    feed: {
      ...plan.feed,
      lostAfter: Array.from({ length: random.between(0, 5) }, () => random.between(500, lasts + 20_000)),
    },
    traps: [
      ...plan.traps.slice(0, 3),
      ...Array.from({ length: random.between(0, 6) }, (): Trap => ({
        point: 'done',
        nth: random.between(1, 40),
        hit: 'freeze',
        after: 0,
        forMs: random.pick([14_000, 25_000, 40_000]),
      })),
    ],
    lastMode: 'live',
    writer: {
      ...plan.writer,
      every: random.pick([300, 1000]),
      longest: random.pick([10, 2000]),
      lasts: lasts + 20_000,
      deletes: true,
      shortLived: true,
    },
  };
};

/**
 * In a third of these, the rows are loaded before, and workers freeze when they are about to end a removal plan; meanwhile others end
 * it, and open it again for more than they may remove unasked.
 */
const withFrozenRemovals = (plan: Plan, random: Random): Plan =>
  plan.lasting === null || random.chance(2 / 3)
    ? plan
    : {
        ...plan,
        lasting: { lasts: random.between(80_000, 120_000), holdsStay: true },
        ledger: { lostAnswer: 0, lostStatement: 0 },
        source: { ...plan.source, lostQuery: 0, stalled: 0, slowest: 20 },
        settings: {
          ...plan.settings,
          guard: `{ changed: 100 %, deadLettered: 100 %, gone: 1 %, records: ${random.between(1, 3)}, wait: 30s }`,
        },
        runs: [undisturbed('incremental'), undisturbed('live', 0, true)],
        feed: { ...plan.feed, lostAfter: [] },
        traps: Array.from({ length: random.between(1, 4) }, (): Trap => ({
          point: 'removed',
          nth: random.between(4, 12),
          hit: 'freeze',
          after: 0,
          forMs: random.pick([25_000, 40_000]),
        })),
        writer: { ...plan.writer, lasts: null },
      };

/** In half of these, the first run is stopped while it reads every row, and the one that goes on has to go on with that as well. */
const withLoadToGoOnWith = (plan: Plan, random: Random): Plan =>
  plan.lasting === null || plan.traps.some(({ point }) => point === 'removed') || random.chance(0.5)
    ? plan
    : {
        ...plan,
        ...ofManyChunks(plan, random),
        runs: [
          { ...undisturbed('incremental'), intervention: 'cancel', afterCheckpoints: random.between(2, 12) },
          ...plan.runs.filter(({ kind }) => kind !== 'incremental'),
        ],
      };

/**
 * In a tenth of the stories with a feed, the parents of a few children come and go within seconds, while backfills read these children and look
 * up their parents, of which the feed tells others at the same time. Little else happens, so that all of them get on.
 */
const withBriefParents = (plan: Plan, random: Random): Plan => {
  if (plan.crossing !== null || plan.lasting !== null || random.chance(0.85)) return plan;
  if (plan.writer.briefChildren || plan.writer.awaitedParents) return plan;
  const lasts = random.between(40_000, 80_000);
  return {
    ...plan,
    settings: { ...plan.settings, guard: null, overlap: 0, inDoubtDelay: 4, batchDeadline: 8 },
    runs: [
      { ...undisturbed('live', random.between(0, 1500)), intervention: 'cancel', interveneAfter: lasts },
      ...Array.from({ length: random.between(5, 9) }, (_, no) =>
        undisturbed('orders', random.between(0, 1500), no > 0),
      ),
    ],
    traps: [],
    temporal: { deafAttempts: 0 },
    ledger: { lostAnswer: 0, lostStatement: 0 },
    source: {
      ...plan.source,
      lostQuery: 0,
      shortPage: 0,
      slowest: 20,
      stalled: 0,
      stalledById: 0.3 + 0.4 * random.next(),
    },
    writer: { ...plan.writer, every: random.pick([300, 1000]), longest: 10, lasts, briefParents: true },
  };
};
