/**
 * Checkpoints: the outcomes, waiting records, dead letters and counts of a chunk are written in one transaction with
 * the partition's resume point and the mapping's position, so that neither ever passes a row without an outcome.
 * Nothing else moves them.
 */
import type { Knex } from 'knex';
import type { Position } from '../../domain/source.js';
import { readingOf, resultOf, type CheckpointInput, type ChunkResult } from './checkpoint-input.js';
import { endWaiting } from './end-waiting.js';
import { lockPartition, type AcquiredPartition } from '../runs/partitions.js';
import { storedResumePoint, type ResumePoint } from '../runs/resume-point.js';
import { inTransaction, prepared } from '../database/statements.js';
import { writeSentRecords, type SentBy } from '../outcomes/sent-records.js';
import { addToCounts, countsOf, type CountsEntry } from './write-counts.js';
import { closeDeadLetters, writeDeadLetters } from './write-dead-letters.js';
import { writeWaiting } from './write-waiting.js';

/** An arbitrary constant; the second number of the advisory lock is the mapping's. */
const WAITING_LOCK = 7_160_345;

/** Returns what it has added to the counts. Throws `fenced_off` when a newer attempt has taken the partition over. */
export function checkpoint(
  knex: Knex,
  partition: AcquiredPartition,
  input: CheckpointInput,
): Promise<readonly CountsEntry[]> {
  const { mappingId } = partition;
  const reading = readingOf(input);
  const result = resultOf(input);
  return inTransaction(knex, async (trx) => {
    await lockPartition(trx, partition);
    // Two runs that both found a record busy must see each other's entries, or it would stay in one run's counts as
    // waiting for ever.
    if (result.waiting.length > 0) await trx.raw('SELECT pg_advisory_xact_lock(?, ?)', [WAITING_LOCK, mappingId]);
    if (!(await isStillPending(trx, input))) return [];
    if (partition.keepsRecords)
      await writeSentRecords(trx, mappingId, sentByOf(partition, input), result.sent, result.bulkOutcomes);
    await closeBatches(trx, result);
    const existing = await existingEntries(trx, mappingId);
    if (existing.deadLetters) await closeDeadLetters(trx, mappingId, reading, result);
    const ended = await endWaiting(trx, partition, reading, result, existing.waiting);
    await writeWaiting(trx, partition, reading, result.waiting);
    await writeDeadLetters(trx, partition, reading, result);
    const scanned = input.kind === 'scan' ? countsOf(partition, input, ended.arrived) : [];
    const counts = [...scanned, ...ended.counts];
    await addToCounts(trx, counts);
    const resumePoint = 'resumePoint' in input ? input.resumePoint : null;
    if (resumePoint !== null) await moveResumePoint(trx, partition, resumePoint);
    if (resumePoint?.kind === 'row' && resumePoint.position.cursor !== null)
      await movePosition(trx, partition, resumePoint.position);
    return counts;
  });
}

/** A batch that is polled may have been sent by another run, whose reading of the rows it was. */
const sentByOf = ({ runId }: AcquiredPartition, input: CheckpointInput): SentBy => ({
  runId: input.kind === 'poll' ? input.batch.runId : runId,
  readSeq: readingOf(input).readSeqEnd,
});

/** Whether a polled batch is as it was before it was polled. Two runs may poll one batch: only the first one writes. */
async function isStillPending(trx: Knex, input: CheckpointInput): Promise<boolean> {
  if (input.kind !== 'poll') return true;
  const { rows } = await trx.raw<{ rows: object[] }>(
    `SELECT FROM batches WHERE id = ? AND state = 'pending' AND json_array_length(external_ids) = ? FOR UPDATE`,
    [input.batch.id, input.batch.externalIds.length],
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

async function closeBatches(trx: Knex, { batches }: ChunkResult): Promise<void> {
  const settled = batches.filter(({ pending }) => pending.length === 0).map(({ id }) => id);
  if (settled.length > 0)
    await prepared(
      trx,
      'close_batches',
      `UPDATE batches SET external_ids = NULL, content_hashes = NULL, low = NULL, high = NULL, state = 'settled',
         settled_at = now()
       WHERE id = ANY (CAST(? AS bigint[]))`,
      [settled],
    );
  for (const { id, pending } of batches)
    if (pending.length > 0)
      await trx('batches')
        .where({ id })
        .update({ state: 'pending', external_ids: JSON.stringify(pending) });
}

/** Moves the partition's resume point. */
async function moveResumePoint(trx: Knex, { id }: AcquiredPartition, point: ResumePoint): Promise<void> {
  const { cursor, key } = storedResumePoint(point);
  await prepared(
    trx,
    'move_resume_point',
    `UPDATE partitions SET updated_at = now(), resume_cursor = :cursor, resume_key = CAST(:key AS text[]) WHERE id = :id`,
    { id, cursor, key: [...key] },
  );
}

/** Moves the mapping's position, if the partition is read for that. */
async function movePosition(trx: Knex, { id }: AcquiredPartition, { cursor, key }: Position): Promise<void> {
  await trx.raw(
    `INSERT INTO positions (mapping_id, cursor, key, run_id)
     SELECT mapping_id, :cursor, CAST(:key AS text[]), run_id FROM partitions WHERE id = :id AND moves_position
     ON CONFLICT (mapping_id) DO UPDATE SET cursor = excluded.cursor, key = excluded.key, run_id = excluded.run_id, moved_at = now()`,
    { id, cursor, key: [...key] },
  );
}
