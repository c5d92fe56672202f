/** What the contenders run against: two PostgreSQL servers, a Temporal server and the sink. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawnOwned } from './owned.mjs';

export const BENCH = fileURLToPath(new URL('.', import.meta.url));
export const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Data, logs and servers' files; git ignores it. */
export const WORK = join(ROOT, '.partner-sync', 'bench');
export const LOGS = join(WORK, 'logs');

/** Settings of the source: what a server has that is tuned for its memory, and nothing that runs by itself. */
const SOURCE_SETTINGS = { shared_buffers: '1GB', max_wal_size: '4GB', autovacuum: 'off', jit: 'off' };
/** The state keeps every default that concerns durability; it is a production ledger. */
const STATE_SETTINGS = { shared_buffers: '512MB', max_wal_size: '4GB' };

/** Peers have packages of their own, so that the product's lockfile stays free of them. */
export function installPeers(log) {
  const lock = join(BENCH, 'package-lock.json');
  const installed = join(BENCH, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && existsSync(lock) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  const command = existsSync(lock) ? 'ci' : 'install';
  log(`npm ${command} in bench/`);
  execFileSync('npm', [command], { cwd: BENCH, stdio: ['ignore', 'ignore', 'inherit'] });
}

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

/** The built product: its embedded servers start ours. */
async function embedded(name) {
  const file = new URL(`../dist/src/embedded/${name}.js`, import.meta.url);
  if (!existsSync(file)) throw new Error(`${fileURLToPath(file)} is missing: run npm run build first.`);
  return import(file);
}

export async function startSource(log) {
  mkdirSync(LOGS, { recursive: true });
  const { startPostgres } = await embedded('postgres');
  return startPostgres({ folder: join(WORK, 'source'), log, settings: SOURCE_SETTINGS });
}

export async function startState(log) {
  const { startPostgres } = await embedded('postgres');
  return startPostgres({ folder: join(WORK, 'state'), log, settings: STATE_SETTINGS });
}

let foundTemporal;
/** The Temporal CLI; searched once, since that may download or build it. */
function temporalCli(log) {
  foundTemporal ??= embedded('temporal').then(({ findTemporal }) => findTemporal({ log }));
  return foundTemporal;
}

export async function temporalVersion(log) {
  const { path } = await temporalCli(log);
  return execFileSync(path, ['--version'], { encoding: 'utf8' }).trim();
}

/** A Temporal server with a new, empty file database: no history of an earlier run can wait in it. */
export async function startTemporalServer(log) {
  const { startTemporal } = await embedded('temporal');
  const folder = join(WORK, 'temporal');
  mkdirSync(folder, { recursive: true });
  // Not the whole folder: its pid file tells of a server that a killed run has left behind.
  for (const name of readdirSync(folder).filter((file) => file.startsWith('temporal.db'))) rmSync(join(folder, name));
  return startTemporal({ path: (await temporalCli(log)).path, folder, log });
}

export async function startSink() {
  const child = await spawnOwned(join(BENCH, 'sink', 'sink'), [], {
    ...{ name: 'sink', logs: LOGS },
    env: { ADDR: '127.0.0.1:0', GOGC: '400' },
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
    stats: async () => (await call('/stats', 'GET')).json(),
  };
}
