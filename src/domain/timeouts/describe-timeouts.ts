/** The tables of timeouts and retries in docs/reference.md, derived from their declarations. */
import { TIMEOUT_SECTIONS } from '../timeouts.js';
import type { TimeoutEntry } from './entry.js';

/** All tables under their headings, as Markdown without padding; `npm run generate` writes them. */
export const timeoutTables = (): string =>
  Object.entries(TIMEOUT_SECTIONS)
    .map(([heading, entries]) => `### ${heading}\n\n${timeoutTable(Object.values(entries))}`)
    .join('\n\n');

/** One of the tables. */
export const timeoutTable = (entries: readonly TimeoutEntry[]): string =>
  [
    '| What is bounded | Value | Why | Setting |',
    '| --- | --- | --- | --- |',
    ...entries.map((entry) => `| ${entry.bounds} | ${valueOf(entry)} | ${entry.why} | ${entry.setting ?? ''} |`),
  ].join('\n');

function valueOf({ value, unit }: TimeoutEntry): string {
  if (unit === 'times') return `x ${value}`;
  if (unit === 'attempts') return value === 1 ? 'once' : `${value} times`;
  return `${value} ${unit}`;
}
