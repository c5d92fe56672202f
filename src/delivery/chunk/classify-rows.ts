/** Classifies the rows of a chunk before any of their records is claimed: into those that may be sent, and all others. */
import type { FailedRow, MappedRecord } from '../../domain/records/record.js';
import type { Chunk } from '../../reading/chunk.js';
import type { FailedRowList } from '../../records/failed-row-list.js';
import type { RecordList } from '../../records/record-list.js';
import type { PartitionContext } from '../partition-context.js';
import { knownDuplicates, noteDuplicates, type DuplicateIds } from './duplicate-ids.js';
import { splitDuplicates } from './split-duplicates.js';
import { givenUpChildren } from './given-up-children.js';
import { unsendableChildren } from './unsendable-children.js';

/** Each row of a chunk once. */
export interface ClassifiedRows {
  readonly sendable: RecordList;
  /** Rows that could not be mapped, and rows of this chunk that share an external id. */
  readonly failedRows: FailedRowList;
  /** Rows with the external id of a row that an earlier chunk or run has read. */
  readonly duplicates: DuplicateIds;
  /** Children whose parent will not come. */
  readonly unsendable: readonly FailedRow[];
  /** Rows that are marked as deleted, and whose record another row of this chunk gives. */
  readonly superseded: readonly MappedRecord[];
  /** How many rows were read again later in the chunk. */
  readonly rowsReadTwice: number;
}

/**
 * Looks up what is known of duplicates and of parents.
 *
 * @param isRetry whether the rows are those of queued records that are due, whose parents have been looked up
 */
export async function classifyRows(context: PartitionContext, chunk: Chunk, isRetry: boolean): Promise<ClassifiedRows> {
  const { records, failedRows, superseded, rowsReadTwice } = splitDuplicates(chunk);
  // Before anything is awaited: the chunks after this one are classified while it is delivered.
  if (failedRows !== chunk.failedRows) noteDuplicates(context, failedRows);
  const duplicates = await knownDuplicates(context, records);
  const unique = without(records, duplicates);
  const unsendable = await unsendableChildren(context, unique, failedRows);
  const mayBeSent = without(unique, unsendable);
  const givenUp = isRetry ? new Map<number, FailedRow>() : await givenUpChildren(context, mayBeSent);
  return {
    sendable: without(mayBeSent, givenUp),
    failedRows,
    duplicates,
    unsendable: [...unsendable.values(), ...givenUp.values()],
    superseded,
    rowsReadTwice,
  };
}

const without = (records: RecordList, left: ReadonlyMap<number, unknown>): RecordList =>
  left.size === 0 ? records : records.pick((index) => !left.has(index));
