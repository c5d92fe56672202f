/**
 * Checkpoints: the outcomes, waiting records, dead letters and counts of a chunk are written in one transaction with
 * the partition's position, so that a position never passes a row without an outcome. Nothing else moves a position.
 */
import type { Knex } from 'knex';
import type { CheckpointInput, Reading } from './checkpoint-input.js';
import { endWaiting } from './end-waiting.js';
import { lockPartition, type AcquiredPartition } from './partitions.js';
import { inTransaction, prepared } from './statements.js';
import { writeSentRecords, type SentBy } from './sent-records.js';
import { addToCounts, countsOf, type CountsEntry } from './write-counts.js';
import { closeDeadLetters, writeDeadLetters } from './write-dead-letters.js';
import { writeWaiting } from './write-waiting.js';

/** An arbitrary constant; the second number of the advisory lock is the mapping's. */
const WAITING_LOCK = 7_160_345;

/** Returns what it has added to the counts. Throws `fenced_off` when a newer attempt has taken the partition over. */
export function checkpoint(
  knex: Knex,
  partition: AcquiredPartition,
  chunk: CheckpointInput,
): Promise<readonly CountsEntry[]> {
  const { mappingId } = partition;
  return inTransaction(knex, async (trx) => {
    await lockPartition(trx, partition);
    // Two runs that both found a record busy must see each other's entries, or it would stay in one run's counts as
    // waiting for ever.
    if (chunk.waiting.length > 0) await trx.raw('SELECT pg_advisory_xact_lock(?, ?)', [WAITING_LOCK, mappingId]);
    if (!(await isStillPending(trx, chunk.reading))) return [];
    if (partition.keepsRecords)
      await writeSentRecords(trx, mappingId, sentByOf(partition, chunk.reading), chunk.records, chunk.bulkOutcomes);
    await closeBatches(trx, chunk);
    const existing = await existingEntries(trx, mappingId);
    if (existing.deadLetters) await closeDeadLetters(trx, mappingId, chunk);
    const ended = await endWaiting(trx, partition, chunk, existing.waiting);
    await writeWaiting(trx, partition, chunk);
    await writeDeadLetters(trx, partition, chunk);
    const counts = [...countsOf(partition, chunk, ended.arrived), ...ended.counts];
    await addToCounts(trx, counts);
    await movePosition(trx, partition, chunk);
    return counts;
  });
}

/** A batch that is polled may have been sent by another run, whose reading of the rows it was. */
const sentByOf = ({ runId }: AcquiredPartition, reading: Reading): SentBy => ({
  runId: reading.kind === 'poll' ? reading.sentBy : runId,
  readSeq: reading.readSeqEnd,
});

/** Whether a polled batch is as it was before it was polled. Two runs may poll one batch: only the first one writes. */
async function isStillPending(trx: Knex, reading: Reading): Promise<boolean> {
  if (reading.kind !== 'poll') return true;
  const { rows } = await trx.raw<{ rows: object[] }>(
    `SELECT FROM batches WHERE id = ? AND state = 'pending' AND json_array_length(external_ids) = ? FOR UPDATE`,
    [reading.batchId, reading.seen],
  );
  return rows.length === 1;
}

/** Whether the mapping has waiting records and dead letters. Mostly it has none, which saves two statements. */
async function existingEntries(trx: Knex, mappingId: number): Promise<{ waiting: boolean; deadLetters: boolean }> {
  const { rows } = await prepared<{ waiting: boolean; deadLetters: boolean }>(
    trx,
    'existing_entries',
    `SELECT EXISTS (SELECT FROM waiting WHERE mapping_id = :mapping) AS waiting,
       EXISTS (SELECT FROM dead_letters WHERE mapping_id = :mapping) AS "deadLetters"`,
    { mapping: mappingId },
  );
  return rows[0]!;
}

async function closeBatches(trx: Knex, { settled, pending }: CheckpointInput): Promise<void> {
  if (settled.length > 0)
    await prepared(
      trx,
      'close_batches',
      `UPDATE batches SET external_ids = NULL, content_hashes = NULL, low = NULL, high = NULL, state = 'settled',
         settled_at = now()
       WHERE id = ANY (CAST(? AS bigint[]))`,
      [[...settled]],
    );
  for (const { id, externalIds } of pending)
    await trx('batches')
      .where({ id })
      .update({ state: 'pending', external_ids: JSON.stringify(externalIds) });
}

async function movePosition(
  trx: Knex,
  partition: AcquiredPartition,
  { position, done }: CheckpointInput,
): Promise<void> {
  const cursor = position?.cursor ?? null;
  const key = position === null ? null : [...position.key];
  await prepared(
    trx,
    'move_position',
    `UPDATE partitions SET updated_at = now(), done = done OR :done,
       position_cursor = CASE WHEN :moved THEN :cursor ELSE position_cursor END,
       position_key = CASE WHEN :moved THEN CAST(:key AS text[]) ELSE position_key END
     WHERE id = :id`,
    { id: partition.id, done, moved: position !== null, cursor, key },
  );
  if (cursor !== null)
    await trx.raw(
      `INSERT INTO positions (mapping_id, cursor, key, run_id)
       SELECT mapping_id, :cursor, CAST(:key AS text[]), run_id FROM partitions WHERE id = :id AND moves_position
       ON CONFLICT (mapping_id) DO UPDATE SET cursor = excluded.cursor, key = excluded.key, run_id = excluded.run_id, moved_at = now()`,
      { id: partition.id, cursor, key },
    );
}
