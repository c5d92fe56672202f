/** Reads of rows, and the read sequence numbers that order them without clocks (docs/adr/0004-read-sequence-numbers.md). */

export interface ReadSeqs {
  /** Drawn before the first row was requested. It may be the `readSeqEnd` of the chunk before. */
  readonly readSeqStart: string;
  /** Drawn after the last row had arrived. A read is wholly after another if it starts with or after the number of its end. */
  readonly readSeqEnd: string;
}

/**
 * How the rows of a checkpoint were read.
 *
 * - `counted`: for the first time in their run, so that they are counted now;
 * - `uncounted`: again, by their keys, or early, in a first pass or for a small tenant: they are counted by another read;
 * - `poll`: not at all, as the platform was asked about a batch.
 */
export type Read = ReadSeqs &
  ({ readonly kind: 'counted' | 'uncounted' } | { readonly kind: 'poll'; readonly batchId: string });
