/** Intents: batches are written before their POST, so that a crash cannot leave a POST that nobody knows of. */
import type { Knex } from 'knex';
import { HASH_BYTES, type RecordList } from '../../records/record-list.js';
import { packTexts, prepared, unpackedTexts } from '../database/statements.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import { idHex, rangeOf, type IdRange } from '../record-key.js';

export interface IntendedBatch {
  /** null if the mapping keeps no records: then the ledger does not know the batch. */
  readonly id: string | null;
  readonly tenant: string;
  readonly tenantId: number;
  readonly records: RecordList;
  /** Milliseconds of this process's clock, taken before the intent was written. */
  readonly intendedAt: number;
}

/** An intent that is in the ledger. */
export interface WrittenIntent extends IntendedBatch {
  readonly id: string;
  readonly range: IdRange;
}

export interface NewIntent {
  readonly tenantId: number;
  /** At least one record; all of this tenant. */
  readonly records: RecordList;
}

/**
 * Writes an intent for each batch, and returns the intents in the same order.
 *
 * @param readSeq the read sequence number drawn after the records' rows had been read
 * @param intendedAt milliseconds of this process's clock, taken before the transaction
 */
export async function insertIntents(
  trx: Knex,
  partition: AcquiredPartition,
  readSeq: string,
  batches: readonly NewIntent[],
  intendedAt: number,
): Promise<WrittenIntent[]> {
  if (batches.length === 0) return [];
  const ids = batches.map(({ records }) => records.externalIds);
  const ranges = ids.map(rangeOf);
  const { rows } = await prepared<{ id: string }>(
    trx,
    'insert_intents',
    `INSERT INTO batches (run_id, partition_id, mapping_id, tenant_id, state, records, read_seq, external_ids, content_hashes,
       low, high)
     SELECT :run, :partition, :mapping, tenant_id, 'intended', records, :readSeq, CAST(ids AS json),
       substring(CAST(:hashes AS bytea) FROM 1 + ${HASH_BYTES} * before FOR ${HASH_BYTES} * records),
       decode(low, 'hex'), decode(high, 'hex')
     FROM unnest(CAST(:tenants AS int[]), CAST(:records AS int[]), CAST(:before AS int[]), ${unpackedTexts('ids')},
       CAST(:lows AS text[]), CAST(:highs AS text[])) AS b(tenant_id, records, before, ids, low, high)
     ORDER BY before
     RETURNING id`,
    {
      run: partition.runId,
      partition: partition.id,
      mapping: partition.mappingId,
      readSeq,
      hashes: Buffer.concat(batches.map(({ records }) => records.hashes)),
      tenants: batches.map(({ tenantId }) => tenantId),
      records: batches.map(({ records }) => records.length),
      before: recordsBefore(batches),
      ids: packTexts(ids.map((idsOfBatch) => JSON.stringify(idsOfBatch))),
      lows: ranges.map(({ first }) => idHex(first)),
      highs: ranges.map(({ last }) => idHex(last)),
    },
  );
  return batches.map(({ records, tenantId }, i) => ({
    id: rows[i]!.id,
    tenant: records.tenantAt(0),
    tenantId,
    records,
    range: ranges[i]!,
    intendedAt,
  }));
}

/** How many records there are before those of each batch, whose hashes are all in one binding of the statement. */
function recordsBefore(batches: readonly NewIntent[]): number[] {
  let sum = 0;
  return batches.map(({ records }) => {
    const before = sum;
    sum += records.length;
    return before;
  });
}
