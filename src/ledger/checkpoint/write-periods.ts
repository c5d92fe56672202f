/** The periods of a run: checkpoints add to them what they add to the counts, and how long that took. */
import type { Knex } from 'knex';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import { addCounts, NO_COUNTS, type Counts } from '../../domain/run/run.js';
import type { Effort } from '../../domain/run/effort.js';
import { prepared } from '../database/statements.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import { periodOf, PERIODS } from '../runs/periods.js';
import type { CountsEntry } from './write-counts.js';

/**
 * Adds to the period that is now. In the transaction that adds to the counts, so that the periods of a partition always add
 * up to its counts.
 *
 * @param counts also of partitions that counted rows as waiting which have another outcome now
 * @param effort of the partition since its last checkpoint
 */
export async function writePeriods(
  trx: Knex,
  partition: AcquiredPartition,
  counts: readonly CountsEntry[],
  effort: Effort,
): Promise<void> {
  const byPartition = new Map<string, Counts>([[partition.id, NO_COUNTS]]);
  for (const entry of counts)
    byPartition.set(
      entry.partitionId,
      addCounts(
        getOrInsert(byPartition, entry.partitionId, () => NO_COUNTS),
        entry,
      ),
    );
  const partitions = [...byPartition.keys()];
  const column = (name: keyof Counts): number[] => [...byPartition.values()].map((sums) => sums[name]);
  const taken = (ms: number): number[] => partitions.map((id) => (id === partition.id ? Math.round(ms) : 0));
  await prepared(
    trx,
    'write_periods',
    `WITH period AS (SELECT ${periodAt('now() - started_at')} AS begins_at FROM runs WHERE id = :run),
     requests AS (
       INSERT INTO partition_requests AS r (partition_id, begins_at, operation, status, requests, ms)
       SELECT CAST(:id AS bigint), begins_at, operation, status, requests, ms
       FROM period, unnest(CAST(:operations AS text[]), CAST(:statuses AS text[]), CAST(:requests AS int[]),
         CAST(:requestMs AS bigint[])) AS e(operation, status, requests, ms)
       ORDER BY operation, status
       ON CONFLICT (partition_id, begins_at, operation, status) DO UPDATE SET
         requests = r.requests + excluded.requests, ms = r.ms + excluded.ms)
     INSERT INTO partition_periods AS p (partition_id, begins_at, read, accepted, unchanged, waiting, dead_lettered,
       reading_ms, sending_ms, ledger_ms)
     SELECT partition_id, begins_at, read, accepted, unchanged, waiting, dead_lettered, reading_ms, sending_ms, ledger_ms
     FROM period, unnest(CAST(:partitions AS bigint[]), CAST(:read AS bigint[]), CAST(:accepted AS bigint[]),
         CAST(:unchanged AS bigint[]), CAST(:waiting AS bigint[]), CAST(:deadLettered AS bigint[]),
         CAST(:readingMs AS bigint[]), CAST(:sendingMs AS bigint[]), CAST(:ledgerMs AS bigint[]))
       AS e(partition_id, read, accepted, unchanged, waiting, dead_lettered, reading_ms, sending_ms, ledger_ms)
     ORDER BY partition_id -- one order for all, so that checkpoints cannot deadlock here
     ON CONFLICT (partition_id, begins_at) DO UPDATE SET
       read = p.read + excluded.read, accepted = p.accepted + excluded.accepted, unchanged = p.unchanged + excluded.unchanged,
       waiting = p.waiting + excluded.waiting, dead_lettered = p.dead_lettered + excluded.dead_lettered,
       reading_ms = p.reading_ms + excluded.reading_ms, sending_ms = p.sending_ms + excluded.sending_ms,
       ledger_ms = p.ledger_ms + excluded.ledger_ms`,
    {
      run: partition.runId,
      id: partition.id,
      operations: effort.requests.map((r) => r.operation),
      statuses: effort.requests.map((r) => r.status),
      requests: effort.requests.map((r) => r.requests),
      requestMs: effort.requests.map((r) => Math.round(r.ms)),
      partitions,
      read: column('read'),
      accepted: column('accepted'),
      unchanged: column('unchanged'),
      waiting: column('waiting'),
      deadLettered: column('deadLettered'),
      readingMs: taken(effort.readingMs),
      sendingMs: taken(effort.sendingMs),
      ledgerMs: taken(effort.ledgerMs),
    },
  );
}

/** The SQL for the beginning of the period that is now, in a run that has lasted so long. */
const periodAt = (lasted: string): string => {
  const cases = PERIODS.map(({ seconds, until }) =>
    until === null ? `ELSE ${seconds}` : `WHEN ${lasted} < interval '${until} s' THEN ${seconds}`,
  );
  return periodOf('now()', `CASE ${cases.join(' ')} END`);
};
