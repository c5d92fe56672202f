/** The report of a run as a page: what it did, how fast, what went wrong, and how it compares with the runs before it. */
import { formatSeconds } from '../domain/values/duration.js';
import { quantity } from '../domain/values/quantity.js';
import type { Counts } from '../domain/run/run.js';
import { isRefused } from '../domain/run/refused.js';
import { secondsOf, type RunHistory } from '../domain/run/run-history.js';
import { count, rateText, timeText } from './figures.js';
import { Section, Table, type Cell } from './parts.js';
import { Causes, Comparison, OverTime, Requests, SlowestParts } from './run-report-sections.js';
import { nameOf, RUN_OUTCOMES } from './plots/series.js';

/** How the run was started, in words. */
function startOf({ trigger, startedBy }: RunHistory): string {
  const by = startedBy === null ? '' : ` ${startedBy}`;
  if (trigger === 'schedule') return `schedule${by}`;
  return trigger === 'cli' ? `command line${by && `,${by}`}` : `Web UI or another client${by && `,${by}`}`;
}

const countCells = ({ read, accepted, unchanged, waiting, deadLettered }: Counts): Cell[] => [
  read,
  accepted,
  unchanged,
  waiting,
  deadLettered,
];

const COUNT_HEADINGS = ['read', 'accepted', 'unchanged', 'waiting', 'dead-lettered'];

function Outcome({ history }: { readonly history: RunHistory }) {
  const { outcome, failure, asOf } = history;
  if (outcome === 'running')
    return (
      <p>
        <span class="outcome">still going</span>; this is its state at {timeText(asOf)}.
      </p>
    );
  if (isRefused(failure))
    return (
      <p>
        <span class="outcome">refused</span>, because another run was working; it has done nothing.
      </p>
    );
  const isGood = outcome === 'complete' || outcome === 'complete_with_dead_letters';
  return (
    <p class={`outcome ${isGood ? 'outcome-good' : 'outcome-bad'}`}>
      {isGood ? '✓' : '✗'} {nameOf(RUN_OUTCOMES, outcome)}
    </p>
  );
}

/** The report as the one thing on a page. */
export const RunReportPage = ({ history }: { readonly history: RunHistory }) => (
  <main class="report">
    <h1>
      Run {history.run} of {history.sync}
    </h1>
    <RunReportContent history={history} />
  </main>
);

/** What the report says, under a heading that names the run. */
export function RunReportContent({ history }: { readonly history: RunHistory }) {
  const { kind, mode, startedAt, endedAt, filesVersion, failure, mappings, total, report } = history;
  const seconds = secondsOf(history);
  return (
    <>
      <Outcome history={history} />
      {failure !== null && (
        <p>
          <code>{failure.code}</code>: {failure.message}
        </p>
      )}
      <dl>
        <dt>kind and mode</dt>
        <dd>{kind === mode ? kind : `${kind}, ${mode}`}</dd>
        <dt>started</dt>
        <dd>
          {timeText(startedAt)}, by {startOf(history)}
        </dd>
        <dt>ended</dt>
        <dd>{endedAt === null ? 'not yet' : timeText(endedAt)}</dd>
        <dt>duration</dt>
        <dd>
          {formatSeconds(seconds)}, {rateText(total.read, seconds)}
        </dd>
        <dt>version of the files</dt>
        <dd>
          <code>{filesVersion}</code>
        </dd>
      </dl>
      <Section title="Rows by outcome">
        <Table
          caption="Rows of each mapping by outcome"
          heading={['mapping', ...COUNT_HEADINGS, 'duration', 'rate']}
          rows={[
            ...mappings.map((m) => [
              m.mapping,
              ...countCells(m),
              formatSeconds(m.seconds),
              rateText(m.read, m.seconds),
            ]),
            ['total', ...countCells(total), formatSeconds(seconds), rateText(total.read, seconds)],
          ]}
        />
        {total.waiting > 0 && (
          <p>
            {count(total.waiting)} {total.waiting === 1 ? 'record waits' : 'records wait'}; a later run delivers{' '}
            {total.waiting === 1 ? 'it' : 'them'} automatically.
          </p>
        )}
        {report?.skipped?.map(({ mapping, code, message }) => (
          <p>
            {mapping} did not run: <code>{code}</code>: {message}
          </p>
        ))}
        {report?.notes?.map(({ mapping, message }) => (
          <p>
            {mapping}: {message}
          </p>
        ))}
        {report !== null && report.removals.length > 0 && (
          <Table
            caption="Removal plans"
            heading={['plan', 'mapping', 'records', 'state']}
            rows={report.removals.map(({ plan, mapping, records, state }) => [
              plan,
              mapping,
              records,
              state.replaceAll('_', ' '),
            ])}
          />
        )}
      </Section>
      <OverTime history={history} />
      <Causes history={history} />
      <SlowestParts history={history} />
      <Requests history={history} />
      <Comparison history={history} />
      <p class="quiet">
        Read from the ledger at {timeText(history.asOf)}. Periods of {quantity(history.periodSeconds, 'second')}.
      </p>
    </>
  );
}
