/**
 * npm run bench -- [--rows small|full] [--rounds N] [--only name,...] [--latency-ms N] [--workers N]
 * npm run bench -- --live ...    (live.mjs)
 *
 * Measures partner-sync against a plain script and against the fastest pipeline found. All contenders run in each
 * round, because absolute numbers vary with other load on the machine, while ratios within a round are stable. See
 * README.md.
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CONTENDERS } from './contenders.mjs';
import { measureLive } from './live.mjs';
import { Owned } from './owned.mjs';
import { describeMachine, tableOf } from './report.mjs';
import { BENCH, LOGS, buildSink, installPeers, startSink, startSource, temporalVersion } from './services.mjs';
import { withClient } from '../scripts/with-client.mjs';
import { SIZES, loadSource } from './source.mjs';
import { firstDifference, problemsOf, problemsOfSilence, samplesOf } from './verify.mjs';

// Progress goes to the standard error, so that the standard output is the table alone.
const log = (line) => console.error(line);
const owned = new Owned();

let interrupted = false;
for (const [signal, code] of Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 })) {
  process.on(signal, () => {
    if (interrupted) return; // a second Ctrl-C does not interrupt stopping; every stop has its own time limit
    interrupted = true;
    log(`${signal}: stopping what was started`);
    void owned.stopAll(log).then(() => process.exit(code));
  });
}

try {
  if (process.platform !== 'linux') throw new Error('the measurement reads /proc: it runs on Linux only');
  const args = process.argv.slice(2);
  const results = args.includes('--live')
    ? await measureLive(
        args.filter((arg) => arg !== '--live'),
        owned,
        log,
      )
    : await main(optionsOf(args));
  process.exitCode = results.every((r) => r.ok) ? 0 : 1;
} catch (error) {
  process.exitCode = 1;
  // Failures during an interrupt are a consequence of stopping and need no message.
  if (!interrupted) log(`bench: ${error.message}`);
} finally {
  await owned.stopAll(log);
}

/** Parses and checks the command line; throws with the accepted values. */
function optionsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string', default: 'small' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', default: Object.keys(CONTENDERS).join(',') },
      'latency-ms': { type: 'string', default: '0' },
      workers: { type: 'string', default: '1' },
    },
  });
  const only = values.only.split(',');
  const unknown = only.filter((name) => !Object.hasOwn(CONTENDERS, name));
  if (unknown.length) throw new Error(`--only ${unknown}: there are ${Object.keys(CONTENDERS).join(', ')}`);
  if (!Object.hasOwn(SIZES, values.rows)) throw new Error(`--rows ${values.rows}: small or full`);
  const number = (name, least) => {
    if (/^\d+$/.test(values[name]) && Number(values[name]) >= least) return Number(values[name]);
    throw new Error(`--${name} ${values[name]}: a whole number from ${least}`);
  };
  return {
    size: values.rows,
    only,
    rounds: number('rounds', 1),
    latencyMs: number('latency-ms', 0),
    workers: number('workers', 1),
  };
}

/**
 * Prepares the servers, runs all rounds, prints the table and returns the results. Raw results are appended to a file
 * as they arrive.
 */
async function main({ size, rounds, only, latencyMs, workers }) {
  installPeers(log);
  buildSink(log);
  const source = await owned.start(() => startSource(log));
  const sourceUrl = await loadSource(source, size, log);
  const sink = await owned.start(() => startSink());
  const version = await withClient(sourceUrl, (c) => c.query('SHOW server_version'));
  const machine = describeMachine({
    postgres: version.rows[0].server_version,
    temporal: only.some((name) => name === 'partner-sync' || name === 'ledger-off')
      ? await temporalVersion(log)
      : 'no server',
  });
  const file = join(BENCH, 'results', `${new Date().toISOString().replaceAll(':', '')}-${size}.jsonl`);
  mkdirSync(join(BENCH, 'results'), { recursive: true });
  const keep = (line) => appendFileSync(file, `${JSON.stringify(line)}\n`);
  keep({ machine, size, rounds, only, latencyMs, workers });

  const results = [];
  let expected; // sample records of the first good run, which every other contender must have sent too
  for (let round = 1; round <= rounds; round++) {
    for (let i = 0; i < only.length; i++) {
      // Each round starts with another contender, so that none always runs after the same one.
      const contender = only[(i + round - 1) % only.length];
      const runs = await CONTENDERS[contender]({ owned, source, sourceUrl, sink, latencyMs, workers, log });
      for (const run of runs) {
        const samples = samplesOf(run.stats);
        const difference = run.sends && expected && firstDifference(samples, expected);
        const result = resultOf(run, { contender: run.contender, round, size, latencyMs }, difference);
        if (result.ok && run.sends) expected ??= samples;
        results.push(result);
        keep(result);
        log(line(result));
      }
    }
  }
  const { customers, transactions } = SIZES[size];
  const rows = (customers + transactions).toLocaleString('en-US');
  console.log(
    `${rows} rows, ${rounds} interleaved rounds, batches of 500, 8 requests at once, ${latencyMs} ms a request\n`,
  );
  console.log(tableOf(results, machine));
  log(`raw results: ${file}\nlogs: ${LOGS}`);
  return results;
}

/**
 * One line of the raw results: the measurements of a run, per million rows if that applies, and the problems found.
 */
function resultOf(run, facts, difference) {
  const { stats } = run;
  const problems = [
    ...(run.exit === 0 ? [] : [`it ended with ${run.exit}${run.tail}`]),
    ...(run.sends ? problemsOf(stats, facts.size) : problemsOfSilence(stats, run.report, facts.size)),
    ...(difference ? [difference] : []),
  ];
  const rows = run.sends
    ? (stats.customers?.records ?? 0) + (stats.transactions?.records ?? 0)
    : (run.report?.total?.unchanged ?? 0);
  const perMillion = (seconds) => (rows ? (seconds / rows) * 1e6 : 0);
  const beside = { source: run.source, state: run.state, sink: run.sink, temporal: run.temporal, cli: run.cliCpu ?? 0 };
  return {
    at: new Date().toISOString(),
    ...facts,
    ok: problems.length === 0,
    problems,
    exit: run.exit,
    rows,
    wall: run.wall,
    rowsPerSecond: rows / run.wall,
    spanRowsPerSecond: run.sends ? rows / stats.spanSeconds : null,
    cpu: run.cpu,
    cpuPerMillion: perMillion(run.cpu),
    rss: run.rss,
    cliRss: run.cliRss,
    workerExit: run.workerExit,
    besidePerMillion: Object.fromEntries(Object.entries(beside).map(([name, cpu]) => [name, perMillion(cpu)])),
    otherCpu: run.other,
    benchCpu: run.self,
    steal: run.steal,
    polls: stats.polls,
    maxInFlight: stats.maxInFlight,
    requests: { customers: stats.customers?.requests, transactions: stats.transactions?.requests },
    report: run.report,
  };
}

function line(r) {
  const speed = `${Math.round(r.rowsPerSecond).toLocaleString('en-US')} rows/s`;
  const cost = `${r.cpuPerMillion.toFixed(2)} CPU-s per M, ${Math.round(r.rss / 2 ** 20)} MB`;
  return `round ${r.round} ${r.contender}: ${r.ok ? 'ok' : 'NOT OK'}, ${speed}, ${cost}${r.problems.map((p) => `\n  ${p}`).join('')}`;
}
