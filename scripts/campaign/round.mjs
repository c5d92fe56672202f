/**
 * A round of a campaign: all rows are changed and loaded again while the source keeps changing and workers are killed. Then it is
 * quiet, and the platform must have become what the source says.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { withClient } from '../with-client.mjs';
import { comparePlatform, isProved } from './compare.mjs';
import { comparable } from './copy-source.mjs';
import { FAULTS, faultsWith } from './faults.mjs';
import { followFeed, KILLS_A_ROUND } from './follow-feed.mjs';
import { POINTS, pointsFor } from './points.mjs';
import { dealt, oneOf, randomOf } from './random.mjs';
import { changeAll, keyRanges, touchOf } from './shop.mjs';
import { withSession } from './sources.mjs';
import { count, sumOf } from './state.mjs';
import { startWriter } from './writer.mjs';

/** In percent: kills at a point, rather than at a moment of chance; quick campaigns have only points. */
const AT_POINTS = 70;
/** If no worker comes to one of the points in this time, others are added. */
const LONGEST_WAIT_MS = 15_000;
/** If work has not gone on by then, other things are tried. */
const LONGEST_RECOVERY_MS = 60_000;
/** Runs after the faults, of which one must be complete. */
const QUIET_RUNS = 3;

export async function playRound(stage, state, { isOver, keep, log }) {
  const { options } = state;
  const no = state.rounds + 1;
  const { workers, database, urls } = stage;
  const randomFor = (what) => randomOf(`${options.seed} ${no} ${what}`);
  const touch = touchOf(options);
  if (no > 1) await withSession(database, urls.source, (source) => changeAll(database, source, no, touch));
  const { rows, rate, feed } = options;
  const writer = startWriter({ database, url: urls.source, rows, rate, touch, random: randomFor('writer') });
  const attack = { isOn: true, most: feed === null ? Infinity : KILLS_A_ROUND };
  const attacking = attackWorkers(stage, state, { attack, isOver, keep, log, random: randomFor('attack') });
  try {
    if (feed === null) {
      await load(stage, no, options, randomFor('runs'));
      await stage.runs.run(`round ${no} mirror`, 'sync', { mode: 'mirror' });
    } else await followFeed(stage, no, options, randomFor('runs'), attacking);
  } finally {
    attack.isOn = false;
    await attacking;
    await writer.end();
  }
  workers.disarm();
  for (const proxy of Object.values(stage.servers.proxies)) proxy.heal();
  await endRound(stage, state, no, writer, { keep, log });
}

/** When nothing fails any more: delivers what is left, compares, and writes into the state what the round has shown. */
export async function endRound(stage, state, no, writer, { keep, log }) {
  const { workers, database, urls } = stage;
  const violations = [];
  await settle(stage, no, state.options, violations);
  const found = await comparePlatform({ source: await comparable(database, urls), store: urls.store });
  if (!isProved(found)) violations.push(JSON.stringify(found));
  violations.push(...(await openEnds(urls.ledger)), ...stage.progress.twice.splice(0), ...workers.failures.splice(0));
  for (const run of stage.runs.ended.splice(0)) {
    count(state.runs, `${run.kind} ${run.mode}: ${run.outcome}`);
    if (run.outcome === 'failed') violations.push(`run ${run.workflowId} failed: ${run.message}`);
  }
  state.rounds = no;
  state.rowsCompared += found.records;
  state.recordsMarked += found.marked;
  for (const [what, times] of Object.entries(writer.counted)) state.writer[what] += times;
  state.violations.push(...violations.map((violation) => `round ${no}: ${violation}`));
  takeMeasured(state, stage.progress);
  keep();
  log(
    `round ${no}: ${found.records} records as the source has them, ${found.marked} marked as deleted, ` +
      `${found.lost} lost, ${found.stale} stale, ${found.foreign} of another tenant, ${found.unmarked} not marked; ` +
      `${sumOf(state.kills)} kills and ${sumOf(state.faults)} other faults so far`,
  );
}

/** Backfills of all ranges of keys, with incremental runs beside them, read every row; or sometimes a `full` run does. */
async function load({ runs }, no, { rows, quick, 'at-once': atOnce }, random) {
  if (!quick && no > 1 && random(3) === 0) {
    await runs.run(`round ${no} full`, 'sync', { mode: 'full' });
    return;
  }
  let isLoading = !quick;
  const beside = (async () => {
    for (let each = 1; isLoading; each++) {
      await runs.run(`round ${no} incremental ${each}`, 'sync', {});
      await sleep(1000);
    }
  })();
  await pLimit(atOnce).map(keyRanges(rows), (range, part) =>
    runs.run(`round ${no} range ${part + 1}`, 'backfill', range),
  );
  isLoading = false;
  await beside;
}

/** Kills workers, and lets other parts fail, until the round's runs have ended or all was done. */
async function attackWorkers(stage, state, { attack, isOver, keep, log, random }) {
  const { options } = state;
  const faults = dealt(random, faultsWith(stage.servers));
  const done = () => sumOf(state.kills) + sumOf(state.faults);
  const most = done() + attack.most;
  let inVain = 0;
  if (options.quick && options.feed === null)
    await untilPlanned(stage, attack, Math.min(keyRanges(options.rows).length, options['at-once']));
  while (attack.isOn && !isOver() && done() < most) {
    // A fleet of which nobody is left is no test: it only waits.
    while (attack.isOn && stage.workers.living().length < options.workers) await sleep(100);
    await whileOn(attack, random(options.pause * 2000));
    // Half of the kills are left alone until work has gone on, and so can be measured; the others meet the next one.
    if (!options.quick && random(2) === 0) await untilSettled(stage, attack);
    const kills = Math.max(0, options.kills - sumOf(state.kills));
    const mixed = Math.max(0, options.mixed - sumOf(state.faults));
    if (!attack.isOn || isOver() || kills + mixed === 0) break;
    if (random(kills + mixed) < kills) {
      const points = options.quick || random(100) < AT_POINTS ? rarestPoints(state, inVain) : [];
      const point = await killOne(stage, attack, points, random);
      inVain = point === undefined ? inVain + 1 : 0;
      if (point === undefined) continue;
      log(`kill ${sumOf(state.kills)}: ${point ?? 'a moment of chance'}`);
    } else {
      const name = faults.next().value;
      log(`fault ${sumOf(state.faults) + 1}: ${name}`);
      await FAULTS[name]({ ...stage, random });
      count(state.faults, name);
    }
    takeMeasured(state, stage.progress);
    keep();
  }
}

/** Resolves when so many partitions are being loaded: the steps before that are short, and Temporal misses them for long. */
async function untilPlanned({ urls }, attack, partitions) {
  const begun = `SELECT count(*)::int AS begun FROM partner_sync.partitions WHERE fencing_token > 0 AND run_id IN
    (SELECT id FROM partner_sync.runs WHERE ended_at IS NULL OR ended_at > now() - interval '1 minute')`;
  await withClient(urls.ledger, async (client) => {
    while (attack.isOn && (await client.query(begun)).rows[0].begun < partitions) await sleep(200);
  });
}

/** The points with the fewest kills; others, too, after attempts at which no worker came to one of those. */
function rarestPoints({ kills, options }, inVain) {
  const points = pointsFor(options);
  // Where there is a feed, it is what is to be tried first.
  const times = (point) => (kills[point] ?? 0) + (options.feed !== null && !POINTS[point].ofFeed ? 1 : 0);
  const fewest = Math.min(...points.map(times));
  return points.filter((point) => times(point) <= fewest + inVain);
}

/**
 * Kills the worker that first comes to one of the points, or one of them now if there are none. Resolves to the point, null for
 * none, or undefined if no worker has died.
 */
async function killOne(stage, attack, points, random) {
  const { workers } = stage;
  const died = new Promise((resolve) => (stage.onDeath = ({ point }) => resolve(point)));
  if (points.length > 0) workers.arm(points);
  else {
    const living = workers.living();
    if (living.length === 0) return undefined;
    workers.kill(oneOf(random, living));
  }
  const point = await Promise.race([died, whileOn(attack, LONGEST_WAIT_MS)]);
  workers.disarm();
  return point;
}

async function untilSettled({ progress }, attack) {
  const end = performance.now() + LONGEST_RECOVERY_MS;
  while (attack.isOn && performance.now() < end && !progress.isSettled()) await sleep(100);
}

async function whileOn(attack, ms) {
  const end = performance.now() + ms;
  while (attack.isOn && performance.now() < end) await sleep(Math.min(100, Math.max(0, end - performance.now())));
}

/**
 * What waited is delivered once nothing fails any more. With a feed, nothing but the feed may tell what has changed; the key of a row
 * whose record was undecided when it was read is left to the next run.
 */
async function settle({ runs, urls }, no, { feed }, violations) {
  const mode = feed === null ? 'mirror' : 'incremental';
  for (let each = 1; each <= QUIET_RUNS; each++) {
    const { outcome } = await runs.run(`round ${no} quiet ${each}`, 'sync', { mode });
    if (outcome === 'complete' && (await changedRows(urls.ledger)) === 0) return;
  }
  violations.push(`none of ${QUIET_RUNS} ${mode} runs without faults was complete`);
}

const changedRows = (url) =>
  withClient(url, async (client) => {
    const { rows } = await client.query('SELECT count(*)::int AS left FROM partner_sync.changed_rows');
    return rows[0].left;
  });

/** What the ledger must not have when nothing is under way. */
const openEnds = (url) =>
  withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT (SELECT count(*)::int FROM partner_sync.batches WHERE state NOT IN ('settled', 'superseded')) AS "open batches",
         (SELECT count(*)::int FROM partner_sync.waiting) AS "waiting records",
         (SELECT count(*)::int FROM partner_sync.dead_letters) AS "dead letters",
         (SELECT count(*)::int FROM partner_sync.changed_rows) AS "changed rows",
         (SELECT count(*)::int FROM partner_sync.sync_leases) AS "leases",
         (SELECT count(*)::int FROM partner_sync.runs WHERE ended_at IS NULL) AS "runs that have not ended"`,
    );
    return Object.entries(rows[0]).flatMap(([what, number]) =>
      number > 0 ? [`the ledger has ${number} ${what}`] : [],
    );
  });

function takeMeasured(state, { measured }) {
  for (const list of ['takenOver', 'checkpoint', 'slow']) state.progress[list].push(...measured[list].splice(0));
  for (const number of ['again', 'idle']) {
    state.progress[number] += measured[number];
    measured[number] = 0;
  }
}
