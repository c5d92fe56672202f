/** Plots that compare: causes of dead letters, mappings by the time that they took, runs, and the days of a sync. */
import { quantity } from '../../domain/values/quantity.js';
import { formatSeconds } from '../../domain/values/duration.js';
import type { EarlierRun, MappingHistory, RunCause, SyncDay } from '../../domain/run/run-history.js';
import { compact, count, dayOf } from '../figures.js';
import { draw, HEIGHT } from './draw.js';
import { Plot } from './library.js';
import { colorsOf, nameOf, PARTS, RUN_OUTCOMES } from './series.js';

/** Most bars of a plot; the table beside it has all of them. */
const MOST = 12;
/** Most characters of a label beside a bar. */
const LABEL = 40;
const ROW_HEIGHT = 26;

const shortened = (label: string): string => (label.length <= LABEL ? label : `${label.slice(0, LABEL - 1)}…`);

/** The field, rule and mapping of a cause: `customers /email: format`. */
const causeName = ({ mapping, pointer, rule }: RunCause): string => `${mapping} ${pointer || '(row)'}: ${rule}`;

/** Dead letters by cause, the most frequent first. */
export function causesBar(causes: readonly RunCause[]): string {
  // A number keeps labels apart that are the same once they are shortened.
  const data = causes
    .slice(0, MOST)
    .map((cause, i) => ({ no: String(i), label: shortened(causeName(cause)), ...cause }));
  return draw({
    ariaLabel: `Dead letters by cause. ${data.map((cause) => `${causeName(cause)}: ${count(cause.count)}`).join('; ')}.`,
    height: 40 + data.length * ROW_HEIGHT,
    marginLeft: 260,
    marginRight: 60,
    x: { label: 'rows', grid: true, tickFormat: compact },
    y: { label: null, domain: data.map(({ no }) => no), tickFormat: (no: string) => data[Number(no)]!.label },
    marks: [
      Plot.barX(data, { x: 'count', y: 'no', fill: 'var(--plot-bad)' }),
      Plot.text(data, {
        x: 'count',
        y: 'no',
        text: (cause: RunCause) => count(cause.count),
        textAnchor: 'start',
        dx: 4,
      }),
      Plot.ruleX([0]),
    ],
  });
}

/** How long the chunks of each mapping took, by what they waited for. */
export function timeOfMappings(mappings: readonly MappingHistory[]): string {
  const slowest = mappings.toSorted((a, b) => totalMs(b) - totalMs(a)).slice(0, MOST);
  const data = slowest.flatMap((mapping) =>
    PARTS.map(({ key, name }) => ({ mapping: mapping.mapping, part: name, seconds: mapping[key] / 1000 })),
  );
  return draw({
    ariaLabel: `Time that chunks took. ${slowest.map((each) => `${each.mapping}: ${formatSeconds(totalMs(each) / 1000)}`).join('; ')}.`,
    height: 40 + slowest.length * ROW_HEIGHT,
    marginLeft: 260,
    x: { label: 'time, over all chunks', grid: true, ticks: 6, tickFormat: formatSeconds },
    y: { label: null, domain: slowest.map(({ mapping }) => mapping), tickFormat: shortened },
    color: colorsOf(PARTS),
    marks: [
      Plot.barX(data, {
        x: 'seconds',
        y: 'mapping',
        fill: 'part',
        order: PARTS.map(({ name }) => name),
        title: ({ part, seconds }: { part: string; seconds: number }) => `${part}: ${formatSeconds(seconds)}`,
      }),
      Plot.ruleX([0]),
    ],
  });
}

export const totalMs = (of: Pick<MappingHistory, 'readingMs' | 'sendingMs' | 'ledgerMs'>): number =>
  of.readingMs + of.sendingMs + of.ledgerMs;

/** How long runs took, the oldest first; the last one is the run of the report. */
export function comparison(runs: readonly EarlierRun[]): string {
  const data = runs.map((run) => ({ ...run, ended: nameOf(RUN_OUTCOMES, run.outcome) }));
  return draw({
    ariaLabel: `How long the runs took. ${data.map(({ run, seconds, ended }) => `Run ${run}: ${formatSeconds(seconds)}, ${ended}`).join('; ')}.`,
    height: HEIGHT,
    x: { label: 'run', domain: data.map(({ run }) => run) },
    y: { label: 'duration', grid: true, ticks: 6, tickFormat: formatSeconds },
    color: colorsOf(RUN_OUTCOMES),
    marks: [
      Plot.barY(data, {
        x: 'run',
        y: 'seconds',
        fill: 'ended',
        title: ({ ended, seconds }: (typeof data)[0]) => `${ended}, ${formatSeconds(seconds)}`,
      }),
      Plot.ruleY([0]),
    ],
  });
}

/**
 * The last days of one sync, up to `today`, in the size of a line of text: rows accepted as bars; below the line, a mark on
 * each day on which a run failed or ended incomplete.
 */
export function sparkline(days: readonly SyncDay[], today: Date, length = 30): string {
  const byDay = new Map(days.map((day) => [day.day, day]));
  const data = Array.from({ length }, (_, i) => {
    const day = dayOf(new Date(today.getTime() - (length - 1 - i) * DAY));
    const known = byDay.get(day);
    return { no: i, accepted: known?.accepted ?? 0, bad: (known?.runs.failed ?? 0) + (known?.runs.incomplete ?? 0) };
  });
  const accepted = data.reduce((sum, each) => sum + each.accepted, 0);
  const most = Math.max(1, ...data.map((each) => each.accepted));
  const bad = data.filter((each) => each.bad > 0);
  return draw({
    ariaLabel: `The last ${length} days: ${quantity(accepted, 'row')} accepted; runs failed or ended incomplete on ${bad.length} of them.`,
    classes: 'plot sparkline',
    width: 150,
    height: 28,
    margin: 1,
    marginLeft: 1,
    axis: null,
    x: { domain: [-0.5, length - 0.5], type: 'linear' },
    y: { domain: [-0.35 * most, most] },
    marks: [
      Plot.rectY(data, {
        x1: ({ no }: (typeof data)[0]) => no - 0.4,
        x2: ({ no }: (typeof data)[0]) => no + 0.4,
        y: 'accepted',
        fill: 'var(--plot-good)',
      }),
      Plot.dot(bad, { x: 'no', y: () => -0.2 * most, r: 2, symbol: 'triangle', fill: 'var(--plot-bad)' }),
      Plot.ruleY([0]),
    ],
  });
}

const DAY = 86_400_000;
