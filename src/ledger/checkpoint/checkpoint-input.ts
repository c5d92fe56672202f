/** The input of a checkpoint: what became of a chunk of rows, or of a batch that was polled. */
import type { OpenBatch } from '../batches/batches.js';
import type { BatchResult } from '../batches/close-batches.js';
import { deadLetterOf, isOfDeadLetters, type DeadLetter, type RowOutcomes } from '../outcomes/row-outcomes.js';
import type { Read, ReadSeqs } from '../read.js';
import type { ResumePoint } from '../runs/resume-point.js';
import type { SentRecord } from '../outcomes/sent-records.js';
import type { PendingRecord, QueuedRecord, WaitingRecord } from '../waiting/index.js';

/** What became of a chunk's rows. */
export interface ChunkResult extends RowOutcomes {
  /** Records that were sent, without those in bulk. */
  readonly sent: readonly SentRecord[];
  /** The chunk's batches whose records all have outcomes, or are pending. */
  readonly batches: readonly BatchResult[];
  /** Records that wait from now on, or go on waiting. */
  readonly waiting: readonly WaitingRecord[];
  /** Without those in bulk. */
  readonly deadLetters: readonly DeadLetter[];
  /** How many rows were read a second time within the chunk. They have no outcome of their own, and count as unchanged. */
  readonly rowsReadTwice: number;
}

/** Rows were read for the first time in their run. They are counted in the partition. */
export interface CountedCheckpoint {
  readonly kind: 'counted';
  readonly readSeqs: ReadSeqs;
  readonly result: ChunkResult;
  /** The partition's new resume point; null leaves it as it is. */
  readonly resumePoint: ResumePoint | null;
}

/**
 * Rows were read again by their keys, as their records were queued. They have been counted, and move from `waiting` to
 * their outcome.
 */
export interface RetryCheckpoint {
  readonly kind: 'retry';
  readonly readSeqs: ReadSeqs;
  readonly result: ChunkResult;
}

/**
 * Rows were sent before they were read in order: in the first of two passes, or ahead of their turn. They are counted, and
 * get their outcomes, when they are.
 */
export interface EarlyCheckpoint {
  readonly kind: 'early';
  readonly readSeqs: ReadSeqs;
  readonly result: Pick<ChunkResult, 'sent' | 'batches'> & { readonly waiting: readonly PendingRecord[] };
  /** The partition's new resume point; null leaves it as it is. */
  readonly resumePoint: ResumePoint | null;
}

/** No row was read: the platform was asked about a batch with pending records. */
export interface PollCheckpoint {
  readonly kind: 'poll';
  /** As it was before it was polled. */
  readonly batch: Pick<OpenBatch, 'id' | 'runId' | 'readSeq' | 'externalIds'>;
  /** The external ids of the records that are still pending; the others are in `result`. */
  readonly pending: readonly string[];
  readonly result: Pick<ChunkResult, 'rowOutcomes' | 'sent'> & { readonly waiting: readonly QueuedRecord[] };
}

export type CheckpointInput = CountedCheckpoint | RetryCheckpoint | EarlyCheckpoint | PollCheckpoint;

/** The result of any kind of checkpoint, in one shape for those that write it. */
export function resultOf(input: CheckpointInput): ChunkResult {
  if (input.kind === 'counted' || input.kind === 'retry') return input.result;
  const none = { rowOutcomes: [], bulkOutcomes: [], deadLetters: [], rowsReadTwice: 0 };
  if (input.kind === 'early') return { ...none, ...input.result };
  return { ...none, ...input.result, batches: [{ id: input.batch.id, pending: input.pending }] };
}

/** The second of two passes counts the rows of a first pass, so these are uncounted. */
export function readOf(input: CheckpointInput): Read {
  if (input.kind === 'poll') {
    const { id: batchId, readSeq } = input.batch;
    // The start of that reading is not kept. Just before its end is a safe start: it comes after all earlier readings.
    return { kind: 'poll', batchId, readSeqStart: String(BigInt(readSeq) - 1n), readSeqEnd: readSeq };
  }
  const { readSeqStart, readSeqEnd } = input.readSeqs;
  return { kind: input.kind === 'counted' ? 'counted' : 'uncounted', readSeqStart, readSeqEnd };
}

/** The partition's new resume point; null leaves it as it is, as readings by keys and polls do. */
export const resumePointOf = (input: CheckpointInput): ResumePoint | null =>
  input.kind === 'counted' || input.kind === 'early' ? input.resumePoint : null;

/** All dead letters, one by one. */
export function* deadLettersOf({
  deadLetters,
  bulkOutcomes,
}: Pick<ChunkResult, 'deadLetters' | 'bulkOutcomes'>): Generator<DeadLetter> {
  yield* deadLetters;
  for (const bulk of bulkOutcomes.filter(isOfDeadLetters))
    for (const row of bulk.failedRows) yield deadLetterOf(row, bulk.tenantIdOf(row.tenant));
}
