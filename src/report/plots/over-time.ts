/** Plots of a run over its time. */
import { addCounts, NO_COUNTS, type Counts } from '../../domain/run/run.js';
import type { RunHistory } from '../../domain/run/run-history.js';
import { groupBy } from '../../domain/values/group-by.js';
import { draw } from './draw.js';
import { Plot } from './library.js';
import { colorsOf, nameOf, OUTCOMES, STATUSES } from './series.js';
import { compact, count, perSecond } from '../figures.js';

/** A run's time on the axis: from its beginning to its end, or to now. */
const TIME = { type: 'utc', label: 'time (UTC)' } as const;

interface Span {
  readonly from: Date;
  readonly to: Date;
}

const spanOf = ({ startedAt, endedAt, asOf }: RunHistory): Span => ({
  from: new Date(startedAt),
  to: new Date(Math.max(Date.parse(endedAt ?? asOf), Date.parse(startedAt) + 1000)),
});

/** What happened in one period, over all mappings. */
export interface PeriodTotal extends Counts {
  readonly from: Date;
  readonly to: Date;
  /** Rows read in a second. */
  readonly rate: number;
}

/** The period that begins at this time, as far as it is within the run. */
function within(history: RunHistory, beginsAt: string): Span & { readonly seconds: number } {
  const { from: first, to: last } = spanOf(history);
  const begins = Date.parse(beginsAt);
  const from = Math.min(Math.max(begins, first.getTime()), last.getTime());
  const to = Math.max(Math.min(begins + history.periodSeconds * 1000, last.getTime()), from);
  return { from: new Date(from), to: new Date(to), seconds: Math.max((to - from) / 1000, 0.5) };
}

/** The run's periods, summed over its mappings. */
export function periodTotals(history: RunHistory): PeriodTotal[] {
  const byTime = groupBy(history.periods, ({ beginsAt }) => beginsAt);
  return [...byTime].map(([beginsAt, periods]) => {
    const { seconds, ...span } = within(history, beginsAt);
    const counts = periods.reduce<Counts>(addCounts, NO_COUNTS);
    return { ...span, ...counts, rate: counts.read / seconds };
  });
}

/** Rows by outcome so far: at the end of each period, how many rows had which outcome by then. */
export function outcomesOverTime(history: RunHistory): string {
  const { from, to } = spanOf(history);
  let sum: Counts = NO_COUNTS;
  const points = [{ at: from, counts: sum }];
  for (const period of periodTotals(history)) points.push({ at: period.to, counts: (sum = addCounts(sum, period)) });
  points.push({ at: to, counts: sum });
  const data = points.flatMap(({ at, counts }) =>
    OUTCOMES.map(({ key, name }) => ({ at, outcome: name, rows: counts[key] })),
  );
  const order = OUTCOMES.map(({ name }) => name);
  return draw({
    ariaLabel: `Rows by outcome over time: ${OUTCOMES.map(({ key, name }) => `${count(sum[key])} ${name}`).join(', ')} at the end.`,
    x: { ...TIME, domain: [from, to] },
    y: { label: 'rows so far', grid: true, tickFormat: compact },
    color: colorsOf(OUTCOMES),
    marks: [
      Plot.areaY(data, { x: 'at', y: 'rows', fill: 'outcome', z: 'outcome', order, stroke: 'var(--plot-ground)' }),
      Plot.ruleY([0]),
    ],
  });
}

/** Rows read in a second, period by period. */
export function rateOverTime(history: RunHistory): string {
  const { from, to } = spanOf(history);
  const periods = periodTotals(history);
  const most = Math.max(0, ...periods.map(({ rate }) => rate));
  return draw({
    ariaLabel: `Rows read in a second over time: ${perSecond(most)} at most.`,
    x: { ...TIME, domain: [from, to] },
    y: { label: 'rows a second', grid: true, tickFormat: compact },
    marks: [
      Plot.rectY(periods, {
        x1: 'from',
        x2: 'to',
        y: 'rate',
        fill: 'var(--plot-good)',
        title: (p: PeriodTotal) => perSecond(p.rate),
      }),
      Plot.ruleY([0]),
    ],
  });
}

/** Requests to the platform by the class of their status, period by period. */
export function requestsByStatus(history: RunHistory): string {
  const { from, to } = spanOf(history);
  const byPeriod = groupBy(history.requests, ({ beginsAt, status }) => `${beginsAt} ${status}`);
  const data = [...byPeriod.values()].map((same) => {
    const { beginsAt, status } = same[0]!;
    const requests = same.reduce((sum, each) => sum + each.requests, 0);
    return { ...within(history, beginsAt), status: nameOf(STATUSES, status), requests };
  });
  const all = data.reduce((sum, { requests }) => sum + requests, 0);
  const good = data.reduce((sum, { status, requests }) => sum + (status === '2xx' ? requests : 0), 0);
  return draw({
    ariaLabel: `Requests to the platform over time: ${count(all)}, of which ${count(all - good)} without success.`,
    x: { ...TIME, domain: [from, to] },
    y: { label: 'requests', grid: true, tickFormat: compact },
    color: colorsOf(STATUSES),
    marks: [
      Plot.rectY(data, {
        x1: 'from',
        x2: 'to',
        y: 'requests',
        fill: 'status',
        order: STATUSES.map(({ name }) => name),
        title: ({ status, requests }: { status: string; requests: number }) => `${status}: ${count(requests)}`,
      }),
      Plot.ruleY([0]),
    ],
  });
}
