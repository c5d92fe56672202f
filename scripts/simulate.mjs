/**
 * `npm run simulate -- --seeds N --from S`: runs the product's code through seeded faults, in simulated time (docs/reliability.md).
 * Exits with 1 if a seed has found something wrong, and prints that seed with its trace. `--planted [bug]` puts bugs into the
 * code instead, and exits with 1 if one of them is not found.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleSimulation } from './simulation/bundle.mjs';
import { PLANTED_BUGS } from './simulation/planted-bugs.mjs';
import { openPlantedRecord, openRecord } from './simulation/record.mjs';
import { runSeeds } from './simulation/run-seeds.mjs';
import { SOMETIMES } from './simulation/sometimes.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'dist', 'simulation');
const USAGE = `npm run simulate -- [--seeds N] [--from S] [--kept] [--fresh N] [--sometimes] [--jobs J] [--trace]
npm run simulate -- --record [--seeds N] [--minutes M] [--jobs J]
npm run simulate -- --planted [--bug TEXT] [--seeds N] [--record] [--jobs J]

  --seeds N   how many seeds (default 20); with --planted the most for each bug (default 2000)
  --from S    the first one (default 1)
  --kept      also the seeds that have ever found something (test/simulation/seeds.json)
  --fresh N   also so many seeds that nobody has chosen
  --sometimes fail if something that the seeds are to try never happens (scripts/simulation/sometimes.mjs)
  --jobs J    processes side by side (default: as many as there are processors)
  --trace     print the trace of each seed, not only of those that have found something
  --record    go on after the last seed of this commit in docs/reliability/simulation.json, and add the results to it;
              with --planted, go on with the bugs that planted-bugs.json lacks
  --minutes M begin no seed after so many minutes
  --planted   plant bugs in the code, one after the other: each must be found
  --bug TEXT  only bugs whose names contain this`;

/** Traces are cut to so many lines before the end, unless `--trace` asks for all. */
const TRACE_LINES = 400;

const { values } = options();
const whole = (name, otherwise) => {
  const number = Number(values[name] ?? otherwise);
  if (Number.isInteger(number) && number > 0) return number;
  return fail(`--${name} must be a whole number from 1 on, got ${values[name]}`);
};
const from = whole('from', 1);
const jobs = whole('jobs', availableParallelism());
mkdirSync(FOLDER, { recursive: true });
process.exitCode = values.planted ? await findPlanted() : await simulate();

function options() {
  try {
    const text = { type: 'string' };
    const flag = { type: 'boolean', default: false };
    const all = {
      seeds: text,
      from: text,
      jobs: text,
      fresh: text,
      minutes: text,
      bug: text,
      kept: flag,
      record: flag,
      trace: flag,
      sometimes: flag,
      planted: flag,
      help: flag,
    };
    const given = parseArgs({ options: all });
    if (!given.values.help) return given;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    return fail(error.message);
  }
}

function fail(message) {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(2);
}

async function simulate() {
  const record = values.record ? ofCommit(openRecord) : null;
  const chosen = chosenSeeds(record?.next ?? from);
  const file = join(FOLDER, 'main.mjs');
  await bundleSimulation(file);
  const sometimes = new Map();
  const totals = { seeds: 0, events: 0, seconds: 0, cpuMs: 0 };
  const failed = [];
  const begun = [];
  const began = performance.now();
  await runSeeds(file, whileThereIsTime(chosen, begun), { jobs, traced: values.trace }, (result) => {
    record?.add(result);
    totals.seeds++;
    for (const figure of ['events', 'seconds', 'cpuMs']) totals[figure] += result[figure];
    for (const [what, times] of Object.entries(result.sometimes))
      sometimes.set(what, (sometimes.get(what) ?? 0) + times);
    if (result.violations.length > 0) {
      failed.push(result.seed);
      printSeed(result);
    } else if (values.trace) console.log(result.trace.join('\n'));
  });
  console.log('what happened, and how often:');
  for (const [what, times] of [...sometimes].sort((a, b) => b[1] - a[1]))
    console.log(`${String(times).padStart(9)}  ${what}`);
  const minutes = (performance.now() - began) / 60_000;
  const never = values.sometimes ? SOMETIMES.filter((what) => !sometimes.has(what)) : [];
  for (const what of never) console.log(`never happened: ${what}`);
  const missing = begun.length - totals.seeds;
  if (missing > 0) console.log(`${missing} seeds have not ended: a process of the simulation has died`);
  console.log(
    `${totals.seeds} seeds from ${chosen[0]}: ${failed.length} with violations${failed.length > 0 ? ` (${failed.join(', ')})` : ''}; ` +
      `${totals.events} events, ${(totals.seconds / 3600).toFixed(1)} simulated hours, ${minutes.toFixed(1)} min, ` +
      `${(totals.cpuMs / 1000 / Math.max(1, totals.seeds)).toFixed(2)} CPU s a seed`,
  );
  return failed.length > 0 || missing > 0 || never.length > 0 ? 1 : 0;
}

function ofCommit(open) {
  try {
    return open(ROOT);
  } catch (error) {
    return fail(error.message);
  }
}

/** The seeds in a row, then those that have found something once, then some that nobody has chosen. */
function chosenSeeds(first) {
  const seeds = Array.from({ length: whole('seeds', 20) }, (_, i) => first + i);
  if (values.kept) seeds.push(...JSON.parse(readFileSync(join(ROOT, 'test/simulation/seeds.json'), 'utf8')));
  if (values.fresh !== undefined) {
    const fresh = (Date.now() % 1_000_000_000) + 1_000_000;
    seeds.push(...Array.from({ length: whole('fresh') }, (_, i) => fresh + i));
  }
  return seeds;
}

function* whileThereIsTime(seeds, begun) {
  const end = values.minutes === undefined ? Infinity : performance.now() + whole('minutes') * 60_000;
  for (const seed of seeds) {
    if (performance.now() > end) return;
    begun.push(seed);
    yield seed;
  }
}

async function findPlanted() {
  const most = whole('seeds', 2000);
  const record = values.record ? ofCommit(openPlantedRecord) : null;
  const named = Object.entries(PLANTED_BUGS).filter(([name]) => name.includes(values.bug ?? ''));
  if (named.length === 0) fail(`no planted bug contains "${values.bug}"`);
  const bugs = named.filter(([name]) => record?.has(name) !== true);
  const missed = [];
  for (const [name, plant] of bugs) {
    const file = join(FOLDER, `planted-${process.pid}.mjs`);
    await bundleSimulation(file, [plant]);
    const found = [];
    const seeds = Array.from({ length: most }, (_, i) => from + i);
    let tried = 0;
    await runSeeds(file, seeds, { jobs }, (result) => {
      tried++;
      if (result.violations.length === 0) return false;
      found.push(result);
      return true;
    });
    for (const each of [file, `${file}.map`]) rmSync(each);
    const [first] = found.sort((a, b) => a.seed - b.seed);
    if (first === undefined) missed.push(name);
    if (first === undefined && tried < most) {
      console.log(`UNKNOWN ${name}: ${most - tried} seeds have not ended: a process of the simulation has died`);
      continue;
    }
    record?.add(name, first?.seed ?? null, most);
    console.log(
      first === undefined
        ? `MISSED  ${name}: not in ${most} seeds`
        : `found   ${name}: seed ${first.seed}: ${first.violations[0].split('\n')[0].slice(0, 200)}`,
    );
  }
  console.log(`${bugs.length} planted bugs: ${bugs.length - missed.length} found, ${missed.length} missed`);
  return missed.length > 0 ? 1 : 0;
}

/** The trace of a seed that has found something: what happened to the records at fault, and the end. */
function printSeed({ seed, violations, trace, plan }) {
  const records = violations.flatMap((violation) => / (\w+)\/(\w+)\/(\S+) /.exec(violation)?.slice(3, 4) ?? []);
  const about = trace.filter((line) => records.some((id) => line.includes(id)));
  console.log(`\nseed ${seed}: ${violations.length} violations\nplan: ${JSON.stringify(plan)}`);
  for (const violation of violations) console.log(`  ${violation}`);
  if (records.length > 0)
    console.log(`what happened to ${[...new Set(records)].join(', ')}:\n${about.slice(-TRACE_LINES).join('\n')}`);
  console.log(
    `the end of the trace:\n${trace.slice(values.trace ? 0 : -TRACE_LINES).join('\n')}\nagain: npm run simulate -- --seeds 1 --from ${seed} --trace\n`,
  );
}
