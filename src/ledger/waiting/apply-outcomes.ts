/**
 * What the outcomes of rows mean for records that have been waiting.
 *
 * Two runs may read the same row at the same time, such as a backfill beside a scheduled run. So each entry has the read
 * sequence number of its read: an older read must not end the wait of a newer one, or the newer content would be
 * lost.
 */
import type { Knex } from 'knex';
import type { RowOutcome } from '../outcomes/row-outcomes.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import type { Read } from '../read.js';
import { recordKey } from '../record-key.js';

/** A row that names its record. */
export type IdentifiedRow = RowOutcome & { readonly externalId: string };

/** A row whose record had a waiting entry. */
export interface AppliedOutcome {
  readonly row: IdentifiedRow;
  /**
   * The partition in whose counts the record is not waiting any more; null if it stays in them, or if their run has
   * ended and they are final.
   */
  readonly leftCountsOf: string | null;
}

/** Changes the entries of the rows' records, and returns the rows that had one. */
export async function applyOutcomes(
  trx: Knex,
  partition: AcquiredPartition,
  read: Read,
  rows: readonly IdentifiedRow[],
): Promise<readonly AppliedOutcome[]> {
  const changed: Record<Statement, IdentifiedRow[]> = { remove: [], queue: [], countHere: [], stopCounting: [] };
  const left = new Set<string>();
  const applied: AppliedOutcome[] = [];
  for (const entry of await lockEntries(trx, partition, rows, read)) {
    const row = rows[entry.index]!;
    const change = CHANGES[caseOf(entry, row, read)];
    // Two rows may map to one record: its entry was counted once.
    const record = recordKey(row);
    const leavesCounts = entry.isCounted && change !== 'keep' && change !== 'queue' && !left.has(record);
    if (leavesCounts) left.add(record);
    applied.push({ row, leftCountsOf: leavesCounts ? entry.partitionId : null });
    if (change !== 'keep') changed[change].push(row);
  }
  for (const [statement, same] of Object.entries(changed) as [Statement, IdentifiedRow[]][])
    if (same.length > 0) await trx.raw(STATEMENTS[statement], bindingsOf(partition, same));
  return applied;
}

/** The entry of a record that a row names. */
interface Entry {
  /** Index of the row. */
  readonly index: number;
  readonly partitionId: string;
  /** The batch in which the record is pending; null if it is queued. */
  readonly batchId: string | null;
  readonly readAgain: boolean;
  /** Whether the platform may not even have that batch. */
  readonly isInDoubt: boolean;
  /** Whether the entry's read may be newer than that of the rows. */
  readonly mayBeNewer: boolean;
  /** Whether the counts of a run that has not ended have the record as waiting. */
  readonly isCounted: boolean;
}

/** How the row was read, and what the entry of its record is to it. */
type Case =
  | `${'counted' | 'uncounted'}: ${'still waits' | 'newer entry' | 'pending' | 'in doubt' | 'queued'}`
  | `poll: ${'still waits' | 'other batch' | 'read again' | 'this batch'}`;

function caseOf(entry: Entry, row: IdentifiedRow, read: Read): Case {
  if (row.outcome === 'waiting') return `${read.kind}: still waits`;
  if (read.kind === 'poll') {
    if (entry.batchId !== read.batchId) return 'poll: other batch';
    return entry.readAgain ? 'poll: read again' : 'poll: this batch';
  }
  if (entry.mayBeNewer) return `${read.kind}: newer entry`;
  if (entry.batchId === null) return `${read.kind}: queued`;
  // A row that is read again and gone by now is unchanged, too.
  const isOnPlatform = row.outcome === 'accepted' || (row.outcome === 'unchanged' && read.kind === 'counted');
  return entry.isInDoubt && isOnPlatform ? `${read.kind}: in doubt` : `${read.kind}: pending`;
}

type Statement = 'remove' | 'queue' | 'countHere' | 'stopCounting';

/** What becomes of an entry now that its row has an outcome. */
const CHANGES: Record<Case, 'keep' | Statement> = {
  // A counted read counts its row as waiting, so the entry moves into the counts of its partition.
  'counted: still waits': 'countHere',
  'uncounted: still waits': 'keep',
  'poll: still waits': 'keep',
  'counted: newer entry': 'keep',
  'uncounted: newer entry': 'keep',
  // The row counts by its outcome, but claims must see that its record is still pending in a batch.
  'counted: pending': 'stopCounting',
  'uncounted: pending': 'stopCounting',
  // What the platform has by now was sent with the same parents: it cannot be keeping the one and have the other.
  'counted: in doubt': 'remove',
  'uncounted: in doubt': 'remove',
  'counted: queued': 'remove',
  'uncounted: queued': 'remove',
  // The record has been sent in another batch since the polled one: that batch decides.
  'poll: other batch': 'keep',
  // The outcome is that of the content with which the record was sent; its row may have other content now.
  'poll: read again': 'queue',
  'poll: this batch': 'remove',
};

const OF_RECORDS = `unnest(CAST(:tenants AS int[]), CAST(:ids AS text[])) AS i(tenant_id, external_id)
  WHERE w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`;

/** The columns of a record that is no longer pending, and whose row is to be read again. */
export const QUEUED_AGAIN = `batch_id = NULL, reason = 'contended', read_again = false, due_at = now()`;

const STATEMENTS: Record<Statement, string> = {
  remove: `DELETE FROM waiting w USING ${OF_RECORDS}`,
  queue: `UPDATE waiting w SET ${QUEUED_AGAIN} FROM ${OF_RECORDS}`,
  countHere: `UPDATE waiting w SET partition_id = :partition, counted = true FROM ${OF_RECORDS}`,
  stopCounting: `UPDATE waiting w SET counted = false FROM ${OF_RECORDS}`,
};

const bindingsOf = (partition: AcquiredPartition, rows: readonly IdentifiedRow[]) => ({
  mapping: partition.mappingId,
  partition: partition.id,
  tenants: rows.map((row) => row.tenantId),
  ids: rows.map((row) => row.externalId),
});

async function lockEntries(
  trx: Knex,
  partition: AcquiredPartition,
  rows: readonly IdentifiedRow[],
  { readSeqStart }: Read,
): Promise<readonly Entry[]> {
  const { rows: entries } = await trx.raw<{ rows: Entry[] }>(
    // Locked before anything is joined to them: when this waits for another checkpoint that moves an entry to its own
    // partition, the database would look at the join again with the partition from before, and leave the entry out.
    `WITH w AS MATERIALIZED (
       SELECT i.ord, waiting.* FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[])) WITH ORDINALITY AS i(tenant_id, external_id, ord)
       JOIN waiting ON waiting.mapping_id = :mapping AND waiting.tenant_id = i.tenant_id AND waiting.external_id = i.external_id
       -- One order for all, as in write-entries.ts, so that checkpoints cannot deadlock here.
       ORDER BY waiting.tenant_id, waiting.external_id COLLATE "C" FOR UPDATE OF waiting)
     SELECT w.ord::int - 1 AS index, w.partition_id AS "partitionId", w.batch_id AS "batchId", w.read_again AS "readAgain",
       w.batch_id IS NOT NULL AND b.platform_batch_id IS NULL AS "isInDoubt", w.read_seq > :readSeqStart AS "mayBeNewer", w.counted AND runs.ended_at IS NULL AS "isCounted"
     -- A partition that this statement does not see yet is of a run that has not ended.
     FROM w LEFT JOIN partitions ON partitions.id = w.partition_id LEFT JOIN runs ON runs.id = partitions.run_id
     LEFT JOIN batches b ON b.id = w.batch_id
     ORDER BY w.tenant_id, w.external_id COLLATE "C"`,
    { ...bindingsOf(partition, rows), readSeqStart },
  );
  return entries;
}
