/** The progress of a run as a block of lines that a terminal redraws: one for each mapping, none of them too wide. */
import { countsOf, percentOf, secondsLeft, stateOf, totalOf, type MappingProgress } from '../../domain/run/progress.js';
import { formatSeconds } from '../../domain/values/duration.js';
import { formatCount, quantity } from '../../domain/values/quantity.js';
import { printable } from '../output/text-table.js';

/** What there is room for on the terminal. */
export interface Room {
  readonly columns: number;
  readonly rows: number;
}

/** Of a line, what the name of a mapping takes at most; a longer one is shortened. */
const NAMES_SHARE = 4;

/** A mapping in such a block. */
export interface BlockRow {
  readonly mapping: string;
  /** Two columns beside the name. */
  readonly cells: readonly [string, string];
  /** What follows as far as there is room, the most important one first. */
  readonly counts: readonly string[];
  /** Whether it may be left out if there are more mappings than lines. */
  readonly isDone: boolean;
}

/** `customers   43 % of ~960,000   2m 5s left   12,000 in flight, 1,950 rows/s`. */
export const progressBlock = (mappings: readonly MappingProgress[], room: Room): string[] =>
  mappingBlock(mappings.map(progressRow), room);

/** Of a mapping of which rows are read up to an end. */
export const progressRow = (m: MappingProgress): BlockRow => ({
  mapping: m.mapping,
  cells: [readOf(m), timeOf(m)],
  counts: countsOf(m).slice(m.read === 0 ? 0 : 1),
  isDone: m.done,
});

/**
 * A line for each mapping. Counts for which there is no room are left out whole, the least important ones first: a number is
 * never cut off. Of more mappings than there are rows, those that are done are only counted.
 */
export function mappingBlock(mappings: readonly BlockRow[], { columns, rows }: Room): string[] {
  const room = Math.max(40, columns - 1);
  const shown =
    mappings.length < rows ? mappings : mappings.filter(({ isDone }) => !isDone).slice(0, Math.max(1, rows - 2));
  const cells = shown.map((m) => [shortened(m.mapping, Math.floor(room / NAMES_SHARE)), ...m.cells]);
  const widths = [0, 1, 2].map((i) => Math.max(0, ...cells.map((row) => row[i]!.length)));
  const lines = shown.map((m, i) => {
    const line = `  ${cells[i]!.map((cell, c) => cell.padEnd(widths[c]!)).join('  ')}`;
    return withCounts(line, m.counts, room);
  });
  const hidden = mappings.length - shown.length;
  return hidden === 0 ? lines : [...lines, `  and ${quantity(hidden, 'more mapping')}`];
}

/** `43 % of ~960,000`, or `412,345 read` where nobody knows of how many. */
function readOf(m: MappingProgress): string {
  const [percent, total] = [percentOf(m), totalOf(m)];
  return m.done || percent === undefined || total === undefined
    ? `${formatCount(m.read)} read`
    : `${percent} % of ~${formatCount(total)}`;
}

function timeOf(m: MappingProgress): string {
  const left = secondsLeft(m);
  return left === undefined
    ? stateOf({ ...m, expected: null }, `done in ${formatSeconds(m.seconds)}`)
    : `${formatSeconds(left)} left`;
}

function withCounts(line: string, counts: readonly string[], room: number): string {
  let [full, separator] = [line, '  '];
  for (const count of counts) {
    if (full.length + separator.length + count.length > room) break;
    full += separator + count;
    separator = ', ';
  }
  return full.trimEnd().slice(0, room);
}

function shortened(name: string, width: number): string {
  const text = printable(name);
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
