/** The outcomes of a chunk's rows: one by one, or in bulk for the many that are alike. */
import type { FailedRow } from '../../domain/records/record.js';
import type { Counts } from '../../domain/run/run.js';
import type { SourceKey } from '../../domain/source/source.js';
import type { FailedRowList } from '../../records/failed-row-list.js';
import type { RecordList } from '../../records/record-list.js';

/** The outcome of a row, which is the column of the counts that it is in. */
export type RowOutcomeKind = Exclude<keyof Counts, 'read'>;

export interface RowOutcome {
  readonly tenantId: number;
  /** null if it could not be made from the row. */
  readonly externalId: string | null;
  readonly sourceKey: SourceKey;
  readonly outcome: RowOutcomeKind;
}

/**
 * One outcome of many rows, which are in a list of columns: nearly all rows of a chunk end alike, and an object for each
 * would cost more than sending it. All that is written of these rows follows from their list.
 */
export type BulkOutcome = BulkRecords | BulkDeadLetters;

export interface BulkRecords {
  readonly outcome: 'accepted' | 'unchanged';
  /** That of all records. */
  readonly tenantId: number;
  /** Whether they were sent in this chunk; if not, the ledger has their content already. */
  readonly sent: boolean;
  readonly records: RecordList;
}

/** Rows that could not be mapped. */
export interface BulkDeadLetters {
  readonly outcome: 'deadLettered';
  /** 0 for null. */
  readonly tenantIdOf: (tenant: string | null) => number;
  readonly failedRows: FailedRowList;
}

/** Each row is either in `rowOutcomes` or in bulk. */
export interface RowOutcomes {
  readonly rowOutcomes: readonly RowOutcome[];
  readonly bulkOutcomes: readonly BulkOutcome[];
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

export const isOfRecords = (bulk: BulkOutcome): bulk is BulkRecords => bulk.outcome !== 'deadLettered';
export const isOfDeadLetters = (bulk: BulkOutcome): bulk is BulkDeadLetters => bulk.outcome === 'deadLettered';

/** The outcomes of all rows, one by one. */
export const rowOutcomesOf = ({ rowOutcomes, bulkOutcomes }: RowOutcomes): RowOutcome[] => [
  ...rowOutcomes,
  ...bulkOutcomes.flatMap(oneByOne),
];

function oneByOne(bulk: BulkOutcome): RowOutcome[] {
  const { outcome } = bulk;
  if (isOfRecords(bulk))
    return bulk.records.map(({ externalId, sourceKey }) => ({
      tenantId: bulk.tenantId,
      externalId,
      sourceKey,
      outcome,
    }));
  return Array.from(bulk.failedRows, ({ tenant, externalId, sourceKey }) => ({
    tenantId: bulk.tenantIdOf(tenant),
    externalId,
    sourceKey,
    outcome,
  }));
}

/** How many rows have an outcome. */
export const countRows = ({ rowOutcomes, bulkOutcomes }: RowOutcomes): number =>
  bulkOutcomes.reduce(
    (sum, bulk) => sum + (isOfRecords(bulk) ? bulk.records : bulk.failedRows).length,
    rowOutcomes.length,
  );
