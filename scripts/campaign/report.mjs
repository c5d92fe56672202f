/** The report of a campaign: a document to keep in docs/reliability/, and its last lines for people. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { pointsFor } from './points.mjs';
import { LONGEST_SECONDS, percentiles } from './progress.mjs';
import { sumOf } from './state.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** What a campaign that begins, or goes on, is about: the commit, and whether the code differs from it. */
export const codeNow = () =>
  git('rev-parse', '--short=12', 'HEAD') +
  (git('status', '--porcelain', '--', 'src', 'activities', 'workflows', 'scripts') === '' ? '' : ' and changes');

export function reportOf(state) {
  const { options, progress } = state;
  const checkpoint = percentiles(progress.checkpoint);
  return {
    /** More than one if the campaign was resumed with other code. */
    commits: state.commits,
    date: new Date().toISOString().slice(0, 10),
    machine: {
      node: process.versions.node,
      processors: availableParallelism(),
      load: Math.round(loadavg()[2] * 10) / 10,
    },
    // Where a program is, is of no interest on another machine.
    options: { ...options, sourceProgram: undefined },
    source: state.source,
    minutes: Math.round(state.minutes * 10) / 10,
    rounds: state.rounds,
    kills: {
      total: sumOf(state.kills),
      atChance: state.kills[''] ?? 0,
      byPoint: Object.fromEntries(pointsFor(options).map((point) => [point, state.kills[point] ?? 0])),
    },
    faults: { total: sumOf(state.faults), byName: state.faults },
    progress: {
      unit: 's',
      takenOver: percentiles(progress.takenOver),
      checkpoint,
      notMeasured: { successorKilledToo: progress.again, workerWasIdle: progress.idle },
      target: `p95 of checkpoint under ${LONGEST_SECONDS} s: ${checkpoint === null ? 'not measured' : checkpoint.p95 < LONGEST_SECONDS ? 'held' : 'not held'}`,
      slow: progress.slow,
    },
    writer: state.writer,
    runs: state.runs,
    recordsCompared: state.rowsCompared,
    recordsMarkedAsDeleted: state.recordsMarked,
    ...(state.soak !== undefined && { soak: state.soak }),
    violations: state.violations,
  };
}

export function* linesOf(report) {
  const { kills, faults, progress, violations } = report;
  for (const violation of violations) yield `VIOLATION ${violation}`;
  for (const [point, times] of Object.entries(kills.byPoint))
    if (kills.total > 0) yield `${String(times).padStart(5)}  ${point}`;
  if (kills.total > 0) yield `${String(kills.atChance).padStart(5)}  a moment of chance`;
  for (const [name, times] of Object.entries(faults.byName)) yield `${String(times).padStart(5)}  ${name}`;
  for (const [what, { held, figure }] of Object.entries(report.soak?.judgements ?? {}))
    yield `${held ? 'held    ' : 'NOT HELD'}  ${what}: ${figure}`;
  const said = (figures) =>
    figures === null
      ? 'not measured'
      : `p50 ${figures.p50} s, p95 ${figures.p95} s, longest ${figures.max} s of ${figures.kills}`;
  if (kills.total > 0) {
    yield `from a kill until another worker has taken over: ${said(progress.takenOver)}`;
    yield `from a kill until the next checkpoint of all that was under way: ${said(progress.checkpoint)} (${progress.target})`;
    for (const slow of progress.slow) yield `  ${slow}`;
  }
  yield (
    `${kills.total} kills and ${faults.total} other faults in ${report.rounds} rounds and ${report.minutes} min, ` +
    `${report.recordsCompared} records compared: ${violations.length} violations`
  );
}
