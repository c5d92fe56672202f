/** Sets a campaign up: servers, the source's tables and rows, the schema definitions, workers, and what watches them. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { withClient } from '../with-client.mjs';
import { watchProgress } from './progress.mjs';
import { openRuns } from './runs.mjs';
import { startServers } from './servers.mjs';
import { fill, SYNC, TABLES, writeSync } from './shop.mjs';
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

/** @returns everything that a round works with; `close` stops it */
export async function prepared(folder, state, log) {
  const { options } = state;
  const pace = paceOf(options.rows);
  const servers = await startServers(folder, pace, log);
  const stage = { folder, servers, urls: servers.urls };
  let closing;
  stage.close = () => (closing ??= closeAll());
  const closeAll = async () => {
    await stage.runs?.close();
    await stage.progress?.stop();
    await stage.workers?.stop();
    await servers.stop();
  };
  try {
    writeSync(servers.env.PARTNER_SYNC_MAPPINGS, {
      batchSize: pace.batchSize,
      requestsAtOnce: 8,
      inDoubtDelay: inDoubtDelayOf(options),
      batchDeadline: '1m',
      waitForPending: '1m',
    });
    await fillOnce(servers.urls.source, options.rows, log);
    const pushed = spawnSync(process.execPath, [CLI, 'schema', 'push', SYNC], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...servers.env, ...direct(servers) },
      encoding: 'utf8',
    });
    if (pushed.status !== 0) throw new Error(`schema push: ${pushed.stdout}${pushed.stderr}`);
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

async function fillOnce(url, rows, log) {
  await withClient(url, async (client) => {
    const { rows: found } = await client.query("SELECT to_regclass('shop.orders') IS NOT NULL AS there");
    if (found[0].there) return;
    log(`filling the source with ${rows} rows`);
    // All or nothing: a campaign that is interrupted here begins anew.
    await client.query('BEGIN');
    await client.query(TABLES);
    await fill(client, rows);
    await client.query('COMMIT');
  });
}
