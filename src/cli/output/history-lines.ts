/** Prints what a run did over time for people: its report, then what the report does not have. */
import { formatSeconds } from '../../domain/values/duration.js';
import { groupBy } from '../../domain/values/group-by.js';
import { isRefused } from '../../domain/run/refused.js';
import { secondsOf, type RunHistory } from '../../domain/run/run-history.js';
import { reportLines } from './report-lines.js';
import { printable, table } from './text-table.js';

/** The lines of the report, and further tables as far as there is something in them. */
export const historyLines = (history: RunHistory): string[] => [
  ...(history.report === null ? unreportedLines(history) : reportLines(history.report)),
  ...slowestLines(history),
  ...requestLines(history),
  ...earlierLines(history),
];

/** A run that has not ended, or has failed, has no report. */
function unreportedLines(history: RunHistory): string[] {
  const { run, sync, mode, outcome, failure, mappings } = history;
  const end =
    outcome === 'running'
      ? 'STILL GOING'
      : (isRefused(failure) ? 'refused' : outcome).toUpperCase().replaceAll('_', ' ');
  return [
    `run ${run} of ${sync} (${mode})  ${end}  ${formatSeconds(secondsOf(history))}`,
    ...(failure === null ? [] : [`${failure.code}: ${printable(failure.message)}`]),
    '',
    ...table(
      ['mapping', 'read', 'accepted', 'unchanged', 'waiting', 'dead-lettered'],
      mappings.map((m) => [m.mapping, m.read, m.accepted, m.unchanged, m.waiting, m.deadLettered]),
    ),
  ];
}

const inSeconds = (ms: number): string => formatSeconds(ms / 1000);

const slowestLines = ({ slowest }: RunHistory): string[] =>
  slowest.length === 0
    ? []
    : [
        '',
        'the partitions that took longest:',
        ...table(
          ['mapping', 'what', 'rows', 'duration', 'reading', 'sending', 'ledger'],
          slowest.map((part) => [
            part.mapping,
            part.label ?? '-',
            part.read,
            formatSeconds(part.seconds),
            inSeconds(part.readingMs),
            inSeconds(part.sendingMs),
            inSeconds(part.ledgerMs),
          ]),
        ),
      ];

function requestLines({ requests }: RunHistory): string[] {
  if (requests.length === 0) return [];
  const sums = [...groupBy(requests, ({ operation, status }) => `${operation} ${status}`).values()];
  return [
    '',
    'requests to the platform:',
    ...table(
      ['operation', 'status', 'requests'],
      sums.map((same) => [same[0]!.operation, same[0]!.status, same.reduce((sum, each) => sum + each.requests, 0)]),
    ),
  ];
}

const earlierLines = ({ before }: RunHistory): string[] =>
  before.length === 0
    ? []
    : [
        '',
        'runs of this kind and mode before it:',
        ...table(
          ['run', 'started', 'outcome', 'duration', 'read', 'accepted', 'dead-lettered'],
          before.map((b) => [
            b.run,
            b.startedAt,
            b.outcome,
            formatSeconds(b.seconds),
            b.read,
            b.accepted,
            b.deadLettered,
          ]),
        ),
      ];
