/** Counts in messages, in the singular or plural. In one place, so that no message says `1 records`. */

/**
 * `quantity(1, 'record')` is `1 record`, `quantity(2, 'record')` is `2 records`. An irregular noun, or one with a verb, needs
 * both forms: `quantity(2, 'record waits', 'records wait')` is `2 records wait`.
 */
export const quantity = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Where a count of rows in the ledger stops, so that it costs the same however many there are. */
export const COUNT_BOUND = 10_001;

/** {@link quantity} of a count that stops there: `more than 10,000 records`. */
export const quantityToBound = (count: number, one: string, many = `${one}s`): string =>
  count < COUNT_BOUND ? quantity(count, one, many) : `more than ${(COUNT_BOUND - 1).toLocaleString('en-GB')} ${many}`;
