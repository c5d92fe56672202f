/** The input of a checkpoint: what became of a chunk of rows. */
import type { FailedRow } from '../domain/record.js';
import type { Counts } from '../domain/run.js';
import type { Position, SourceKey } from '../domain/source.js';
import type { DeadLetterList } from '../records/dead-letter-list.js';
import type { SentRecord, BulkOutcome } from './sent-records.js';
import type { WaitingRecord } from './waiting-record.js';

/** The outcome of a row, which is the column of the counts that it is in. */
export type RowOutcomeKind = Exclude<keyof Counts, 'read'>;

export interface RowOutcome {
  readonly tenantId: number;
  /** null if it could not be made from the row. */
  readonly externalId: string | null;
  readonly sourceKey: SourceKey;
  readonly outcome: RowOutcomeKind;
}

export interface DeadLetter extends Omit<FailedRow, 'kind' | 'tenant'> {
  /** 0 if the row names no known tenant. */
  readonly tenantId: number;
}

export const deadLetterOf = (row: FailedRow, tenantId: number): DeadLetter => ({
  tenantId,
  externalId: row.externalId,
  sourceKey: row.sourceKey,
  code: row.code,
  pointer: row.pointer,
  rule: row.rule,
  reason: row.reason,
  shape: row.shape,
  missing: row.missing,
});

/** Dead letters of rows that could not be mapped. They are packed, since they may be all rows of a chunk. */
export interface Unmapped {
  readonly deadLetters: DeadLetterList;
  /** 0 for null. */
  readonly tenantIdOf: (tenant: string | null) => number;
}

interface ReadBetween {
  /** The read sequence number drawn before the rows were read. */
  readonly readSeqStart: string;
  /** The read sequence number drawn after that. */
  readonly readSeqEnd: string;
}

/**
 * How the rows of a chunk were read.
 * - `scan`: in a partition's order. They are counted there.
 * - `reread`: by their keys, as their records were waiting. They have been counted, and move from `waiting` to their
 *   outcome.
 * - `poll`: not at all. The platform was asked about the batch `batchId`, which the run `sentBy` sent and of which
 *   `seen` records had no outcome then.
 */
export type Reading =
  | ({ readonly kind: 'scan' | 'reread' } & ReadBetween)
  | ({
      readonly kind: 'poll';
      readonly batchId: string;
      readonly sentBy: string;
      readonly seen: number;
    } & ReadBetween);

/**
 * What one checkpoint writes. Each row of the chunk is in exactly one of `bulkOutcomes`, `unmapped`, `rowOutcomes` and
 * `readTwice`.
 */
export interface CheckpointInput {
  readonly reading: Reading;
  readonly bulkOutcomes: readonly BulkOutcome[];
  readonly unmapped?: Unmapped;
  readonly rowOutcomes: readonly RowOutcome[];
  /** How many rows were read twice within the chunk; their second readings count as unchanged. */
  readonly readTwice: number;
  /** Outcomes of records that were sent, without those in `bulkOutcomes`. */
  readonly records: readonly SentRecord[];
  /** Ids of batches in which every record has an outcome. */
  readonly settled: readonly string[];
  /** Batches with pending records, and the external ids of these. */
  readonly pending: readonly { readonly id: string; readonly externalIds: readonly string[] }[];
  /** Records that wait from now on, or go on waiting. */
  readonly waiting: readonly WaitingRecord[];
  /** Without those of `unmapped`. */
  readonly deadLetters: readonly DeadLetter[];
  /** The partition's new position; null leaves it as it is. */
  readonly position: Position | null;
  /** Whether the partition is read to its end. */
  readonly done: boolean;
}

/** The outcomes of rows that could be mapped, one by one. */
export const mappedRowOutcomesOf = ({
  bulkOutcomes,
  rowOutcomes,
}: Pick<CheckpointInput, 'bulkOutcomes' | 'rowOutcomes'>): RowOutcome[] => [
  ...rowOutcomes,
  ...bulkOutcomes.flatMap(({ tenantId, outcome, records }) =>
    records.map(({ externalId, sourceKey }) => ({ tenantId, externalId, sourceKey, outcome })),
  ),
];

/** The outcomes of all rows, one by one. */
export const rowOutcomesOf = (
  chunk: Pick<CheckpointInput, 'bulkOutcomes' | 'rowOutcomes' | 'unmapped'>,
): RowOutcome[] => [
  ...mappedRowOutcomesOf(chunk),
  ...Array.from(chunk.unmapped?.deadLetters ?? [], ({ tenant, externalId, sourceKey }): RowOutcome => {
    return { tenantId: chunk.unmapped!.tenantIdOf(tenant), externalId, sourceKey, outcome: 'deadLettered' };
  }),
];

/** All dead letters. */
export function* deadLettersOf({
  deadLetters,
  unmapped,
}: Pick<CheckpointInput, 'deadLetters' | 'unmapped'>): Generator<DeadLetter> {
  yield* deadLetters;
  for (const row of unmapped?.deadLetters ?? []) yield deadLetterOf(row, unmapped!.tenantIdOf(row.tenant));
}

/** How many rows have an outcome, not counting second readings. */
export const rowsWithOutcome = ({
  bulkOutcomes,
  rowOutcomes,
  unmapped,
}: Pick<CheckpointInput, 'bulkOutcomes' | 'rowOutcomes' | 'unmapped'>): number =>
  bulkOutcomes.reduce((sum, { records }) => sum + records.length, rowOutcomes.length) +
  (unmapped?.deadLetters.length ?? 0);

/** Writes nothing of a chunk: the checkpoints that write only a few things are made from it. */
export const NOTHING_TO_WRITE: Omit<CheckpointInput, 'reading'> = {
  bulkOutcomes: [],
  rowOutcomes: [],
  readTwice: 0,
  records: [],
  settled: [],
  pending: [],
  waiting: [],
  deadLetters: [],
  position: null,
  done: false,
};

/** Only notes that a partition is read to its end. No row is concerned, so the numbers of its reading order nothing. */
export const END_OF_PARTITION: CheckpointInput = {
  ...NOTHING_TO_WRITE,
  reading: { kind: 'scan', readSeqStart: '0', readSeqEnd: '0' },
  done: true,
};
