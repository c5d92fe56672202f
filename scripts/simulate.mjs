/**
 * `npm run simulate -- --seeds N --from S`: runs the product's code through seeded faults, in simulated time (docs/reliability.md).
 * Exits with 1 if a seed has found something wrong, and prints that seed with its trace. `--planted [bug]` puts bugs into the
 * code instead, and exits with 1 if one of them is not found.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleSimulation } from './simulation/bundle.mjs';
import { PLANTED_BUGS } from './simulation/planted-bugs.mjs';
import { SOMETIMES } from './simulation/sometimes.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'dist', 'simulation');
const USAGE = `npm run simulate -- [--seeds N] [--from S] [--jobs J] [--sometimes] [--trace]
npm run simulate -- --planted [--bug TEXT] [--seeds N] [--from S]

  --seeds N   how many seeds (default 20); with --planted the most for each bug (default 2000)
  --from S    the first one (default 1)
  --jobs J    processes side by side (default: as many as there are processors)
  --sometimes fail if something that the seeds are to try never happens (scripts/simulation/sometimes.mjs)
  --trace     print the trace of each seed, not only of those that have found something
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
      bug: text,
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
  const seeds = whole('seeds', 20);
  const file = join(FOLDER, 'main.mjs');
  await bundleSimulation(file);
  const sometimes = new Map();
  const totals = { seeds: 0, events: 0, seconds: 0, cpuMs: 0 };
  const failed = [];
  const began = performance.now();
  await runSeeds(file, { first: from, seeds, traced: values.trace }, (result) => {
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
  const missing = seeds - totals.seeds;
  if (missing > 0) console.log(`${missing} seeds have not ended: a process of the simulation has died`);
  console.log(
    `${totals.seeds} seeds from ${from}: ${failed.length} with violations${failed.length > 0 ? ` (${failed.join(', ')})` : ''}; ` +
      `${totals.events} events, ${(totals.seconds / 3600).toFixed(1)} simulated hours, ${minutes.toFixed(1)} min, ` +
      `${(totals.cpuMs / 1000 / Math.max(1, totals.seeds)).toFixed(2)} CPU s a seed`,
  );
  return failed.length > 0 || missing > 0 || never.length > 0 ? 1 : 0;
}

async function findPlanted() {
  const most = whole('seeds', 2000);
  const bugs = Object.entries(PLANTED_BUGS).filter(([name]) => name.includes(values.bug ?? ''));
  if (bugs.length === 0) fail(`no planted bug contains "${values.bug}"`);
  const missed = [];
  for (const [name, plant] of bugs) {
    const file = join(FOLDER, `planted-${process.pid}.mjs`);
    await bundleSimulation(file, [plant]);
    const found = [];
    await runSeeds(file, { first: from, seeds: most, traced: false }, (result) => {
      if (result.violations.length === 0) return false;
      found.push(result);
      return true;
    });
    rmSync(file);
    const [first] = found.sort((a, b) => a.seed - b.seed);
    if (first === undefined) missed.push(name);
    console.log(
      first === undefined
        ? `MISSED  ${name}: not in ${most} seeds`
        : `found   ${name}: seed ${first.seed}: ${first.violations[0].split('\n')[0].slice(0, 200)}`,
    );
  }
  console.log(`${bugs.length} planted bugs: ${bugs.length - missed.length} found, ${missed.length} missed`);
  return missed.length > 0 ? 1 : 0;
}

/** Runs seeds in several processes, each every `jobs`th one; `each` may end all of them by returning true. */
async function runSeeds(file, { first, seeds, traced }, each) {
  const running = new Set();
  const one = (no) =>
    new Promise((resolve) => {
      const count = Math.ceil((seeds - no) / jobs);
      const args = ['--no-deprecation', file, first + no, count, jobs, traced ? 1 : 0].map(String);
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      running.add(child);
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (each(JSON.parse(line)) === true) for (const other of running) other.kill();
      });
      child.on('close', () => {
        running.delete(child);
        resolve();
      });
    });
  await Promise.all(Array.from({ length: Math.min(jobs, seeds) }, (_, no) => one(no)));
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
