/** Counts in messages, in the singular or plural. In one place, so that no message says `1 records`. */

/** A count for people: `12,000`. */
export const formatCount = (count: number): string => count.toLocaleString('en-GB');

/**
 * `quantity(1, 'record')` is `1 record`, `quantity(2, 'record')` is `2 records`. An irregular noun, or one with a verb, needs
 * both forms: `quantity(12000, 'record waits', 'records wait')` is `12,000 records wait`.
 */
export const quantity = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** Bytes for people: `512 B`, `16.0 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10), units.length);
  return power === 0 ? `${bytes} B` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]!}`;
}

/** Where a count of rows in the ledger, or in a change table, stops, so that it costs the same however many there are. */
export const COUNT_BOUND = 10_001;

/** {@link quantity} of a count that stops there: `more than 10,000 records`. */
export const quantityToBound = (count: number, one: string, many = `${one}s`): string =>
  count < COUNT_BOUND ? quantity(count, one, many) : `more than ${formatCount(COUNT_BOUND - 1)} ${many}`;
