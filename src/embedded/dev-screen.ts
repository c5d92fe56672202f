/** The screen of `dev`: addresses, syncs, findings and the latest events, as lines that fit a terminal. */
import { table } from '../cli/output/text-table.js';
import type { OverviewEntry } from './sync-overview.js';

/** What is shown. */
export interface DevState {
  /** By what they are called. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly entries: readonly OverviewEntry[];
  /** The latest last, each with its time. */
  readonly events: readonly string[];
}

/** The size of a terminal. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Events that are shown at least, if there are as many; findings take the other rows first. */
const EVENTS_KEPT = 6;

const NO_SYNC = [
  'No sync yet. In another terminal, in this folder:',
  '  npx partner-sync init --help   drafts one from the tables of your database',
];

/** The lines of the screen: none wider than the terminal, and never more than it has rows. */
export function screenLines({ addresses, entries, events }: DevState, { columns, rows }: TerminalSize): string[] {
  const width = Math.max(20, columns - 1);
  const widest = Math.max(...Object.keys(addresses).map((name) => name.length));
  const head = [
    'partner-sync dev: Ctrl-C drains and stops, a second Ctrl-C stops at once',
    '',
    ...Object.entries(addresses).map(([name, address]) => `${name.padEnd(widest)}  ${address}`),
    '',
    ...(entries.length === 0 ? NO_SYNC : syncLines(entries)),
  ];
  const findings = entries.flatMap((entry) => entry.findings.flatMap((line) => wrapped(line, width)));
  const kept = Math.min(events.length, EVENTS_KEPT);
  // One empty line before each of the two parts.
  const room = Math.max(0, rows - 1 - head.length - kept - 2);
  const shown = findings.length <= room ? findings : [...findings.slice(0, Math.max(0, room - 1)), MORE];
  const rest = Math.max(0, rows - 1 - head.length - (shown.length > 0 ? shown.length + 1 : 0) - 1);
  return [
    ...head,
    ...(shown.length > 0 ? ['', ...shown] : []),
    ...(events.length > 0 && rest > 0 ? ['', ...events.slice(-rest)] : []),
  ]
    .map((line) => line.slice(0, width))
    .slice(0, Math.max(1, rows - 1));
}

const MORE = '... and more: npx partner-sync check <sync> --offline';

const syncLines = (entries: readonly OverviewEntry[]): string[] =>
  table(
    ['sync', 'files', 'latest run', 'outcome', 'at'],
    entries.map(({ sync, files, latest }) => [
      sync,
      files,
      latest?.run ?? '-',
      latest?.outcome.replaceAll('_', ' ') ?? 'none yet',
      latest === undefined ? '' : clock(new Date(latest.endedAt ?? latest.startedAt)),
    ]),
  );

/** A time of the day on this machine, `14:02:11`. */
export const clock = (time: Date): string =>
  [time.getHours(), time.getMinutes(), time.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');

/** A line in several, each but the first indented; at spaces where there are any. */
function wrapped(line: string, width: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const at = space > width / 2 ? space : width;
    lines.push(rest.slice(0, at));
    rest = `  ${rest.slice(at).trimStart()}`;
  }
  return [...lines, rest];
}
