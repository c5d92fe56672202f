/**
 * Checkpoints: the outcomes, waiting records, dead letters and counts of a chunk are written in one transaction with
 * the partition's resume point and the mapping's position, so that neither ever passes a row without an outcome.
 * Nothing else moves them.
 */
import type { Knex } from 'knex';
import { NO_EFFORT, type Effort } from '../../domain/run/effort.js';
import { closeBatches } from '../batches/close-batches.js';
import { settleChangedRows } from '../changes/changed-rows.js';
import { readOf, resultOf, resumePointOf, type CheckpointInput, type PollCheckpoint } from './checkpoint-input.js';
import { endWaiting } from './end-waiting.js';
import { lockPartition, type AcquiredPartition } from '../runs/partitions.js';
import { storedResumePoint, type ResumePoint } from '../runs/resume-point.js';
import { inTransaction, prepared } from '../database/statements.js';
import { writeSentRecords, type SentBy } from '../outcomes/sent-records.js';
import { addToCounts, countsOf, type CountsEntry } from './write-counts.js';
import { writePeriods } from './write-periods.js';
import { closeDeadLetters, writeDeadLetters } from './write-dead-letters.js';
import { endDoubts, lockWaitingEntries, writeWaitingEntries } from '../waiting/index.js';

/** Returns what it has added to the counts. Throws `fenced_off` when a newer attempt has taken the partition over. */
export function checkpoint(
  knex: Knex,
  partition: AcquiredPartition,
  input: CheckpointInput,
  effort: Effort = NO_EFFORT,
): Promise<readonly CountsEntry[]> {
  const { mappingId } = partition;
  const read = readOf(input);
  const result = resultOf(input);
  return inTransaction(knex, async (trx) => {
    await lockPartition(trx, partition);
    if (result.waiting.length > 0) await lockWaitingEntries(trx, mappingId);
    if (input.kind === 'poll' && !(await isAsPolled(trx, input))) return [];
    if (partition.keepsRecords)
      await writeSentRecords(trx, mappingId, sentByOf(partition, input), result.sent, result.bulkOutcomes);
    await closeBatches(trx, result.batches);
    const existing = await existingEntries(trx, mappingId);
    if (existing.deadLetters) await closeDeadLetters(trx, mappingId, read, result);
    if (input.kind === 'early' && existing.waiting)
      await endDoubts(
        trx,
        mappingId,
        result.sent.filter(({ outcome }) => outcome === 'accepted'),
      );
    const ended = await endWaiting(trx, partition, read, result, existing.waiting);
    await writeWaitingEntries(trx, partition, read, result.waiting);
    await writeDeadLetters(trx, partition, read, result);
    const counted = input.kind === 'counted' ? countsOf(partition, input, ended.deliveredSinceClaim) : [];
    const counts = [...counted, ...ended.counts];
    await addToCounts(trx, counts);
    await writePeriods(trx, partition, counts, effort);
    const resumePoint = resumePointOf(input);
    if (resumePoint?.kind === 'changed_rows') await settleChangedRows(trx, mappingId, resumePoint, read.readSeqStart);
    if (resumePoint !== null) await moveResumePoint(trx, partition, resumePoint);
    return counts;
  });
}

/** Adds to the period that is now what no checkpoint will. Throws `fenced_off`. */
export const recordEffort = (knex: Knex, partition: AcquiredPartition, effort: Effort): Promise<void> =>
  inTransaction(knex, async (trx) => {
    await lockPartition(trx, partition);
    await writePeriods(trx, partition, [], effort);
  });

/** A batch that is polled may have been sent by another run, whose reading of the rows it was. */
const sentByOf = ({ runId }: AcquiredPartition, input: CheckpointInput): SentBy => ({
  runId: input.kind === 'poll' ? input.batch.runId : runId,
  readSeq: readOf(input).readSeqEnd,
});

/**
 * Locks the polled batch, and returns whether it is as it was before it was polled. Two runs may poll one batch: only the
 * first one writes.
 */
async function isAsPolled(trx: Knex, { batch }: PollCheckpoint): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: object[] }>(
    `SELECT FROM batches WHERE id = ? AND state = 'pending' AND json_array_length(external_ids) = ? FOR UPDATE`,
    [batch.id, batch.externalIds.length],
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

/** Moves the partition's resume point and, if the partition is read for that, the mapping's position with it. */
async function moveResumePoint(trx: Knex, partition: AcquiredPartition, point: ResumePoint): Promise<void> {
  const { cursor, key } = storedResumePoint(point);
  await prepared(
    trx,
    'move_resume_point',
    `UPDATE partitions SET updated_at = now(), resume_cursor = :cursor, resume_key = CAST(:key AS text[]) WHERE id = :id`,
    { id: partition.id, cursor, key: [...key] },
  );
  if (point.kind === 'row' && cursor !== null) await movePosition(trx, partition, cursor);
}

/** Moves the mapping's position, if the partition is read for that. */
async function movePosition(trx: Knex, { id }: AcquiredPartition, cursor: string): Promise<void> {
  await trx.raw(
    `INSERT INTO positions (mapping_id, cursor, reads, run_id)
     SELECT mapping_id, :cursor, reads, run_id FROM partitions WHERE id = :id AND moves_position
     ON CONFLICT (mapping_id) DO UPDATE SET cursor = excluded.cursor, reads = excluded.reads, run_id = excluded.run_id`,
    { id, cursor },
  );
}
