/** What others than checkpoints write about pending records: claims that read their rows, and recoveries of batches. */
import type { Knex } from 'knex';
import type { RecordList } from '../../records/record-list.js';
import type { ReadSeqs } from '../read.js';
import type { RecordKeys } from '../record-key.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import { pendingUntil } from './pending-until.js';

/** What was read of some rows, in the order of their keys. */
export interface RowReading extends Pick<ReadSeqs, 'readSeqEnd'> {
  readonly records: RecordList;
}

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
     FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:hashes AS text[]), CAST(:keys AS text[]))
       WITH ORDINALITY AS i(tenant_id, external_id, hash, key, ord)
     WHERE w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
       AND w.batch_id IS NOT NULL
       -- The same content may be sent while it is in doubt whether the platform has it: it would not matter which came last.
       AND NOT (w.content_hash = i.hash AND EXISTS (SELECT FROM batches b WHERE b.id = w.batch_id AND b.platform_batch_id IS NULL))
     RETURNING i.ord::int - 1 AS index`,
    {
      mapping: mappingId,
      readSeqEnd,
      tenants: [...keys.tenantIds],
      ids: [...keys.externalIds],
      hashes: records.map((r) => r.contentHash),
      keys: records.map((r) => JSON.stringify(r.sourceKey)),
    },
  );
  return rows.map((row) => row.index);
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
