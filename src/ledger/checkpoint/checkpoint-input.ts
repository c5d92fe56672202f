/** The input of a checkpoint: what became of a chunk of rows, or of a batch that was polled. */
import type { OpenBatch } from '../batches/batches.js';
import { deadLetterOf, isOfDeadLetters, type DeadLetter, type RowOutcomes } from '../outcomes/row-outcomes.js';
import type { ResumePoint } from '../runs/resume-point.js';
import type { SentRecord } from '../outcomes/sent-records.js';
import type { PendingRecord, QueuedRecord, WaitingRecord } from '../undelivered/waiting-record.js';

/** Drawn before and after rows were read. */
export interface ReadSeqs {
  readonly readSeqStart: string;
  readonly readSeqEnd: string;
}

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
  readonly secondReadings: number;
}

/** What became of a batch. */
export interface BatchResult {
  readonly id: string;
  /** The external ids of its records that are pending; if there are none, the batch is settled. */
  readonly pending: readonly string[];
}

/** Rows were read for the first time in their run. They are counted in the partition. */
export interface ScanCheckpoint {
  readonly kind: 'scan';
  readonly readSeqs: ReadSeqs;
  readonly result: ChunkResult;
  /** The partition's new resume point; null leaves it as it is. */
  readonly resumePoint: ResumePoint | null;
}

/**
 * Rows were read again by their keys, as their records were queued. They have been counted, and move from `waiting` to
 * their outcome.
 */
export interface RereadCheckpoint {
  readonly kind: 'reread';
  readonly readSeqs: ReadSeqs;
  readonly result: ChunkResult;
}

/** Rows were sent for the first of two passes. They get their outcomes, and are counted, in the second one. */
export interface FirstPassCheckpoint {
  readonly kind: 'first_pass';
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

export type CheckpointInput = ScanCheckpoint | RereadCheckpoint | FirstPassCheckpoint | PollCheckpoint;

/** The result of any kind of checkpoint, in one shape for those that write it. */
export function resultOf(input: CheckpointInput): ChunkResult {
  if (input.kind === 'scan' || input.kind === 'reread') return input.result;
  const none = { rowOutcomes: [], bulkOutcomes: [], deadLetters: [], secondReadings: 0 };
  if (input.kind === 'first_pass') return { ...none, ...input.result };
  return { ...none, ...input.result, batches: [{ id: input.batch.id, pending: input.pending }] };
}

/** How the rows were read, for those that write waiting records. */
export type Reading = ReadSeqs &
  ({ readonly kind: 'scan' | 'reread' } | { readonly kind: 'poll'; readonly batchId: string });

export function readingOf(input: CheckpointInput): Reading {
  if (input.kind === 'poll') {
    const { id: batchId, readSeq } = input.batch;
    return { kind: 'poll', batchId, readSeqStart: readSeq, readSeqEnd: readSeq };
  }
  const { readSeqStart, readSeqEnd } = input.readSeqs;
  return { kind: input.kind === 'scan' ? 'scan' : 'reread', readSeqStart, readSeqEnd };
}

/** All dead letters, one by one. */
export function* deadLettersOf({
  deadLetters,
  bulkOutcomes,
}: Pick<ChunkResult, 'deadLetters' | 'bulkOutcomes'>): Generator<DeadLetter> {
  yield* deadLetters;
  for (const bulk of bulkOutcomes.filter(isOfDeadLetters))
    for (const row of bulk.failedRows) yield deadLetterOf(row, bulk.tenantIdOf(row.tenant));
}
