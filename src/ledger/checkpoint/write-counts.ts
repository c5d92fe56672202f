/** The counts of partitions, as checkpoints add to them. */
import type { Knex } from 'knex';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import { NO_COUNTS, type Counts } from '../../domain/run/run.js';
import type { CountedCheckpoint } from './checkpoint-input.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import { isOfRecords, type RowOutcome, type RowOutcomeKind } from '../outcomes/row-outcomes.js';
import { prepared } from '../database/statements.js';

/** What is added to the counts of one tenant in one partition; negative if rows move to another column. */
export interface CountsEntry extends Counts {
  readonly partitionId: string;
  readonly tenantId: number;
}

/**
 * What a counted read adds to the counts of its own partition.
 *
 * @param deliveredSinceClaim rows that were skipped since their records were waiting, but have been delivered meanwhile:
 *   they count as unchanged
 */
export function countsOf(
  partition: AcquiredPartition,
  { result }: CountedCheckpoint,
  deliveredSinceClaim: ReadonlySet<RowOutcome>,
): CountsEntry[] {
  const byTenant = new Map<number, { -readonly [K in keyof CountsEntry]: CountsEntry[K] }>();
  const count = (tenantId: number, outcome: RowOutcomeKind, rows: number): void => {
    const counts = getOrInsert(byTenant, tenantId, () => ({ ...NO_COUNTS, partitionId: partition.id, tenantId }));
    counts.read += rows;
    counts[outcome] += rows;
  };
  for (const row of result.rowOutcomes)
    count(row.tenantId, deliveredSinceClaim.has(row) ? 'unchanged' : row.outcome, 1);
  for (const bulk of result.bulkOutcomes)
    if (isOfRecords(bulk)) count(bulk.tenantId, bulk.outcome, bulk.records.length);
    else
      for (let i = 0; i < bulk.failedRows.length; i++)
        count(bulk.tenantIdOf(bulk.failedRows.tenantAt(i)), bulk.outcome, 1);
  // The tenants of rows that were read twice are not known any more, but the sums over all tenants must be right.
  const [anyTenant] = byTenant.values();
  if (anyTenant !== undefined) {
    anyTenant.read += result.rowsReadTwice;
    anyTenant.unchanged += result.rowsReadTwice;
  }
  return [...byTenant.values()];
}

export async function addToCounts(trx: Knex, entries: readonly CountsEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await prepared(
    trx,
    'add_to_counts',
    `INSERT INTO partition_counts AS c (partition_id, tenant_id, read, accepted, unchanged, waiting, dead_lettered)
     SELECT partition_id, tenant_id, sum(read), sum(accepted), sum(unchanged), sum(waiting), sum(dead_lettered)
     FROM unnest(CAST(:partitions AS bigint[]), CAST(:tenants AS int[]), CAST(:read AS bigint[]), CAST(:accepted AS bigint[]),
         CAST(:unchanged AS bigint[]), CAST(:waiting AS bigint[]), CAST(:deadLettered AS bigint[]))
       AS e(partition_id, tenant_id, read, accepted, unchanged, waiting, dead_lettered)
     GROUP BY partition_id, tenant_id
     ORDER BY partition_id, tenant_id -- one order for all, so that checkpoints cannot deadlock here
     ON CONFLICT (partition_id, tenant_id) DO UPDATE SET
       read = c.read + excluded.read, accepted = c.accepted + excluded.accepted, unchanged = c.unchanged + excluded.unchanged,
       waiting = c.waiting + excluded.waiting, dead_lettered = c.dead_lettered + excluded.dead_lettered`,
    {
      partitions: entries.map((e) => e.partitionId),
      tenants: entries.map((e) => e.tenantId),
      read: entries.map((e) => e.read),
      accepted: entries.map((e) => e.accepted),
      unchanged: entries.map((e) => e.unchanged),
      waiting: entries.map((e) => e.waiting),
      deadLettered: entries.map((e) => e.deadLettered),
    },
  );
}
