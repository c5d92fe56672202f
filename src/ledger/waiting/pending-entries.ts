/** What others than checkpoints write about pending records: claims that read their rows, and recoveries of batches. */
import type { Knex } from 'knex';
import type { RecordList } from '../../records/record-list.js';
import type { SentRecord } from '../outcomes/sent-records.js';
import type { ReadSeqs } from '../read.js';
import type { RecordKeys } from '../record-key.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import { QUEUED_AGAIN } from './apply-outcomes.js';
import { pendingUntil } from './pending-until.js';

/** What was read of some rows, in the order of their keys. */
export interface RowReading extends Pick<ReadSeqs, 'readSeqEnd'> {
  readonly records: RecordList;
}

/** The keys as a table `i`, and the entries `w` of those that are pending. */
const PENDING_OF_KEYS = `unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:hashes AS text[]), CAST(:keys AS text[]))
       WITH ORDINALITY AS i(tenant_id, external_id, hash, key, ord)
     WHERE w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
       AND w.batch_id IS NOT NULL
       -- The same content may be sent while it is in doubt whether the platform has it: it would not matter which came last.
       AND NOT (w.content_hash = i.hash AND EXISTS (SELECT FROM batches b WHERE b.id = w.batch_id AND b.platform_batch_id IS NULL))`;

/**
 * Writes the reading into the entries of the records that are pending, and returns their indexes. A row with other
 * content than was sent is read and sent again once the record is not pending any more.
 */
export async function recordReadingOfPending(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  { readSeqEnd, records }: RowReading,
): Promise<number[]> {
  const { rows } = await trx.raw<{ rows: { index: number }[] }>(
    // A poll under way may have seen an entry without a key, and would forget it if the platform has dropped the record.
    `UPDATE waiting w SET read_again = w.read_again OR w.source_key = '{}' OR w.content_hash IS DISTINCT FROM i.hash,
            read_seq = greatest(w.read_seq, :readSeqEnd),
            source_key = ARRAY(SELECT jsonb_array_elements_text(i.key::jsonb))
     FROM ${PENDING_OF_KEYS}
     RETURNING i.ord::int - 1 AS index`,
    { ...bindingsOf(mappingId, keys, records), readSeqEnd },
  );
  return rows.map((row) => row.index);
}

/** The indexes of the records that {@link recordReadingOfPending} would find now. */
export async function pendingAmong(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  records: RecordList,
): Promise<ReadonlySet<number>> {
  const { rows } = await trx.raw<{ rows: { index: number }[] }>(
    `SELECT i.ord::int - 1 AS index FROM waiting w, ${PENDING_OF_KEYS}`,
    bindingsOf(mappingId, keys, records),
  );
  return new Set(rows.map((row) => row.index));
}

const bindingsOf = (mappingId: number, { tenantIds, externalIds }: RecordKeys, records: RecordList) => ({
  mapping: mappingId,
  tenants: [...tenantIds],
  ids: [...externalIds],
  hashes: records.map((r) => r.contentHash),
  keys: records.map((r) => JSON.stringify(r.sourceKey)),
});

/**
 * What has been accepted since with the same content decides about records that are in doubt: an entry whose row nobody has read goes,
 * any other is queued. So does {@link applyOutcomes} for rows that have an outcome; these have none yet, as they are read once more.
 */
export async function endDoubts(trx: Knex, mappingId: number, accepted: readonly SentRecord[]): Promise<void> {
  if (accepted.length === 0) return;
  await trx.raw(
    `WITH e AS MATERIALIZED (
       SELECT w.mapping_id, w.tenant_id, w.external_id, w.source_key = '{}' AS "isUnread"
       FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:hashes AS text[])) AS i(tenant_id, external_id, hash)
       JOIN waiting w ON w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
       JOIN batches b ON b.id = w.batch_id AND b.platform_batch_id IS NULL
       WHERE w.content_hash = i.hash
       -- One order for all, as in write-entries.ts, so that checkpoints cannot deadlock here.
       ORDER BY w.tenant_id, w.external_id COLLATE "C" FOR UPDATE OF w),
     unread AS (DELETE FROM waiting w USING e
       WHERE (w.mapping_id, w.tenant_id, w.external_id) = (e.mapping_id, e.tenant_id, e.external_id) AND e."isUnread")
     UPDATE waiting w SET ${QUEUED_AGAIN} FROM e
     WHERE (w.mapping_id, w.tenant_id, w.external_id) = (e.mapping_id, e.tenant_id, e.external_id) AND NOT e."isUnread"`,
    {
      mapping: mappingId,
      tenants: accepted.map((record) => record.tenantId),
      ids: accepted.map((record) => record.externalId),
      hashes: accepted.map((record) => record.contentHash),
    },
  );
}

/** A batch that a dead attempt has left behind; the content hashes are those of the external ids, in the same order. */
export interface RecoveredBatch {
  readonly id: string;
  readonly tenantId: number;
  readonly externalIds: readonly string[];
  readonly contentHashes: readonly string[];
}

/**
 * Writes entries for the records of a recovered batch that are pending. Their rows will be read again, since the resume
 * point has not passed them, so the entries are not counted and have no key. If a record has an entry already, its row
 * was to be sent again: that is done once the record is not pending any more.
 *
 * @param pending external ids of the pending records
 * @param dependencyWait seconds for which the platform was asked to keep them
 */
export async function writeRecoveredPending(
  trx: Knex,
  partition: AcquiredPartition,
  batch: RecoveredBatch,
  pending: readonly string[],
  dependencyWait: number,
): Promise<void> {
  const hashes = new Map(batch.externalIds.map((id, i) => [id, batch.contentHashes[i]!]));
  await trx.raw(
    `INSERT INTO waiting AS w (mapping_id, tenant_id, external_id, source_key, reason, batch_id, content_hash, partition_id,
       read_seq, counted, due_at)
     SELECT :mapping, :tenant, id, '{}', 'dependency', :batch, hash, :partition, 0, false,
       ${pendingUntil('CAST(NULL AS timestamptz)', 'CAST(:dependencyWait AS float8)')}
     FROM unnest(CAST(:pending AS text[]), CAST(:hashes AS text[])) AS p(id, hash)
     ON CONFLICT (mapping_id, tenant_id, external_id) DO UPDATE
       SET reason = excluded.reason, batch_id = excluded.batch_id, content_hash = excluded.content_hash, read_again = true,
         due_at = excluded.due_at`,
    {
      mapping: partition.mappingId,
      tenant: batch.tenantId,
      batch: batch.id,
      partition: partition.id,
      dependencyWait,
      pending: [...pending],
      hashes: pending.map((id) => hashes.get(id)!),
    },
  );
}
