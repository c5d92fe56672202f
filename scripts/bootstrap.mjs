/**
 * Runs a command of package.json, also from a fresh clone: installs and builds what is missing or out of date, then runs
 * the command. Plain Node, no dependency.
 *
 *     node scripts/bootstrap.mjs demo|dev|test|test:campaign|record-histories|test:versions|simulate|campaign|mutation|bench [arguments]
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithOwner } from './stack/end-with-owner.mjs';
import { presentTemporal } from './stack/get-temporal.mjs';
import { isInstalled, npmCi } from './npm-ci.mjs';
import { holdLock } from './stack/lock-file.mjs';
import { isBuilt } from './is-built.mjs';
import { whenStarterIsGone } from './stack/watch-npm.mjs';
import { providePrerequisites } from './test-prerequisites.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OLDEST_NODE = [20, 19];

/** The test files that do more in a campaign: those that use test/campaign.ts. */
const CAMPAIGN = [
  'test/pipeline/chaos.test.ts',
  'test/pipeline/fault-suite.test.ts',
  'test/pipeline/many-tenants.test.ts',
  'test/sandbox/random-requests.test.ts',
  'test/source/keyset-properties.test.ts',
  'test/mapping/hot-path.test.ts',
  'test/mapping/naive.test.ts',
  'test/mapping/local-time.test.ts',
  'test/patterns/pattern.test.ts',
  'test/worker/mapping-files.test.ts',
];

/** What npm says to programs that it starts: these two watch npm by themselves unless this process does. */
const WATCHED_HERE = { npm_lifecycle_event: undefined, npm_command: undefined };

const VITEST = ['node_modules/vitest/vitest.mjs', 'run'];

/**
 * What each command runs. `drains`: it stops gracefully by itself, so a signal must reach it exactly once. `tests`: it
 * runs tests, so programs that these need are provided first. `servers`: false if it needs no Temporal server. `env`: additional
 * variables.
 */
const COMMANDS = {
  demo: { run: ['bin/partner-sync.js', 'demo'], drains: true, env: WATCHED_HERE },
  dev: { run: ['bin/partner-sync.js', 'dev'], drains: true, env: WATCHED_HERE },
  test: { run: VITEST, drains: false, tests: true },
  'test:campaign': {
    run: [...VITEST, ...CAMPAIGN],
    drains: false,
    tests: true,
    env: { TEST_CAMPAIGN: 'true' },
  },
  'record-histories': { run: [...VITEST, '--project=together'], drains: false, env: { RECORD_HISTORIES: 'true' } },
  'test:versions': { run: ['scripts/test-versions.mjs'], drains: false },
  simulate: { run: ['scripts/simulate.mjs'], drains: false, servers: false },
  campaign: { run: ['scripts/campaign.mjs'], drains: true },
  mutation: { run: ['scripts/mutation.mjs'], drains: false, servers: false },
  bench: { run: ['bench/run.mjs'], drains: false },
};

const [name, ...given] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined;
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  console.error(`partner-sync needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}.`);
  process.exitCode = 1;
} else if (command === undefined) {
  console.error(`Unknown command "${name ?? ''}"; known: ${Object.keys(COMMANDS).join(', ')}.`);
  process.exitCode = 1;
} else {
  // Treated like a SIGTERM from outside: it is passed on to the command, or ends this process if none runs.
  whenStarterIsGone(() => process.kill(process.pid, 'SIGTERM'));
  process.exitCode = await bootstrap(command, given);
}

/** Prepares what the command needs and runs it; resolves to the exit code. */
async function bootstrap({ run, drains, tests, env: own }, args) {
  // The slowest part of a first run. It does not depend on npm, so it runs in parallel.
  const temporal = startTemporalBuild();
  try {
    const code = await prepare();
    if (code !== 0) return code;
  } catch (error) {
    console.error(error.message);
    return 1;
  }
  const { env, leftOut } = tests
    ? await providePrerequisites(ROOT, [...run.slice(VITEST.length), ...args], runToEnd)
    : { env: {}, leftOut: [] };
  const code = await runToEnd([...run, ...args], { drains, env: { ...process.env, ...env, ...own } });
  temporal?.kill();
  for (const line of leftOut) console.error(line);
  // In CI nobody reads the output, so a run that left tests out must not count as passed.
  return code === 0 && leftOut.length > 0 && process.env.CI && process.env.CI !== 'false' ? 1 : code;

  async function prepare() {
    if (isInstalled(ROOT) && isBuilt(ROOT)) return 0;
    mkdirSync(join(ROOT, '.partner-sync'), { recursive: true });
    const release = await holdLock(join(ROOT, '.partner-sync', 'bootstrap.lock'), () =>
      console.error('Waiting for another process that is installing or building here ...'),
    );
    try {
      let code = 0;
      if (!isInstalled(ROOT)) code = await npmCi(ROOT, runToEnd);
      if (code === 0 && !isBuilt(ROOT)) code = await runToEnd(['scripts/build.mjs', '--if-needed']);
      if (code !== 0) temporal?.kill();
      return code;
    } finally {
      release();
    }
  }
}

/**
 * Starts `go install` of the Temporal CLI early if it will be needed; the command later waits for it (see
 * get-temporal.mjs). Returns the process, or undefined.
 */
function startTemporalBuild() {
  const needed = command.servers !== false && (command.tests || !process.env.TEMPORAL_ADDRESS);
  // With the packages installed, an early start gains nothing.
  if (!needed || existsSync(join(ROOT, 'node_modules')) || presentTemporal()) return undefined;
  const child = spawn(process.execPath, ['scripts/stack/get-temporal.mjs', '--quiet'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.once('error', () => {});
  endWithOwner(child);
  return child;
}

/** Runs a Node program to its end, passes signals on to it and resolves to its exit code. */
function runToEnd(nodeArgs, { drains = false, ...how } = {}) {
  return new Promise((resolve) => {
    // A program that drains gets its own session, which a terminal's Ctrl-C does not reach. Otherwise it would receive
    // the signal two or three times (from the terminal, npm and this process), and a second one means: stop at once.
    const child = spawn(process.execPath, nodeArgs, { cwd: ROOT, stdio: 'inherit', ...how, detached: drains });
    endWithOwner(child);
    let last = 0;
    const pass = (signal) => {
      const now = Date.now();
      if (!drains && signal === 'SIGINT') return;
      if (now - last > 500) child.kill(signal);
      last = now;
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    signals.forEach((signal) => process.on(signal, pass));
    const end = (code) => {
      signals.forEach((signal) => process.off(signal, pass));
      resolve(code);
    };
    child.once('error', (error) => {
      console.error(error.message);
      end(1);
    });
    child.once('exit', (code, signal) => end(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}
