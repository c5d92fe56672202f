/** Writes the results of a benchmark run as Markdown: a line about the machine, and a table. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './services.mjs';

/** Share of the machine's CPU time. A run during which other programs used more is noted below the table. */
const DISTURBED = 0.05;

/**
 * Hardware and versions, for the report and the raw results. `servers` adds the versions of PostgreSQL and Temporal.
 */
export function describeMachine(servers) {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    go: output('go', ['version']).split(' ')[2],
    ...servers,
    knex: dependencies.knex,
    pg: dependencies.pg,
    undici: dependencies.undici,
    temporalSdk: dependencies['@temporalio/worker'],
    commit: output('git', ['describe', '--always', '--dirty']),
  };
}

/** The output of a command, or `unknown` if it fails. */
function output(command, args) {
  try {
    return execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return 'unknown';
  }
}

/** The median; the mean of the two middle values for an even count. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const whole = (n) => Math.round(n).toLocaleString('en-US');
const two = (n) => n.toFixed(2);
const megabytes = (bytes) => whole(bytes / 2 ** 20);

/** Columns with a median, a range and a ratio to the contender `script`. */
const COMPARED = [
  { title: 'rows/s', of: (r) => r.rowsPerSecond, format: whole },
  { title: 'CPU-s per M rows', of: (r) => r.cpuPerMillion, format: two },
  { title: 'peak RSS MB', of: (r) => r.rss, format: megabytes },
];
/** Processes whose CPU seconds per million rows are shown separately from the contender's own, as medians. */
const BESIDE = ['source', 'state', 'sink', 'temporal', 'cli'];

/** The table, with one row for each contender, and the notes below it. */
export function tableOf(results, machine) {
  const names = [...new Set(results.map((r) => r.contender))];
  const head = [
    'contender',
    ...COMPARED.flatMap(({ title }) => [`${title}: median (min-max)`, '× script']),
    'rows/s, first to last request',
    ...BESIDE.map((name) => `${name} CPU-s per M`),
    'ok',
  ];
  const lines = names.map((name) => {
    const all = results.filter((r) => r.contender === name);
    const good = all.filter((r) => r.ok);
    const cells = good.length ? cellsOf(good, results) : Array(head.length - 2).fill('-');
    return [name, ...cells, `${good.length}/${all.length}`];
  });
  const rows = [head, head.map((_, i) => (i ? '--:' : '---')), ...lines].map((row) => `| ${row.join(' | ')} |`);
  return [machineLine(machine), '', ...rows, '', ...notes(results, machine)].join('\n');
}

function cellsOf(good, results) {
  return [
    ...COMPARED.flatMap(({ of, format }) => {
      const values = good.map(of);
      const range = `${format(Math.min(...values))}-${format(Math.max(...values))}`;
      return [`${format(median(values))} (${range})`, ratioToScript(good, results, of)];
    }),
    good[0].spanRowsPerSecond === null ? '-' : whole(median(good.map((r) => r.spanRowsPerSecond))),
    ...BESIDE.map((name) => two(median(good.map((r) => r.besidePerMillion[name])))),
  ];
}

/** The median of the ratios within each round: a machine that slows down in between affects both sides. */
function ratioToScript(good, results, of) {
  const ratios = good.flatMap((r) => {
    const script = results.find((s) => s.contender === 'script' && s.round === r.round && s.ok);
    return script ? [of(r) / of(script)] : [];
  });
  return ratios.length ? two(median(ratios)) : '-';
}

/** What {@link describeMachine} found, in one line. */
export function machineLine(m) {
  return (
    `${m.cores} cores (${m.cpu}), ${m.memoryGiB} GiB, Linux ${m.kernel}; Node ${m.node}, ${m.go}, PostgreSQL ${m.postgres}, ` +
    `knex ${m.knex}, pg ${m.pg}, undici ${m.undici}, Temporal SDK ${m.temporalSdk} with ${m.temporal}; commit ${m.commit}`
  );
}

/** A line for each run that failed its verification, and for each that was disturbed. */
function notes(results, machine) {
  return results.flatMap((r) => {
    const lines = r.problems.map((problem) => `- NOT OK: ${r.contender}, round ${r.round}: ${problem}`);
    const foreign = (r.otherCpu + r.steal) / (r.wall * machine.cores);
    if (foreign > DISTURBED) {
      lines.push(
        `- disturbed: ${r.contender}, round ${r.round}: ${whole(foreign * 100)} % of the machine went elsewhere`,
      );
    }
    return lines;
  });
}
