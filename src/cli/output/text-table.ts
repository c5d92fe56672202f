/** Plain text tables: numbers to the right, words to the left, no control characters from data. */

/**
 * Control, bidirectional and other invisible characters: text from a row could otherwise rewrite what a terminal shows.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * The text with such characters escaped, as in `\u{1b}`. Everything from the source or the platform passes through here
 * before it is printed.
 */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);

/** The JSON text with such characters escaped as JSON has it, so that it is the same document. */
export const printableJson = (json: string): string =>
  json.replace(UNPRINTABLE, (c) =>
    Array.from({ length: c.length }, (_, i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );

/** Numbers are printed with thousands separators. */
export type Cell = string | number;

/**
 * Lines of a table with a heading. A column is aligned to the right if all of its cells are numbers. Cells are made
 * printable here.
 */
export function table(heading: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const text = (cell: Cell): string => (typeof cell === 'number' ? cell.toLocaleString('en-GB') : printable(cell));
  const cells = [heading.map(printable), ...rows.map((row) => row.map(text))];
  // Not with Math.max(...): there may be more rows than a call takes arguments.
  const widths = heading.map((_, i) => cells.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), 0));
  const numeric = heading.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  return cells.map((row) =>
    row
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('   ')
      .trimEnd(),
  );
}
