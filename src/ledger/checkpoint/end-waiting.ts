/**
 * What the outcomes of a chunk's rows mean for records that have been waiting.
 *
 * Two runs may read the same row at the same time, such as a backfill beside a scheduled run. So each waiting entry has
 * the read sequence number of its reading: an older reading must not end the wait of a newer one, or the newer content
 * would be lost.
 */
import type { Knex } from 'knex';
import { NO_COUNTS } from '../../domain/run.js';
import type { ChunkResult, Reading } from './checkpoint-input.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import { rowOutcomesOf, type RowOutcome } from '../outcomes/row-outcomes.js';
import type { CountsEntry } from './write-counts.js';

export interface EndedWaiting {
  /**
   * How counts move from `waiting` to an outcome, in the runs that counted the records as waiting and have not ended.
   */
  readonly counts: readonly CountsEntry[];
  /**
   * Rows that were skipped since their records were waiting, but that have no entry any more: delivered since the
   * claim.
   */
  readonly arrived: ReadonlySet<RowOutcome>;
}

/** The entry of a record that one of the chunk's rows names. */
interface Entry {
  /** Index of the row among the named ones. */
  readonly index: number;
  readonly partition_id: string;
  /** The batch in which the record is pending; null if it is queued. */
  readonly batch_id: string | null;
  /** The row has changed while its record was pending. */
  readonly changed: boolean;
  /** Whether the entry's reading may be newer than this chunk's. */
  readonly newer: boolean;
  /** Whether the counts of a run that has not ended have the record as waiting. */
  readonly counted: boolean;
}

/** @param anyWaiting whether any record of the mapping is waiting; if none is, the database is not asked */
export async function endWaiting(
  trx: Knex,
  partition: AcquiredPartition,
  reading: Reading,
  result: ChunkResult,
  anyWaiting: boolean,
): Promise<EndedWaiting> {
  const { rowOutcomes, waiting } = result;
  const beginning = new Set(waiting.map((w) => `${w.tenantId}/${w.externalId}`));
  const arrived = new Set(
    rowOutcomes.filter((row) => row.outcome === 'waiting' && !beginning.has(`${row.tenantId}/${row.externalId ?? ''}`)),
  );
  if (!anyWaiting) return { counts: [], arrived };

  const named = rowOutcomesOf(result).filter((row) => row.externalId !== null);
  const counts: CountsEntry[] = [];
  const concerned: Record<Statement, RowOutcome[]> = { end: [], queue: [], recount: [], uncount: [] };
  for (const entry of await lockEntries(trx, partition, named, reading)) {
    const row = named[entry.index]!;
    arrived.delete(row);
    const change = CHANGES[caseOf(entry, row, reading)];
    if (change === 'keep') continue;
    concerned[change].push(row);
    if (!entry.counted || change === 'queue') continue;
    // The row is in the counts of this scan, so in those that had it as waiting it ends as unchanged.
    const outcome = reading.kind === 'scan' ? 'unchanged' : row.outcome;
    const { tenantId } = row;
    counts.push({ ...NO_COUNTS, partitionId: entry.partition_id, tenantId, waiting: -1, [outcome]: 1 });
  }
  for (const [change, rows] of Object.entries(concerned) as [Statement, RowOutcome[]][])
    if (rows.length > 0) await trx.raw(STATEMENTS[change], bindingsOf(partition, rows));
  return { counts, arrived };
}

/** How the rows were read, and what an entry is to its row. */
type Case =
  | `${'scan' | 'reread'}: ${'waits' | 'newer' | 'pending' | 'queued'}`
  | `poll: ${'waits' | 'other batch' | 'changed' | 'same batch'}`;

function caseOf(entry: Entry, row: RowOutcome, reading: Reading): Case {
  if (row.outcome === 'waiting') return `${reading.kind}: waits`;
  if (reading.kind === 'poll') {
    if (entry.batch_id !== reading.batchId) return 'poll: other batch';
    return entry.changed ? 'poll: changed' : 'poll: same batch';
  }
  if (entry.newer) return `${reading.kind}: newer`;
  return entry.batch_id === null ? `${reading.kind}: queued` : `${reading.kind}: pending`;
}

/** `keep` leaves an entry as it is; {@link STATEMENTS} has the other changes. */
type Change = 'keep' | Statement;
type Statement = 'end' | 'queue' | 'recount' | 'uncount';

/** What becomes of an entry now that its row has an outcome. */
const CHANGES: Record<Case, Change> = {
  // The record goes on waiting. A scan moves it into the counts of its own partition.
  'scan: waits': 'recount',
  'reread: waits': 'keep',
  'poll: waits': 'keep',
  // The entry may come from a newer reading of the row.
  'scan: newer': 'keep',
  'reread: newer': 'keep',
  // The row has its outcome and counts with that, but claims must see that its record is still pending in a batch.
  'scan: pending': 'uncount',
  'reread: pending': 'uncount',
  'scan: queued': 'end',
  'reread: queued': 'end',
  // The record has been sent in another batch since the polled one: that batch decides.
  'poll: other batch': 'keep',
  // The platform has accepted the content that the row had before it changed.
  'poll: changed': 'queue',
  'poll: same batch': 'end',
};

const OF_RECORDS = `unnest(CAST(:tenants AS int[]), CAST(:ids AS text[])) AS i(tenant_id, external_id)
  WHERE w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`;

const STATEMENTS: Record<Statement, string> = {
  end: `DELETE FROM waiting w USING ${OF_RECORDS}`,
  queue: `UPDATE waiting w SET batch_id = NULL, reason = 'busy', changed = false, due_at = now() FROM ${OF_RECORDS}`,
  recount: `UPDATE waiting w SET partition_id = :partition, counted = true FROM ${OF_RECORDS}`,
  uncount: `UPDATE waiting w SET counted = false FROM ${OF_RECORDS}`,
};

const bindingsOf = (partition: AcquiredPartition, rows: readonly RowOutcome[]) => ({
  mapping: partition.mappingId,
  partition: partition.id,
  tenants: rows.map((row) => row.tenantId),
  ids: rows.map((row) => row.externalId!),
});

async function lockEntries(
  trx: Knex,
  partition: AcquiredPartition,
  named: readonly RowOutcome[],
  { readSeqStart }: Reading,
): Promise<readonly Entry[]> {
  const { rows } = await trx.raw<{ rows: Entry[] }>(
    `SELECT i.ord::int - 1 AS index, w.partition_id, w.batch_id, w.changed, w.read_seq >= :readSeqStart AS newer,
       w.counted AND runs.ended_at IS NULL AS counted
     FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[])) WITH ORDINALITY AS i(tenant_id, external_id, ord)
     JOIN waiting w ON w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
     JOIN partitions ON partitions.id = w.partition_id JOIN runs ON runs.id = partitions.run_id
     -- One order for all, as in write-waiting.ts, so that checkpoints cannot deadlock here.
     ORDER BY w.tenant_id, w.external_id COLLATE "C" FOR UPDATE OF w`,
    { ...bindingsOf(partition, named), readSeqStart },
  );
  return rows;
}
