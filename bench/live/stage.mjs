/** What a measurement of mode live needs, all of it new: a source that may be changed, a ledger, Temporal, a sink and a worker. */
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { withClient } from '../../scripts/with-client.mjs';
import { cpuOfTree } from '../measure.mjs';
import { Owned, spawnOwned } from '../owned.mjs';
import {
  BENCH,
  LOGS,
  ROOT,
  WORK,
  startLogicalSource,
  startSink,
  startState,
  startTemporalServer,
} from '../services.mjs';
import { copySource, recreateDatabase } from '../source.mjs';
import { arrivalsOf } from './arrivals.mjs';

/** A wait that takes longer has failed. */
const LIMIT_MS = 30 * 60_000;
const LOOK_MS = 250;
/** After the rows are loaded, the activity that follows the feed begins anew, since nothing is searched any more. */
const AFTER_LOAD_MS = 10_000;
const FEED = '\nchanges: { slot: bench, publication: bench }\n';

/**
 * Starts all of it. The source's account may read tables and call the functions of the slot, and nothing else.
 *
 * @param size how many rows the source has at first: a name of `SIZES`
 * @param isFed whether the mappings go by a change feed; else they go by a cursor
 */
export function startStage({ owned, log }, { size, isFed }) {
  return owned.start(async () => {
    const own = new Owned();
    try {
      return await stageOf(own, log, size, isFed);
    } catch (error) {
      await own.stopAll(log);
      throw error;
    }
  });
}

async function stageOf(own, log, size, isFed) {
  const folder = join(WORK, 'live');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = { commits: join(folder, 'commits'), sink: join(folder, 'accepted.jsonl') };
  const mappings = join(folder, 'mappings');
  cpSync(join(BENCH, 'mappings'), mappings, { recursive: true });
  if (isFed) appendFileSync(join(mappings, 'bench', 'sync.yaml'), FEED);

  const source = await own.start(() => startLogicalSource(log));
  const sourceUrl = await copySource(source, size, 'live', log);
  const sink = await own.start(() => startSink(files.sink));
  const state = await own.start(() => startState(log));
  const temporal = await own.start(() => startTemporalServer(log));
  await recreateDatabase(state, 'live');
  const env = {
    PARTNER_SYNC_STATE_URL: state.url('live'),
    PARTNER_SYNC_MAPPINGS: mappings,
    PARTNER_SYNC_TASK_QUEUE: 'bench',
    SOURCE_URL: await readerOf(sourceUrl),
    SOURCE_ADMIN_URL: sourceUrl,
    PLATFORM_BASE_URL: sink.url,
    PLATFORM_TOKEN: 'bench',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'default',
  };
  const start = (name, args) =>
    own.start(() =>
      spawnOwned(join(ROOT, 'bin', 'partner-sync.js'), args, { name, logs: LOGS, cwd: ROOT, env, graceMs: 60_000 }),
    );
  /** Runs a command to its end and returns what it has printed. */
  const command = async (...args) => {
    const child = await start(args[0], args);
    const code = await child.ended;
    await own.stop(child);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}${child.tail()}`);
    return child.output();
  };
  await command('schema', 'push', 'bench');
  if (isFed) await command('changes', 'install', 'bench', '--apply');
  const worker = await start('worker', ['worker']);
  const ledger = async (sql) => (await withClient(state.url('live'), (client) => client.query(sql))).rows[0];
  const until = async (what, isSo) => {
    const deadline = performance.now() + LIMIT_MS;
    while (!(await isSo())) {
      if (performance.now() > deadline) throw new Error(`waited too long: ${what}${worker.tail()}`);
      await Promise.race([
        sleep(LOOK_MS),
        worker.ended.then((ending) => Promise.reject(new Error(`worker: ${ending}${worker.tail()}`))),
      ]);
    }
  };
  /** Resolves when a reading of the feed has ended. */
  const read = async () => {
    const last = () => ledger('SELECT max(read_at)::text AS at FROM partner_sync.change_feeds');
    const { at } = await last();
    await until('the feed is not read', async () => (await last()).at !== at);
  };
  const trees = { worker: worker.pid, source: source.pid, ledger: state.pid, temporal: temporal.pid };

  return {
    sourceUrl,
    sink,
    command,
    until,
    stop: () => own.stopAll(log),
    /** Starts a run in mode live, and resolves when every row has been loaded. Returns a function that ends the run. */
    async follow() {
      const { workflowId } = JSON.parse(await command('run', 'bench', '--mode', 'live', '--detach', '--json'));
      await until('loading', async () => {
        const { loaded } = await ledger(
          'SELECT coalesce(bool_and(loaded), false) AS loaded FROM partner_sync.fed_mappings',
        );
        return loaded;
      });
      await sleep(AFTER_LOAD_MS);
      return async () => {
        const connection = await Connection.connect({ address: temporal.address });
        try {
          const run = new Client({ connection }).workflow.getHandle(workflowId);
          await run.cancel();
          return await run.result();
        } finally {
          await connection.close();
        }
      };
    },
    /** Starts the writer, with `rate` writes a second for so many seconds, in a process of its own. */
    write: (rate, seconds) =>
      own.start(() =>
        spawnOwned(process.execPath, [join(BENCH, 'live', 'writer.mjs')], {
          name: 'writer',
          logs: LOGS,
          env: { DSN: sourceUrl, RATE: String(rate), SECONDS: String(seconds), COMMITS: files.commits },
        }),
      ),
    /** Resolves when no changed row is left in the ledger, after a reading of the feed that began after this call. */
    async caughtUp() {
      if (isFed) for (let reading = 0; reading < 2; reading++) await read();
      await until('changed rows are left', async () => {
        const { left } = await ledger('SELECT count(*)::int AS left FROM partner_sync.changed_rows');
        return left === 0;
      });
    },
    arrivals: () => arrivalsOf(files.commits, files.sink),
    /** CPU seconds so far, by program. */
    cpu: () => Object.fromEntries(Object.entries(trees).map(([name, pid]) => [name, cpuOfTree(pid)])),
    /** Changes what the mapping makes of every row, so that all records are sent again. */
    changeMapping() {
      const file = join(mappings, 'bench', 'customers.mapping.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('lowercase', 'uppercase'));
    },
  };
}

/** The connection string of an account that may only read. Runs by cursor have to see which transactions are open. */
async function readerOf(sourceUrl) {
  const url = new URL(sourceUrl);
  await withClient(sourceUrl, async (client) => {
    const { rowCount } = await client.query(`SELECT FROM pg_roles WHERE rolname = 'reader'`);
    if (rowCount === 0) await client.query(`CREATE ROLE reader LOGIN PASSWORD 'reader'`);
    await client.query(
      `GRANT CONNECT ON DATABASE ${url.pathname.slice(1)} TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; GRANT pg_read_all_stats TO reader`,
    );
  });
  [url.username, url.password] = ['reader', 'reader'];
  return url.href;
}
