/**
 * Starts what the contenders run against: two PostgreSQL servers, a Temporal server and the sink, which stands in for
 * the platform.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawnOwned } from './owned.mjs';

/** The folder bench/, with a trailing slash. */
export const BENCH = fileURLToPath(new URL('.', import.meta.url));
/** The root of the repository, with a trailing slash. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Data, logs and files of the servers; ignored by git. */
export const WORK = join(ROOT, '.partner-sync', 'bench');
/** Outputs of the processes that a run starts. */
export const LOGS = join(WORK, 'logs');

/** What a source needs beside its other settings so that a slot can be read. */
const LOGICAL = { wal_level: 'logical', max_replication_slots: '4', max_wal_senders: '1' };
/** Settings of the source: memory as on a tuned server, and no background work during a measurement. */
const SOURCE_SETTINGS = { shared_buffers: '1GB', max_wal_size: '4GB', autovacuum: 'off', jit: 'off' };
/** The state keeps all durability defaults, as a production ledger would. */
const STATE_SETTINGS = { shared_buffers: '512MB', max_wal_size: '4GB' };

/**
 * Installs the packages of the peers if needed. They are separate, so that they stay out of the product's lockfile.
 */
export function installPeers(log) {
  const lock = join(BENCH, 'package-lock.json');
  const installed = join(BENCH, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && existsSync(lock) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  const command = existsSync(lock) ? 'ci' : 'install';
  log(`npm ${command} in bench/`);
  execFileSync('npm', [command], { cwd: BENCH, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Builds the sink with Go; throws if Go is not installed. */
export function buildSink(log) {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch {
    throw new Error(
      'The benchmark needs Go for its sink (bench/sink): install Go 1.21 or newer, so that `go` is on PATH.',
    );
  }
  log('building the sink');
  execFileSync('go', ['build', '-o', 'sink', '.'], {
    cwd: join(BENCH, 'sink'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** A module of the built product, whose embedded servers the benchmark uses. Throws if dist is missing. */
async function embedded(name) {
  const file = new URL(`../dist/src/embedded/${name}.js`, import.meta.url);
  if (!existsSync(file)) throw new Error(`${fileURLToPath(file)} is missing: run npm run build first.`);
  return import(file);
}

/** Starts the PostgreSQL server that contains the source. */
export async function startSource(log) {
  mkdirSync(LOGS, { recursive: true });
  const { startPostgres } = await embedded('postgres-server');
  return startPostgres({ folder: join(WORK, 'source'), log, settings: SOURCE_SETTINGS });
}

/** The same with logical replication. It has a folder of its own: a server without it does not start if there is a slot. */
export async function startLogicalSource(log) {
  mkdirSync(LOGS, { recursive: true });
  const { startPostgres } = await embedded('postgres-server');
  return startPostgres({ folder: join(WORK, 'logical-source'), log, settings: { ...SOURCE_SETTINGS, ...LOGICAL } });
}

/** Starts the PostgreSQL server for the ledger. */
export async function startState(log) {
  const { startPostgres } = await embedded('postgres-server');
  return startPostgres({ folder: join(WORK, 'state'), log, settings: STATE_SETTINGS });
}

let foundTemporal;
/** The Temporal CLI. Searched once, because the search may download or build it. */
function temporalCli(log) {
  foundTemporal ??= embedded('temporal-cli').then(({ findTemporal }) => findTemporal({ log }));
  return foundTemporal;
}

/** The version line of the Temporal CLI. */
export async function temporalVersion(log) {
  const { path } = await temporalCli(log);
  return execFileSync(path, ['--version'], { encoding: 'utf8' }).trim();
}

/** Starts Temporal with a new, empty database file, so that no history of an earlier run is left in it. */
export async function startTemporalServer(log) {
  const { startTemporal } = await embedded('temporal-server');
  const folder = join(WORK, 'temporal');
  mkdirSync(folder, { recursive: true });
  // Not the whole folder: its pid file is how a server that a killed run left behind is found.
  for (const name of readdirSync(folder).filter((file) => file.startsWith('temporal.db'))) rmSync(join(folder, name));
  return startTemporal({ path: (await temporalCli(log)).path, folder, log });
}

/**
 * Starts the sink on a free port. `reset` clears its counters and sets the latency of its answers in milliseconds;
 * `stats` returns what it has received; during an `outage` it answers with 503. With a `logFile`, it writes to it what it has
 * accepted when.
 */
export async function startSink(logFile = '') {
  const child = await spawnOwned(join(BENCH, 'sink', 'sink'), [], {
    name: 'sink',
    logs: LOGS,
    env: { ADDR: '127.0.0.1:0', GOGC: '400', LOG: logFile },
  });
  for (let i = 0; !child.output().includes('\n'); i++) {
    if (i === 500) {
      await child.stop();
      throw new Error(`the sink did not start${child.tail()}`);
    }
    await sleep(10);
  }
  const url = child.output().trim();
  const call = async (path, method) => {
    const answer = await globalThis.fetch(url + path, { method });
    if (!answer.ok) throw new Error(`sink: HTTP ${answer.status} to ${path}`);
    return answer;
  };
  return {
    pid: child.pid,
    url,
    stop: () => child.stop(),
    reset: (latencyMs) => call(`/reset?latency_ms=${latencyMs}`, 'POST'),
    outage: (isOn) => call(`/outage?on=${isOn}`, 'POST'),
    stats: async () => (await call('/stats', 'GET')).json(),
  };
}
