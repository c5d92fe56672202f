/**
 * From a bare clone to a running command: `node scripts/bootstrap.mjs demo|dev|test|bench [arguments]`.
 * Installs and builds what is missing or out of date, then runs the command. Plain Node, no dependency.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithOwner } from './end-with-owner.mjs';
import { presentTemporal } from './get-temporal.mjs';
import { isInstalled, npmCi } from './install.mjs';
import { holdLock } from './lock.mjs';
import { isBuilt } from './source-hash.mjs';
import { whenStarterIsGone } from './starter.mjs';
import { meetNeeds } from './test-needs.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OLDEST_NODE = [20, 19];

/** What each command runs; `drains`: it stops in order by itself, and a signal must reach it exactly once. */
const COMMANDS = {
  demo: { run: ['dist/src/embedded/main.js', 'demo'], drains: true },
  dev: { run: ['dist/src/embedded/main.js', 'dev'], drains: true },
  test: { run: ['node_modules/vitest/vitest.mjs', 'run'], drains: false },
  bench: { run: ['bench/run.mjs'], drains: false },
};

const [name, ...args] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined;
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  console.error(`partner-sync needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}.`);
  process.exitCode = 1;
} else if (command === undefined) {
  console.error(`Unknown command "${name ?? ''}"; known: ${Object.keys(COMMANDS).join(', ')}.`);
  process.exitCode = 1;
} else {
  // As if somebody had asked us: the signal is passed on, or ends us where nothing runs.
  whenStarterIsGone(() => process.kill(process.pid, 'SIGTERM'));
  process.exitCode = await bootstrap(command);
}

async function bootstrap({ run, drains }) {
  // The slowest part of a first run, and it needs nothing of npm's: side by side with it.
  const temporal = startTemporalBuild();
  try {
    const code = await prepare();
    if (code !== 0) return code;
  } catch (error) {
    console.error(error.message);
    return 1;
  }
  const { env, leftOut } = name === 'test' ? await meetNeeds(ROOT, args, runToEnd) : { env: {}, leftOut: [] };
  const code = await runToEnd([...run, ...args], { drains, env: { ...process.env, ...env } });
  temporal?.kill();
  for (const line of leftOut) console.error(line);
  // Where nobody reads along, what was left out would be taken for passed.
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
      // npm ci builds as well (the script "prepare"), unless scripts are switched off.
      if (code === 0 && !isBuilt(ROOT)) code = await runToEnd(['scripts/build.mjs']);
      if (code !== 0) temporal?.kill();
      return code;
    } finally {
      release();
    }
  }
}

/** Starts `go install` early where it will be needed; the command itself then waits for it (see get-temporal.mjs). */
function startTemporalBuild() {
  const needed = name === 'test' || !process.env.TEMPORAL_ADDRESS;
  // When the packages are there already, nothing is gained by starting a moment earlier.
  if (!needed || existsSync(join(ROOT, 'node_modules')) || presentTemporal()) return undefined;
  const child = spawn(process.execPath, ['scripts/get-temporal.mjs', '--quiet'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.once('error', () => {});
  endWithOwner(child);
  return child;
}

/** Runs a Node program to its end, passes signals on, and answers its exit code. */
function runToEnd(nodeArgs, { drains = false, ...how } = {}) {
  return new Promise((resolve) => {
    // In a session of its own a terminal's Ctrl-C does not reach it directly. Otherwise it would see the signal two or
    // three times (from the terminal, from npm, from us), and a second signal means: do not drain, stop at once.
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
