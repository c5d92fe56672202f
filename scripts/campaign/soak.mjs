/**
 * A soak: nothing is killed, but the source changes fast for a long time, one request to the platform in a hundred fails, and one
 * incremental run follows another; with a change feed, one run in mode live follows it all the time. What workers and the ledger
 * use is sampled each minute and judged at the end.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../with-client.mjs';
import { usedBy } from './used-memory.mjs';
import { randomOf } from './random.mjs';
import { endRound } from './round.mjs';
import { touchOf } from './shop.mjs';
import { startWriter } from './writer.mjs';

const MINUTE_MS = 60_000;
/** In percent: requests to the platform that fail. */
const FAULTS = 1;
const KINDS = ['lost request', 'lost response', 'slow'];
/** Between two runs, as short as no schedule would be. */
const BETWEEN_RUNS_MS = 1000;

/** How long workers may grow before they are judged, and how long a soak must be so that a judgement is a failure. */
const WARM_UP_MINUTES = 15;
const JUDGED_FROM_MINUTES = 60;

const LEDGER = `SELECT pg_database_size(current_database())::float8 / 1048576 AS "ledgerMiB",
  pg_total_relation_size('partner_sync.record_blocks')::float8 / 1048576 AS "recordsMiB",
  (SELECT sum(octet_length(records))::float8 / 1048576 FROM partner_sync.record_blocks) AS "recordTextsMiB",
  (SELECT extract(epoch FROM now() - min(read_until))::float8 FROM partner_sync.mappings) AS "secondsBehind",
  (SELECT count(*)::int FROM partner_sync.changed_rows) AS "changedRows",
  (SELECT count(*)::int FROM partner_sync.batches) AS batches,
  (SELECT count(*)::int FROM partner_sync.batches WHERE state NOT IN ('settled', 'superseded')) AS "openBatches",
  (SELECT count(*)::int FROM partner_sync.waiting) AS waiting,
  (SELECT count(*)::int FROM partner_sync.runs) AS runs`;

export async function soak(stage, state, { isOver, keep, log }) {
  const { options } = state;
  const { database, urls, servers, runs } = stage;
  const randomFor = (what) => randomOf(`${options.seed} soak ${what}`);
  await runs.run('soak full', 'sync', { mode: 'full' });
  const { rows, rate } = options;
  const touch = touchOf(options);
  const writer = startWriter({ database, url: urls.source, rows, rate, touch, random: randomFor('writer') });
  const random = randomFor('faults');
  const faults = { requests: 0 };
  servers.proxies.sandbox.meddle(() => {
    faults.requests++;
    if (random(100) >= FAULTS) return undefined;
    const kind = KINDS[random(KINDS.length)];
    faults[kind] = (faults[kind] ?? 0) + 1;
    return kind;
  });
  let stop;
  const stopping = new Promise((resolve) => (stop = resolve));
  const running =
    options.feed === null ? runOnAndOn(runs, stopping) : runs.run('soak live', 'sync', { mode: 'live' }, stopping);
  const samples = [];
  const began = performance.now();
  while (samples.length <= options.soak && !isOver()) {
    await sleep(Math.max(0, began + samples.length * MINUTE_MS - performance.now()));
    samples.push(await sampled(stage, writer, (performance.now() - began) / MINUTE_MS));
    state.soak = { faults, samples, judgements: judgementsOf(samples, options.rate) };
    keep();
    log(JSON.stringify(samples.at(-1)));
  }
  stop();
  await running;
  await writer.end();
  servers.proxies.sandbox.meddle(undefined);
  if (options.soak >= JUDGED_FROM_MINUTES)
    for (const [what, { held, figure }] of Object.entries(state.soak.judgements))
      if (!held) state.violations.push(`${what}: ${figure}`);
  await endRound(stage, state, 1, writer, { keep, log });
}

async function runOnAndOn(runs, stopping) {
  let isRunning = true;
  void stopping.then(() => (isRunning = false));
  for (let each = 1; isRunning; each++) {
    await runs.run(`soak incremental ${each}`, 'sync', {});
    await sleep(BETWEEN_RUNS_MS);
  }
}

async function sampled({ workers, urls }, writer, minute) {
  const living = workers.living();
  const processes = living.map(({ process }) => process.pid);
  const ledger = await withClient(urls.ledger, async (client) => (await client.query(LEDGER)).rows[0]);
  return {
    minute: rounded(minute),
    usedMiB: living.map(({ path }) => rounded(usedBy(path))),
    rssMiB: processes.map(rssOf),
    files: processes.map((pid) => readdirSync(`/proc/${pid}/fd`).length),
    ...Object.fromEntries(Object.entries(ledger).map(([name, figure]) => [name, rounded(figure)])),
    changed: writer.counted.rows,
  };
}

const rssOf = (pid) => rounded(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);

/** What was sampled, against what was promised. Each has a figure for people, and whether it is within its bound. */
export function judgementsOf(samples, rate) {
  const warm = samples.filter(({ minute }) => minute >= Math.min(WARM_UP_MINUTES, samples.at(-1).minute / 2));
  const each = (figures) => samples[0].rssMiB.map((_, worker) => figures(worker));
  /** Of the worker that grows most. */
  const growsByLessThanOne = (unit, of) => {
    const trends = each((worker) => trend(warm, (sample) => of(sample)[worker]));
    const { slope, error } = trends.reduce((a, b) => (atLeast(b) > atLeast(a) ? b : a));
    const figure = `${rounded(slope * 60)} ${unit} an hour, give or take ${rounded(2 * error * 60)}`;
    return judged(atLeast({ slope, error }) * 60 < 1, figure);
  };
  const [first, last] = [warm[0], warm.at(-1)];
  const ofRuns = ({ ledgerMiB, recordsMiB }) => ledgerMiB - recordsMiB;
  const perBatch = ((ofRuns(last) - ofRuns(first)) * 1024) / Math.max(1, last.batches - first.batches);
  const room = Math.max(...warm.map(({ recordsMiB, recordTextsMiB }) => recordsMiB / recordTextsMiB));
  const behind = Math.max(...warm.map(({ secondsBehind }) => secondsBehind));
  const open = Math.max(...warm.map(({ openBatches }) => openBatches));
  const changes = (last.changed - first.changed) / Math.max(1, (last.minute - first.minute) * 60);
  return {
    'the source changes as fast as was asked for': judged(
      changes > rate * 0.95,
      `${Math.round(changes)} rows a second`,
    ),
    'the memory in use of a worker grows by less than 1 MiB an hour': growsByLessThanOne(
      'MiB',
      ({ usedMiB }) => usedMiB,
    ),
    'the resident memory of a worker grows by less than 1 MiB an hour': growsByLessThanOne(
      'MiB',
      ({ rssMiB }) => rssMiB,
    ),
    'the number of open files grows by less than 1 an hour': growsByLessThanOne('files', ({ files }) => files),
    'the ledger without its records grows by less than 4 KiB for each closed batch': judged(
      perBatch < 4,
      `${rounded(perBatch)} KiB`,
    ),
    'what the ledger knows of records takes less than three times their length': judged(room < 3, `${rounded(room)}`),
    'the platform is less than a minute behind': judged(behind < 60, `${rounded(behind)} s`),
    'fewer than 200 batches are open at once': judged(open < 200, `${open}`),
  };
}

const judged = (held, figure) => ({ held, figure });

/** The line through the samples by least squares: what it rises by each minute, and the standard error of that. */
function trend(samples, valueOf) {
  const mean = (of) => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [x, y] = [mean(({ minute }) => minute), mean(valueOf)];
  const spread = samples.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
  if (spread === 0) return { slope: 0, error: 0 };
  const slope = samples.reduce((sum, sample) => sum + (sample.minute - x) * (valueOf(sample) - y), 0) / spread;
  const rest = samples.reduce((sum, sample) => sum + (valueOf(sample) - y - slope * (sample.minute - x)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / Math.max(1, samples.length - 2) / spread) };
}

/** What it rises by at least: the samples would be very unlikely if it rose by less. */
const atLeast = ({ slope, error }) => slope - 2 * error;

const rounded = (number) => Math.round(number * 10) / 10;
