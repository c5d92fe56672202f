/** What a bounded look at real rows has shown, before anything is sent. Counts and masked shapes, no values. */
import type { UnmappableRow } from './record.js';

export interface ProbeBudget {
  /** Rows to look at, at most. */
  readonly rows: number;
  /** Milliseconds after which no further page is begun. */
  readonly time: number;
}

/** One way in which rows fail, counted. `shape` is that of the first one's value. */
export interface ProbeFailure extends Pick<UnmappableRow, 'code' | 'pointer' | 'rule' | 'reason' | 'shape'> {
  readonly rows: number;
}

export interface Probe {
  readonly rows: number;
  /** Whether these were all rows there are. */
  readonly all: boolean;
  /** Most frequent first. */
  readonly failures: readonly ProbeFailure[];
  /** Neighbours in key order with the same key: such rows would be lost between pages. */
  readonly sameKey: number;
  /** Rows whose tenant and external id a row before them has, too. */
  readonly sameExternalId: number;
  /** Rows without a value in the cursor; 0 where the mapping has none. */
  readonly nullCursor: number;
}
