/** Batches that are not settled yet: intended, sent, or with pending records. Their states: close-batches.ts. */
import type { Knex } from 'knex';
import { milliseconds } from '../../domain/timeouts.js';
import type { RecordList } from '../../records/record-list.js';
import { insertIntents, type IntendedBatch } from './batch-intents.js';
import { closedColumns, recoverBatch, type RecoveredOutcomes } from './close-batches.js';
import { noteDoubt, type SentContent } from './doubts.js';
import { releaseIntents } from './release-intents.js';
import { coalesced } from '../database/coalesced.js';
import { lockPartition, type AcquiredPartition } from '../runs/partitions.js';
import { hashAt, inTransaction, prepared } from '../database/statements.js';
import { writeUnknown } from '../outcomes/sent-records.js';

/** A batch that is not settled yet. */
export interface OpenBatch {
  readonly id: string;
  readonly runId: string;
  readonly tenant: string;
  readonly tenantId: number;
  readonly platformBatchId: string | null;
  /** How many records it was sent with. */
  readonly records: number;
  /** The read sequence number drawn after its rows had been read. */
  readonly readSeq: string;
  /** The records without an outcome. */
  readonly externalIds: readonly string[];
  /**
   * What was sent (32 hex digits), by the index in `externalIds`. Empty for a batch that is `pending`: those hashes are
   * with its waiting records.
   */
  readonly contentHashes: readonly string[];
  /** Milliseconds since the intent was written, by the database's clock. */
  readonly age: number;
}

/** `insertSent`, `renew`, `doubt`, `split` and `recover` throw `fenced_off` when a newer attempt has taken the partition over. */
export interface Batches {
  /** Records the id that the platform gave the batch; does nothing for a batch that the ledger does not know. */
  markSent(batch: IntendedBatch, platformBatchId: string): Promise<void>;
  /**
   * Writes a batch that was sent without an intent, because its mapping keeps no records, now that some of its records
   * are pending. Returns its id.
   */
  insertSent(
    partition: AcquiredPartition,
    readSeq: string,
    batch: IntendedBatch,
    platformBatchId: string,
  ): Promise<string>;
  /** Makes the intent of a POST that had to wait begin anew. */
  renew(partition: AcquiredPartition, batch: IntendedBatch): Promise<IntendedBatch>;
  /**
   * Notes that the platform may apply what was sent of these records for so many seconds from now on. The same may be sent again
   * at once, but other content of theirs is not claimed meanwhile, and what was accepted before is in doubt until the next
   * outcome.
   */
  doubt(partition: AcquiredPartition, sent: SentContent, seconds: number): Promise<void>;
  /** Replaces the intent by one for each of its parts. */
  split(
    partition: AcquiredPartition,
    batch: IntendedBatch,
    parts: readonly RecordList[],
  ): Promise<readonly IntendedBatch[]>;
  /**
   * Closes the intents of batches that were certainly not sent, so that their records can be claimed again at once. If
   * their claim was `guarded`, the guard does not count what they would have changed any more.
   */
  release(
    partition: AcquiredPartition,
    batches: readonly IntendedBatch[],
    claim: { readonly guarded: boolean },
  ): Promise<void>;
  /**
   * Returns the batches that nobody is settling: those of the partition itself, and those of its mapping whose runs have
   * ended. Attempts that may have outlived such a run are fenced off first.
   */
  takeOverLeftBehind(partition: AcquiredPartition): Promise<readonly OpenBatch[]>;
  /** Batches of the mapping, of any run, with pending records. */
  withPending(mappingId: number): Promise<readonly OpenBatch[]>;
  /**
   * Whether batches of these mappings may have had records accepted since the first intent of `batches`, in the tenants of these.
   */
  anyAcceptedSince(batches: readonly string[], mappingIds: readonly number[]): Promise<boolean>;
  /**
   * Writes what is known of a batch that was left behind, and frees its records. Does nothing if another partition has
   * done so.
   */
  recover(partition: AcquiredPartition, batch: OpenBatch, outcomes: RecoveredOutcomes): Promise<void>;
}

/** Batches of the mapping whose run has ended (failed, cancelled or terminated) without settling them. */
const OF_ENDED_RUNS = `state IN ('intended', 'sent') AND b.mapping_id = ?
  AND EXISTS (SELECT FROM runs WHERE runs.id = b.run_id AND runs.ended_at IS NOT NULL)`;

export function openBatches(knex: Knex): Batches {
  const writeSent = coalesced<{ id: string; platformBatchId: string }>(
    milliseconds('batchIdRecorded'),
    async (sent) => {
      await prepared(
        knex,
        'mark_sent',
        `UPDATE batches SET state = 'sent', platform_batch_id = s.platform_batch_id, sent_at = now()
       FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])) AS s(id, platform_batch_id)
       WHERE batches.id = s.id AND state = 'intended'`,
        [sent.map(({ id }) => id), sent.map(({ platformBatchId }) => platformBatchId)],
      );
    },
  );
  return {
    async markSent({ id }, platformBatchId) {
      if (id !== null) await writeSent({ id, platformBatchId });
    },
    insertSent: (partition, readSeq, batch, platformBatchId) =>
      inTransaction(knex, async (trx) => {
        await lockPartition(trx, partition);
        const [intent] = await insertIntents(trx, partition, readSeq, [batch], batch.intendedAt);
        await trx('batches')
          .where({ id: intent!.id })
          .update({ state: 'sent', platform_batch_id: platformBatchId, sent_at: trx.fn.now() });
        return intent!.id;
      }),
    async renew(partition, batch) {
      const intendedAt = Date.now();
      await inTransaction(knex, async (trx) => {
        await lockPartition(trx, partition);
        if (batch.id !== null) await trx('batches').where({ id: batch.id }).update({ intended_at: trx.fn.now() });
      });
      return { ...batch, intendedAt };
    },
    doubt: (partition, sent, seconds) =>
      inTransaction(knex, async (trx) => {
        await lockPartition(trx, partition);
        await noteDoubt(trx, partition, sent, seconds);
        const { tenantId, externalIds } = sent;
        const keys = { tenantIds: externalIds.map(() => tenantId), externalIds };
        if (partition.keepsRecords) await writeUnknown(trx, partition.mappingId, keys);
      }),
    async split(partition, batch, parts) {
      const intendedAt = Date.now();
      if (batch.id === null) return parts.map((records) => ({ ...batch, records, intendedAt }));
      return inTransaction(knex, async (trx) => {
        await lockPartition(trx, partition);
        const [whole] = await trx('batches')
          .where({ id: batch.id })
          .update(closedColumns(trx, 'superseded'))
          .returning<{ read_seq: string }[]>('read_seq');
        const intents = parts.map((records) => ({ tenantId: batch.tenantId, records }));
        return insertIntents(trx, partition, whole!.read_seq, intents, intendedAt);
      });
    },
    release: (partition, batches, { guarded }) => releaseIntents(knex, partition, batches, guarded),
    async takeOverLeftBehind({ id, mappingId }) {
      await knex.raw(
        `UPDATE partitions SET fencing_token = fencing_token + 1
         WHERE id IN (SELECT partition_id FROM batches b WHERE ${OF_ENDED_RUNS})`,
        [mappingId],
      );
      return findBatches(
        knex,
        `state IN ('intended', 'sent') AND (partition_id = ? OR ${OF_ENDED_RUNS})`,
        id,
        mappingId,
      );
    },
    withPending: (mappingId) => findBatches(knex, `mapping_id = ? AND state = 'pending'`, mappingId),
    async anyAcceptedSince(batches, mappingIds) {
      // A batch with pending records does not say when the others were accepted.
      const { rows } = await knex.raw<{ rows: { any: boolean }[] }>(
        `WITH sent AS (SELECT tenant_id, min(intended_at) AS at FROM batches WHERE id = ANY (CAST(? AS bigint[])) GROUP BY 1),
           others AS (SELECT tenant_id, state, settled_at FROM batches WHERE mapping_id = ANY (CAST(? AS smallint[]))
             AND (state = 'pending' OR settled_at >= (SELECT min(at) FROM sent)))
         SELECT EXISTS (SELECT FROM others JOIN sent USING (tenant_id)
           WHERE others.state = 'pending' OR others.settled_at >= sent.at) AS any`,
        [[...batches], [...mappingIds]],
      );
      return rows[0]!.any;
    },
    recover: (partition, batch, outcomes) => recoverBatch(knex, partition, batch, outcomes),
  };
}

/** A batch that is open: settled and superseded ones have neither external ids nor hashes. */
interface OpenBatchRow {
  id: string;
  run_id: string;
  tenant: string;
  tenant_id: number;
  platform_batch_id: string | null;
  records: number;
  read_seq: string;
  external_ids: string[];
  content_hashes: Buffer | null;
  age: number;
}

const openBatchOf = (row: OpenBatchRow): OpenBatch => ({
  id: row.id,
  runId: row.run_id,
  tenant: row.tenant,
  tenantId: row.tenant_id,
  platformBatchId: row.platform_batch_id,
  records: row.records,
  readSeq: row.read_seq,
  externalIds: row.external_ids,
  contentHashes: row.content_hashes === null ? [] : row.external_ids.map((_, i) => hashAt(row.content_hashes!, i)),
  age: row.age,
});

/** Open batches that fulfil a condition in SQL (`b` is the batch), oldest first; it must leave out all others. */
async function findBatches(
  knex: Knex,
  condition: string,
  ...bindings: (string | number)[]
): Promise<readonly OpenBatch[]> {
  const { rows } = await knex.raw<{ rows: OpenBatchRow[] }>(
    `SELECT b.*, t.platform_id AS tenant, (1000 * extract(epoch FROM clock_timestamp() - intended_at))::float8 AS age
     FROM batches b JOIN tenants t ON t.id = b.tenant_id WHERE ${condition} ORDER BY b.id`,
    bindings,
  );
  return rows.map(openBatchOf);
}
