/** Sets a campaign up: servers, the source's tables and rows, the schema definitions, workers, and what watches them. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { watchProgress } from './progress.mjs';
import { openRuns } from './runs.mjs';
import { startServers } from './servers.mjs';
import { fill, SYNC, writeSync } from './shop.mjs';
import { SOURCES, withSession } from './sources.mjs';
import { count } from './state.mjs';
import { startWorkers } from './workers.mjs';

const CLI = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/**
 * How fast runs go: few rows are sent in small batches to a slow platform, so that a run lasts long enough to be killed in.
 */
const paceOf = (rows) => ({
  batchSize: Math.min(500, Math.max(20, Math.round(rows / 500))),
  processingDelay: rows < 100_000 ? 300 : 50,
});

/** Longer than a request may be under way: faults of the network hold some up for eight seconds. */
const inDoubtDelayOf = ({ mixed, soak }) => (mixed > 0 || soak !== null ? '20s' : '4s');

/**
 * With more, batches wait for seconds in the platform's queue on a machine with two processors, and their wait would be part of the time
 * from a kill to the next checkpoint. A soak measures no such time.
 */
const requestsAtOnceOf = ({ soak }) => (soak === null ? 2 : 8);

/** @returns everything that a round works with; `close` stops it */
export async function prepared(folder, state, log) {
  const { options } = state;
  const pace = paceOf(options.rows);
  const database = SOURCES[options.source];
  const servers = await startServers(
    folder,
    { pace, database, feed: options.feed, program: options.sourceProgram },
    log,
  );
  const stage = { folder, database, servers, urls: servers.urls };
  let closing;
  stage.close = () => (closing ??= closeAll());
  const closeAll = async () => {
    await stage.runs?.close();
    await stage.progress?.stop();
    await stage.workers?.stop();
    await servers.stop();
  };
  const command = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...servers.env, ...direct(servers) },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`partner-sync ${args.join(' ')}: ${stdout}${stderr}`);
  };
  try {
    const upload = {
      batchSize: pace.batchSize,
      requestsAtOnce: requestsAtOnceOf(options),
      inDoubtDelay: inDoubtDelayOf(options),
      batchDeadline: '1m',
      waitForPending: '1m',
    };
    const changes = options.feed === null ? undefined : database.changes[options.feed];
    writeSync(servers.env.PARTNER_SYNC_MAPPINGS, database, upload, changes);
    await fillOnce(database, servers.urls.source, options.rows, log);
    state.source = await versionOf(database, servers.urls.source);
    command('schema', 'push', SYNC);
    if (changes !== undefined) command('changes', 'install', SYNC, '--apply');
    stage.runs = openRuns(servers.urls.temporal);
    stage.progress = watchProgress(servers.urls.ledger);
    stage.workers = await startWorkers({
      folder,
      env: servers.env,
      count: options.workers,
      reportsMemory: options.soak !== null,
      onDeath(death) {
        stage.workers?.disarm();
        count(state.kills, death.point ?? '');
        stage.progress.died(death);
        stage.onDeath?.(death);
      },
    });
  } catch (error) {
    await stage.close();
    throw error;
  }
  return stage;
}

/** This process does not serve the proxies while it waits for a command, so the command goes past them. */
const direct = ({ urls, sandboxUrl }) => ({
  SOURCE_URL: urls.source,
  PARTNER_SYNC_STATE_URL: urls.ledger,
  TEMPORAL_ADDRESS: urls.temporal,
  PLATFORM_BASE_URL: sandboxUrl,
});

const versionOf = (database, url) =>
  withSession(database, url, async (session) => {
    const [{ version }] = await session.rows(database.version);
    return `${database.title} ${version}`;
  });

async function fillOnce(database, url, rows, log) {
  await withSession(database, url, async (session) => {
    const isThere = await session.rows(`SELECT 1 FROM ${database.table('orders')} WHERE no = 'o1'`).catch(() => []);
    if (isThere.length > 0) return;
    log(`filling the source with ${rows} rows`);
    // All or nothing: a campaign that is interrupted here begins anew.
    await session.run('BEGIN');
    await session.run(database.tables);
    await fill(database, session, rows);
    await session.run('COMMIT');
    await session.run(database.analyze);
  });
}
