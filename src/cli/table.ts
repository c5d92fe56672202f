/** Plain text tables: numbers to the right, words to the left, no control characters from data. */

/** Control, bidirectional and other invisible characters could rewrite what a terminal shows. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);

export type Cell = string | number;

/** Lines of a table with a heading. */
export function table(heading: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const text = (cell: Cell): string => (typeof cell === 'number' ? cell.toLocaleString('en-GB') : printable(cell));
  const cells = [heading.map(printable), ...rows.map((row) => row.map(text))];
  const widths = heading.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const numeric = heading.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  return cells.map((row) =>
    row
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('   ')
      .trimEnd(),
  );
}
