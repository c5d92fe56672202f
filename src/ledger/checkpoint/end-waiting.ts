/** Applies the outcomes of a chunk's rows to the waiting entries of their records, and moves the counts with them. */
import type { Knex } from 'knex';
import { NO_COUNTS } from '../../domain/run/run.js';
import type { ChunkResult } from './checkpoint-input.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import { rowOutcomesOf, type RowOutcome } from '../outcomes/row-outcomes.js';
import type { Read } from '../read.js';
import { recordKey } from '../record-key.js';
import { applyOutcomes, type IdentifiedRow } from '../waiting/index.js';
import type { CountsEntry } from './write-counts.js';

export interface EndedWaiting {
  /**
   * How counts move from `waiting` to an outcome, in the runs that counted the records as waiting and have not ended.
   */
  readonly counts: readonly CountsEntry[];
  /** Rows that the claim skipped since their records were waiting, but whose records have been delivered meanwhile. */
  readonly deliveredSinceClaim: ReadonlySet<RowOutcome>;
}

/** @param anyWaiting whether any record of the mapping is waiting; if none is, the database is not asked */
export async function endWaiting(
  trx: Knex,
  partition: AcquiredPartition,
  read: Read,
  result: ChunkResult,
  anyWaiting: boolean,
): Promise<EndedWaiting> {
  const written = new Set(result.waiting.map(recordKey));
  const withoutEntry = new Set(
    result.rowOutcomes.filter((row) => row.outcome === 'waiting' && !written.has(recordKey(row))),
  );
  if (!anyWaiting) return { counts: [], deliveredSinceClaim: withoutEntry };

  const identified = rowOutcomesOf(result).filter((row): row is IdentifiedRow => row.externalId !== null);
  const counts: CountsEntry[] = [];
  for (const { row, leftCountsOf } of await applyOutcomes(trx, partition, read, identified)) {
    withoutEntry.delete(row);
    if (leftCountsOf === null) continue;
    // A counted read counts the row in its own partition, so where it was counted as waiting it ends as unchanged.
    const outcome = read.kind === 'counted' ? 'unchanged' : row.outcome;
    counts.push({ ...NO_COUNTS, partitionId: leftCountsOf, tenantId: row.tenantId, waiting: -1, [outcome]: 1 });
  }
  return { counts, deliveredSinceClaim: withoutEntry };
}
