/**
 * A round of a campaign: all rows are changed and loaded again while the source keeps changing and workers are killed. Then it is
 * quiet, and the platform must have become what the source says.
 */
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { comparePlatform, isProved } from './compare.mjs';
import { FAULTS } from './faults.mjs';
import { POINTS } from './points.mjs';
import { dealt, oneOf, randomOf } from './random.mjs';
import { changeAll } from './shop.mjs';
import { count, sumOf } from './state.mjs';
import { startWriter } from './writer.mjs';

/** In percent: kills at a point, rather than at a moment of chance. */
const AT_POINTS = 70;
/** A point that no worker reaches in this time is left for another moment. */
const LONGEST_WAIT_MS = 20_000;
/** Runs after the faults, of which one must be complete. */
const QUIET_RUNS = 3;

/** Backfills of ranges of keys, all at once, which together read every row. */
const RANGES = [
  { mapping: 'customers', throughKey: ['n', '99999999999'] },
  { mapping: 'customers', afterKey: ['n', '99999999999'] },
  { mapping: 'orders', throughKey: ['n', 'o5'] },
  { mapping: 'orders', afterKey: ['n', 'o5'], throughKey: ['s', ''] },
  { mapping: 'orders', afterKey: ['s', ''], throughKey: ['s', 'o5'] },
  { mapping: 'orders', afterKey: ['s', 'o5'] },
];

export async function playRound(stage, state, { isOver, keep, log }) {
  const { options } = state;
  const no = state.rounds + 1;
  const { workers, urls } = stage;
  const randomFor = (what) => randomOf(`${options.seed} ${no} ${what}`);
  if (no > 1) await withSource(urls, (source) => changeAll(source, no));
  const writer = startWriter({ url: urls.source, rows: options.rows, rate: options.rate, random: randomFor('writer') });
  const attack = { isOn: true };
  const attacking = attackWorkers(stage, state, { attack, isOver, keep, log, random: randomFor('attack') });
  try {
    await load(stage, no, randomFor('runs'));
    await stage.runs.run(`round ${no} mirror`, 'sync', { mode: 'mirror' });
  } finally {
    attack.isOn = false;
    await attacking;
    await writer.end();
  }
  workers.arm(null);
  for (const proxy of Object.values(stage.servers.proxies)) proxy.heal();
  await settle(stage, no, state);
  const found = await comparePlatform(urls);
  state.rounds = no;
  state.rowsCompared += found.records;
  state.recordsMarked += found.marked;
  for (const [what, times] of Object.entries(writer.counted)) state.writer[what] += times;
  if (!isProved(found)) state.violations.push(`round ${no}: ${JSON.stringify(found)}`);
  for (const problem of await openEnds(urls.ledger)) state.violations.push(`round ${no}: ${problem}`);
  state.violations.push(...stage.progress.twice.splice(0), ...workers.failures.splice(0));
  for (const run of stage.runs.ended.splice(0)) {
    count(state.runs, `${run.kind} ${run.mode}: ${run.outcome}`);
    if (run.outcome === 'failed') state.violations.push(`round ${no}: run ${run.workflowId} failed: ${run.message}`);
  }
  takeMeasured(state, stage.progress);
  keep();
  log(
    `round ${no}: ${found.records} records as the source has them, ${found.marked} marked as deleted, ` +
      `${found.lost} lost, ${found.stale} stale, ${found.foreign} of another tenant, ${found.unmarked} not marked; ` +
      `${sumOf(state.kills)} kills and ${sumOf(state.faults)} other faults so far`,
  );
}

/** The first time, and sometimes later, a `full` run loads everything; else backfills do, with incremental runs beside them. */
async function load({ runs }, no, random) {
  if (no === 1 || random(3) === 0) {
    await runs.run(`round ${no} full`, 'sync', { mode: 'full' });
    return;
  }
  let isLoading = true;
  const beside = (async () => {
    for (let each = 1; isLoading; each++) {
      await runs.run(`round ${no} incremental ${each}`, 'sync', {});
      await sleep(1000);
    }
  })();
  await Promise.all(RANGES.map((range, part) => runs.run(`round ${no} range ${part + 1}`, 'backfill', range)));
  isLoading = false;
  await beside;
}

/** Kills workers, and lets other parts fail, until the round's runs have ended or all was done. */
async function attackWorkers(stage, state, { attack, isOver, keep, log, random }) {
  const { options } = state;
  const points = Object.keys(POINTS).filter((name) => !options.quick || !POINTS[name].unnoticed);
  // Those with the fewest kills come first.
  const rarest = () => {
    const fewest = Math.min(...points.map((point) => state.kills[point] ?? 0));
    return points.filter((point) => (state.kills[point] ?? 0) === fewest && !unreached.has(point));
  };
  const unreached = new Set();
  const faults = dealt(random, Object.keys(FAULTS));
  const left = () => ({ kills: options.kills - sumOf(state.kills), mixed: options.mixed - sumOf(state.faults) });
  while (attack.isOn && !isOver()) {
    await whileOn(attack, random(options.pause * 2000));
    const { kills, mixed } = left();
    if (!attack.isOn || isOver() || (kills <= 0 && mixed <= 0)) break;
    if (random(Math.max(0, kills) + Math.max(0, mixed)) < kills) {
      const candidates = rarest();
      if (candidates.length === 0) unreached.clear();
      const point = random(100) < AT_POINTS && candidates.length > 0 ? oneOf(random, candidates) : null;
      if (!(await killOne(stage, attack, point, random))) {
        if (point !== null) unreached.add(point);
        continue;
      }
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

/** Resolves to whether a worker has died. */
async function killOne(stage, attack, point, random) {
  const { workers } = stage;
  const died = new Promise((resolve) => (stage.onDeath = () => resolve(true)));
  if (point !== null) workers.arm(point);
  else {
    const living = workers.living();
    if (living.length === 0) return false;
    workers.kill(oneOf(random, living));
  }
  const inVain = whileOn(attack, LONGEST_WAIT_MS).then(() => false);
  const result = await Promise.race([died, inVain]);
  workers.arm(null);
  return result;
}

async function whileOn(attack, ms) {
  const end = performance.now() + ms;
  while (attack.isOn && performance.now() < end) await sleep(Math.min(100, Math.max(0, end - performance.now())));
}

/** What waited is delivered once nothing fails any more. */
async function settle({ runs }, no, state) {
  for (let each = 1; each <= QUIET_RUNS; each++) {
    const { outcome } = await runs.run(`round ${no} quiet ${each}`, 'sync', { mode: 'mirror' });
    if (outcome === 'complete') return;
  }
  state.violations.push(`round ${no}: none of ${QUIET_RUNS} mirror runs without faults was complete`);
}

/** What the ledger must not have when nothing is under way. */
async function openEnds(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT (SELECT count(*)::int FROM partner_sync.batches WHERE state NOT IN ('settled', 'superseded')) AS "open batches",
         (SELECT count(*)::int FROM partner_sync.waiting) AS "waiting records",
         (SELECT count(*)::int FROM partner_sync.dead_letters) AS "dead letters",
         (SELECT count(*)::int FROM partner_sync.sync_leases) AS "leases",
         (SELECT count(*)::int FROM partner_sync.runs WHERE ended_at IS NULL) AS "runs that have not ended"`,
    );
    return Object.entries(rows[0]).flatMap(([what, number]) =>
      number > 0 ? [`the ledger has ${number} ${what}`] : [],
    );
  } finally {
    await client.end();
  }
}

function takeMeasured(state, { measured }) {
  for (const list of ['takenOver', 'checkpoint']) state.progress[list].push(...measured[list].splice(0));
  for (const number of ['again', 'idle']) {
    state.progress[number] += measured[number];
    measured[number] = 0;
  }
}

async function withSource(urls, work) {
  const client = new pg.Client({ connectionString: urls.source });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
