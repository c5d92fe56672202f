/**
 * What becomes of open batches. Each batch is in one of these states:
 *
 * | State      | The batch                                                      | Written by                                |
 * | ---------- | -------------------------------------------------------------- | ----------------------------------------- |
 * | intended   | is about to be sent, or in doubt                               | `insertIntents`                           |
 * | sent       | has the platform's id                                          | `markSent`, `insertSent`                  |
 * | pending    | has records that the platform keeps until their parents arrive | `closeBatches`, `recoverBatch`            |
 * | settled    | is over: every record has an outcome                           | `closeBatches`, `recoverBatch`            |
 * | superseded | is over: its records are sent again in other batches           | `split`, `releaseIntents`, `recoverBatch` |
 *
 * The first three are open: such a batch keeps the external ids of the records without an outcome, for the process that
 * settles it, and in flight also their hashes.
 */
import type { Knex } from 'knex';
import { isStorableId } from '../../domain/records/external-id.js';
import { inTransaction, prepared } from '../database/statements.js';
import { writeSentRecords, type SentRecord } from '../outcomes/sent-records.js';
import { noteDoubt } from './doubts.js';
import { lockPartition, type AcquiredPartition } from '../runs/partitions.js';
import { lockWaitingEntries, writeRecoveredPending, type RecoveredBatch } from '../waiting/index.js';

/** What became of a batch. */
export interface BatchResult {
  readonly id: string;
  /** The external ids of its records that are pending; if there are none, the batch is settled. */
  readonly pending: readonly string[];
}

/** What is known of a batch that a dead attempt has left behind. */
export interface RecoveredOutcomes {
  /** Those with an `unknown` outcome are sent again. */
  readonly outcomes: readonly SentRecord[];
  /** The external ids of the records that are pending; if it is in doubt whether they are, their outcome is `unknown`, too. */
  readonly pending: readonly string[];
  /** Seconds for which the platform was asked to keep those. */
  readonly dependencyWait: number;
  /** Seconds for which the platform may still apply the batch; left out if it is known to be done with it. */
  readonly inDoubtFor?: number;
}

/** Empties the columns that only a batch in flight needs: the external ids of pending records stay. */
const NOT_IN_FLIGHT = { content_hashes: null, low: null, high: null };

/** The columns of a batch of which these records, which can be stored, are pending. */
const stillPending = (pending: readonly string[]) => ({
  ...NOT_IN_FLIGHT,
  state: 'pending',
  external_ids: JSON.stringify(pending),
});

/** The columns of a batch that is over; `split` and `releaseIntents` write them too. */
export const closedColumns = (trx: Knex, state: 'settled' | 'superseded') => ({
  ...NOT_IN_FLIGHT,
  state,
  external_ids: null,
  settled_at: trx.fn.now(),
});

/** Closes the batches of a chunk, or leaves them open with their pending records. */
export async function closeBatches(trx: Knex, batches: readonly BatchResult[]): Promise<void> {
  const settled = batches.filter(({ pending }) => pending.length === 0).map(({ id }) => id);
  if (settled.length > 0)
    await prepared(
      trx,
      'settle_batches',
      `UPDATE batches SET external_ids = NULL, content_hashes = NULL, low = NULL, high = NULL, state = 'settled',
         settled_at = now()
       WHERE id = ANY (CAST(? AS bigint[]))`,
      [settled],
    );
  for (const { id, pending } of batches)
    if (pending.length > 0) await trx('batches').where({ id }).update(stillPending(pending));
}

/** A batch that was left behind in flight. */
interface LeftBehind extends RecoveredBatch {
  /** The run that sent it. */
  readonly runId: string;
  readonly readSeq: string;
}

/** Does nothing if the batch is not left behind any more. Throws `fenced_off`. */
export async function recoverBatch(
  knex: Knex,
  partition: AcquiredPartition,
  batch: LeftBehind,
  { outcomes, pending, dependencyWait, inDoubtFor = 0 }: RecoveredOutcomes,
): Promise<void> {
  // An id that cannot be stored comes from a row that will be read again, and becomes a dead letter then.
  const keptOutcomes = outcomes.filter(({ externalId }) => isStorableId(externalId));
  const keptPending = pending.filter(isStorableId);
  await inTransaction(knex, async (trx) => {
    await lockPartition(trx, partition);
    if (keptPending.length > 0) await lockWaitingEntries(trx, partition.mappingId);
    const state = outcomes.some(({ outcome }) => outcome === 'unknown') ? 'superseded' : 'settled';
    const recovered = await trx('batches')
      .where({ id: batch.id })
      .whereIn('state', ['intended', 'sent'])
      .update(keptPending.length > 0 ? stillPending(keptPending) : closedColumns(trx, state));
    // Several partitions of the next run find what a dead run left behind; the first one recovers it.
    if (recovered === 0) return;
    if (inDoubtFor > 0) await noteDoubt(trx, partition, batch, inDoubtFor);
    // This run has not seen the rows. As its own, a mirror run would not look for one that has vanished since.
    const sentBy = { runId: batch.runId, readSeq: batch.readSeq };
    if (partition.keepsRecords) await writeSentRecords(trx, partition.mappingId, sentBy, keptOutcomes);
    if (keptPending.length > 0) await writeRecoveredPending(trx, partition, batch, keptPending, dependencyWait);
  });
}
