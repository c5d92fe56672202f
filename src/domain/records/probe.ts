/** The result of mapping a bounded number of real rows before anything is sent: counts and masked shapes, no values. */
import type { FailedRow } from './record.js';

/** How much to read. */
export interface ProbeBudget {
  /** The most rows to read. */
  readonly rows: number;
  /** Milliseconds after which no further page is begun. */
  readonly time: number;
}

/** One way in which rows fail, counted. `shape` is that of the first one's value. */
export interface ProbeFailure extends Pick<FailedRow, 'code' | 'pointer' | 'rule' | 'reason' | 'shape'> {
  readonly rows: number;
}

/** What probing a mapping found. */
export interface Probe {
  readonly rows: number;
  /** Whether these were all rows. */
  readonly all: boolean;
  /** Most frequent first. */
  readonly failures: readonly ProbeFailure[];
  /** Neighbours in key order with the same key: such rows would be lost between pages. */
  readonly sameKey: number;
  /** Rows with the tenant and external id of an earlier row. */
  readonly sameExternalId: number;
  /** Rows without a value in the cursor; 0 if the mapping has none. */
  readonly nullCursor: number;
}
