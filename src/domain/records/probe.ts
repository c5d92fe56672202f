/**
 * The result of mapping a bounded number of real rows before anything is sent: counts, masked shapes, and the keys of
 * some rows, which dead letters show too.
 */
import type { FailedRow } from './record.js';

/** How much to read. */
export interface ProbeBudget {
  /** The most rows to read. */
  readonly rows: number;
  /** Milliseconds after which no further page is begun. */
  readonly time: number;
}

/** One way in which rows fail, counted. `shape` is that of the first one's value. */
export interface ProbeFailure extends Pick<FailedRow, 'code' | 'pointer' | 'rule' | 'reason' | 'shape'>, CountedRows {}

/** The keys of the first few rows, by which somebody finds them: each has the values of the key's columns. */
export type RowExamples = readonly (readonly string[])[];

/** What probing a mapping found. */
export interface Probe {
  readonly rows: number;
  /** Whether these were all rows. */
  readonly all: boolean;
  /** Most frequent first. */
  readonly failures: readonly ProbeFailure[];
  /** Neighbours in key order with the same key: a run that reads them fails. */
  readonly sameKey: CountedRows;
  /** Rows with the tenant and external id of an earlier row. */
  readonly sameExternalId: CountedRows;
  /** Rows without a value in the cursor; 0 if the mapping has none. */
  readonly nullCursor: CountedRows;
}

/** How many rows have a problem, and some of them. */
export interface CountedRows {
  readonly rows: number;
  readonly examples: RowExamples;
}

/** Rows that a finding names, at most. */
const EXAMPLES = 3;

/** The same with one more row. */
export const withRow = ({ rows, examples }: CountedRows, key: readonly string[]): CountedRows => ({
  rows: rows + 1,
  examples: examples.length < EXAMPLES ? [...examples, key] : examples,
});

/** None yet. */
export const NO_ROWS: CountedRows = { rows: 0, examples: [] };
