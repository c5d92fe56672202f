/**
 * The contenders of the benchmark. Each is a function of the benchmark's context that returns the measurements of one
 * round: `contender` names the row of the table, `sends` is false if every row has been sent before.
 */
import { appendFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOfTree, machineCpu, reapedCpu, sampleMemory } from './measure.mjs';
import { spawnOwned } from './owned.mjs';
import { BENCH, LOGS, ROOT, WORK, startState, startTemporalServer } from './services.mjs';
import { recreateDatabase } from './source.mjs';

/** A run that takes longer is considered to hang. */
const LIMIT_MS = 30 * 60_000;
/** Wait after a run, so that the backends of its connections end and PostgreSQL's CPU time includes them. */
const AFTERMATH_MS = 300;
/** The time that a worker has to drain after SIGTERM. */
const WORKER_GRACE_MS = 60_000;

/** Contenders by the name that `--only` takes. */
export const CONTENDERS = {
  script: (bench) => peer(bench, 'script', 'naive.mjs'),
  tuned: (bench) => peer(bench, 'tuned', 'tuned.mjs'),
  'partner-sync': (bench) => product(bench, 'partner-sync', MAPPINGS),
  'ledger-off': (bench) => product(bench, 'partner-sync, ledger off', withoutLedger()),
};

/** Measures a plain script of bench/peers from its start to its end. */
async function peer(bench, name, file) {
  const measurement = await measured(bench, {}, async () => {
    const started = performance.now();
    const reaped = reapedCpu();
    const child = await bench.owned.start(() =>
      spawnOwned(process.execPath, [join(BENCH, 'peers', file)], {
        name,
        logs: LOGS,
        env: { DSN: bench.sourceUrl, SINK: bench.sink.url, BATCH: '500', CONC: '8' },
      }),
    );
    const memory = sampleMemory(child.pid);
    const exit = await within(child.ended);
    const wall = seconds(started);
    await bench.owned.stop(child);
    return { exit, wall, rss: memory.stop(), cpu: reapedCpu() - reaped, tail: child.tail() };
  });
  return [{ ...measurement, contender: name, sends: true }];
}

const MAPPINGS = join(BENCH, 'mappings');

/** A copy of the mappings with `ledger: off`, so that no records are kept. */
function withoutLedger() {
  const folder = join(WORK, 'mappings-ledger-off');
  cpSync(MAPPINGS, folder, { recursive: true });
  for (const name of ['customers', 'transactions'])
    appendFileSync(join(folder, 'bench', `${name}.mapping.yaml`), 'options: { ledger: off }\n');
  return folder;
}

/**
 * Measures the product as it is deployed, with a new ledger and a new Temporal server. Schema definitions are pushed
 * before, since that happens once per installation.
 */
async function product(bench, name, mappings) {
  const state = await bench.owned.start(() => startState(bench.log));
  const temporal = await bench.owned.start(() => startTemporalServer(bench.log));
  try {
    await recreateDatabase(state, 'bench');
    const env = {
      PARTNER_SYNC_STATE_URL: state.url('bench'),
      PARTNER_SYNC_MAPPINGS: mappings,
      PARTNER_SYNC_TASK_QUEUE: 'bench',
      SOURCE_URL: bench.sourceUrl,
      PLATFORM_BASE_URL: bench.sink.url,
      PLATFORM_TOKEN: 'bench',
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: 'default',
    };
    const start = (name, args) =>
      bench.owned.start(() =>
        spawnOwned(join(ROOT, 'bin', 'partner-sync.js'), args, {
          name,
          logs: LOGS,
          cwd: ROOT,
          env,
          graceMs: WORKER_GRACE_MS,
        }),
      );
    const push = await start('schema-push', ['schema', 'push', 'bench']);
    const pushed = await within(push.ended);
    await bench.owned.stop(push);
    if (pushed !== 0) throw new Error(`schema push ended with ${pushed}${push.tail()}`);
    const servers = { state, temporal };
    const line = bench.workers === 1 ? name : `${name}, ${bench.workers} workers`;
    const first = await measured(bench, servers, () => runProduct(bench, start));
    // Without a ledger a second run would send everything again, so it would measure nothing new.
    if (mappings !== MAPPINGS) return [{ ...first, contender: line, sends: true }];
    const again = await measured(bench, servers, () => runProduct(bench, start));
    return [
      { ...first, contender: line, sends: true },
      { ...again, contender: `${line}, again`, sends: false },
    ];
  } finally {
    await bench.owned.stop(temporal);
    await bench.owned.stop(state);
  }
}

/**
 * Measures from the start of the workers to the end of the run, so that start-up counts for the product as it does for
 * its peers.
 */
async function runProduct(bench, start) {
  const started = performance.now();
  const reaped = reapedCpu();
  const workers = [];
  for (let i = 1; i <= bench.workers; i++) workers.push(await start(`worker-${i}`, ['worker']));
  const memories = workers.map((worker) => sampleMemory(worker.pid));
  const cli = await start('run', ['run', 'bench', '--mode', 'full', '--json']);
  const cliMemory = sampleMemory(cli.pid);
  // A run without workers would wait forever.
  const lost = workers.map((worker) => worker.ended.then((ending) => `worker ended: ${ending}`));
  const exit = await within(Promise.race([cli.ended, ...lost]));
  const wall = seconds(started);
  await bench.owned.stop(cli);
  const afterCli = reapedCpu();
  await Promise.all(workers.map((worker) => bench.owned.stop(worker)));
  return {
    exit,
    wall,
    rss: Math.max(...memories.map((m) => m.stop())),
    cpu: reapedCpu() - afterCli,
    tail: cli.tail() + workers.map((worker) => worker.tail()).join(''),
    cliCpu: afterCli - reaped,
    cliRss: cliMemory.stop(),
    workerExit: await Promise.all(workers.map((worker) => worker.ended)),
    report: parsed(cli.output()),
  };
}

/**
 * Runs a contender and adds the CPU seconds that the servers, the sink and everything else on the machine used
 * meanwhile.
 */
async function measured(bench, servers, run) {
  await bench.sink.reset(bench.latencyMs);
  const look = () => ({
    source: cpuOfTree(bench.source.pid),
    sink: cpuOfTree(bench.sink.pid),
    state: servers.state ? cpuOfTree(servers.state.pid) : 0,
    temporal: servers.temporal ? cpuOfTree(servers.temporal.pid) : 0,
    ...machineCpu(),
    self: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
  });
  const before = look();
  const outcome = await run();
  await sleep(AFTERMATH_MS);
  const after = look();
  const used = Object.fromEntries(Object.keys(before).map((name) => [name, after[name] - before[name]]));
  const known = used.source + used.sink + used.state + used.temporal + used.self + outcome.cpu + (outcome.cliCpu ?? 0);
  return { ...outcome, ...used, other: Math.max(0, used.busy - known), stats: await bench.sink.stats() };
}

/** Resolves to the ending, or to `too slow` after the time limit. */
function within(ended) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, LIMIT_MS, 'too slow')));
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

const seconds = (since) => (performance.now() - since) / 1000;

/** The run's own report for the raw results, or the end of its output if that is not JSON. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(-2000);
  }
}
