/** The sections of a run's report. A section says so where there is nothing to show. */
import { quantity } from '../domain/values/quantity.js';
import { formatSeconds } from '../domain/values/duration.js';
import { groupBy } from '../domain/values/group-by.js';
import { secondsOf, type EarlierRun, type RunHistory } from '../domain/run/run-history.js';
import { milliseconds, perSecond, rateText, timeText } from './figures.js';
import { Figure, Section, Table } from './parts.js';
import { causesBar, comparison, timeOfMappings, totalMs } from './plots/bars.js';
import { outcomesOverTime, periodTotals, rateOverTime, requestsByStatus } from './plots/over-time.js';
import { nameOf, OUTCOMES, PARTS, RUN_OUTCOMES, STATUSES } from './plots/series.js';

interface OfHistory {
  readonly history: RunHistory;
}

export function OverTime({ history }: OfHistory) {
  const periods = periodTotals(history);
  if (periods.length === 0)
    return (
      <Section title="Over time">
        <p class="quiet">
          {history.total.read === 0
            ? 'It has read no rows.'
            : 'What happened when is not known any more: retention has removed it.'}
        </p>
      </Section>
    );
  return (
    <Section title="Over time">
      <Figure
        title="Rows by outcome"
        svg={outcomesOverTime(history)}
        legend={OUTCOMES}
        table={{
          caption: 'Rows that got each outcome in a period; negative: they had it before',
          heading: ['from', ...OUTCOMES.map(({ name }) => name)],
          rows: periods.map((period) => [
            timeText(period.from.toISOString()),
            ...OUTCOMES.map(({ key }) => period[key]),
          ]),
        }}
      />
      <Figure
        title="Rate"
        svg={rateOverTime(history)}
        table={{
          caption: 'Rows read in each period',
          heading: ['from', 'rows', 'rate'],
          rows: periods.map(({ from, read, rate }) => [timeText(from.toISOString()), read, perSecond(rate)]),
        }}
      />
    </Section>
  );
}

export function Causes({ history: { causes, sync } }: OfHistory) {
  if (causes.length === 0) return null;
  return (
    <Section title="Causes of dead letters">
      <Figure
        title="Dead letters by cause"
        svg={causesBar(causes)}
        table={{
          caption: 'Dead letters by cause; values are masked',
          heading: ['rows', 'open now', 'mapping', 'field', 'rule', 'code', 'reason', 'a value'],
          rows: causes.map((c) => [
            c.count,
            c.open,
            c.mapping,
            c.pointer || '–',
            c.rule,
            c.code,
            c.reason ?? '–',
            c.shape ?? '–',
          ]),
        }}
      />
      <p>
        <code>partner-sync dead-letters list {sync}</code> shows the dead letters.
      </p>
    </Section>
  );
}

export function SlowestParts({ history: { mappings, slowest } }: OfHistory) {
  const timed = mappings.filter((mapping) => totalMs(mapping) > 0);
  if (timed.length === 0 && slowest.length === 0) return null;
  const parts = (of: (typeof mappings)[0] | (typeof slowest)[0]) => PARTS.map(({ key }) => milliseconds(of[key]));
  return (
    <Section title="Slowest parts">
      {timed.length > 0 && (
        <Figure
          title="Time by mapping"
          svg={timeOfMappings(timed)}
          legend={PARTS}
          table={{
            caption: 'Time that chunks took; several are in progress at once, so the sums may exceed the duration',
            heading: ['mapping', ...PARTS.map(({ name }) => name)],
            rows: timed.map((mapping) => [mapping.mapping, ...parts(mapping)]),
          }}
        />
      )}
      {slowest.length > 0 && (
        <Table
          caption="The partitions that took longest"
          heading={['mapping', 'what', 'rows', 'duration', ...PARTS.map(({ name }) => name)]}
          rows={slowest.map((part) => [
            part.mapping,
            part.label ?? 'part of the rows',
            part.read,
            formatSeconds(part.seconds),
            ...parts(part),
          ])}
        />
      )}
    </Section>
  );
}

export function Requests({ history }: OfHistory) {
  if (history.requests.length === 0) return null;
  const sums = [...groupBy(history.requests, ({ operation, status }) => `${operation} ${status}`).values()].map(
    (same) => {
      const { operation, status } = same[0]!;
      const sum = (of: 'requests' | 'ms'): number => same.reduce((total, each) => total + each[of], 0);
      return { operation, status, requests: sum('requests'), ms: sum('ms') };
    },
  );
  const used = STATUSES.filter(({ key }) => sums.some(({ status }) => status === key));
  return (
    <Section title="Requests to the platform">
      <Figure
        title="Requests by status"
        svg={requestsByStatus(history)}
        legend={used}
        table={{
          caption: 'Requests by operation and status',
          heading: ['operation', 'status', 'requests', 'milliseconds each'],
          rows: sums
            .toSorted((a, b) => b.requests - a.requests)
            .map(({ operation, status, requests, ms }) => [
              operation,
              nameOf(STATUSES, status),
              requests,
              Math.round(ms / requests),
            ]),
        }}
      />
    </Section>
  );
}

/** The run itself, to be compared with earlier ones; undefined while it goes on. */
function asEarlier(history: RunHistory): EarlierRun | undefined {
  const { run, startedAt, total, outcome } = history;
  return outcome === 'running' ? undefined : { run, startedAt, seconds: secondsOf(history), outcome, ...total };
}

export function Comparison({ history }: OfHistory) {
  const self = asEarlier(history);
  const runs = [...history.before.toReversed(), ...(self === undefined ? [] : [self])];
  if (history.before.length === 0)
    return (
      <Section title="Compared with earlier runs">
        <p class="quiet">There is no earlier run of this kind and mode.</p>
      </Section>
    );
  return (
    <Section title="Compared with earlier runs">
      <Figure
        title="Duration"
        svg={comparison(runs)}
        legend={RUN_OUTCOMES.filter(({ key }) => runs.some(({ outcome }) => outcome === key))}
        table={{
          caption: 'Runs of the same kind and mode, the latest last',
          heading: ['run', 'started', 'outcome', 'duration', 'rate', ...['read', ...OUTCOMES.map(({ name }) => name)]],
          rows: runs.map((each) => [
            each.run,
            timeText(each.startedAt),
            nameOf(RUN_OUTCOMES, each.outcome),
            formatSeconds(each.seconds),
            rateText(each.read, each.seconds),
            ...[each.read, ...OUTCOMES.map(({ key }) => each[key])],
          ]),
        }}
      />
      {self !== undefined && <p>{againstMedian(self, history.before)}</p>}
    </Section>
  );
}

/** `It read 1,200 rows in 5.0s; the median of the 10 runs before is 1,000 rows in 4.0s.` */
function againstMedian(self: EarlierRun, before: readonly EarlierRun[]): string {
  const median = (of: (run: EarlierRun) => number): number => before.map(of).sort((a, b) => a - b)[before.length >> 1]!;
  const runs = before.length === 1 ? 'the run before read' : `the median of the ${before.length} runs before is`;
  return `It read ${quantity(self.read, 'row')} in ${formatSeconds(self.seconds)}; ${runs} ${quantity(
    median((run) => run.read),
    'row',
  )} in ${formatSeconds(median((run) => run.seconds))}.`;
}
