/** Open batches: intended, sent, or with pending records. */
import type { Knex } from 'knex';
import { isKeepable } from '../../domain/external-id.js';
import { milliseconds } from '../../domain/timeouts.js';
import type { RecordList } from '../../records/record-list.js';
import { insertIntents, type IntendedBatch } from './batch-intents.js';
import { coalesced } from '../database/coalesced.js';
import { lockPartition, type AcquiredPartition } from '../runs/partitions.js';
import { pendingUntil } from '../undelivered/pending-until.js';
import { writeSentRecords, type SentRecord } from '../outcomes/sent-records.js';
import { hashAt, inTransaction, prepared } from '../database/statements.js';

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

/** Methods that take a partition throw `fenced_off` when a newer attempt has taken it over. */
export interface OpenBatches {
  /** Notes the id that the platform gave the batch; does nothing for a batch that the ledger does not know. */
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
  /** Replaces the intent by one for each of its parts. */
  split(
    partition: AcquiredPartition,
    batch: IntendedBatch,
    parts: readonly RecordList[],
  ): Promise<readonly IntendedBatch[]>;
  /**
   * Batches that nobody is settling: those of the partition itself, and those of its mapping whose runs have ended.
   * Attempts that may have outlived such a run are fenced off first.
   */
  leftBehind(partition: AcquiredPartition): Promise<readonly OpenBatch[]>;
  /**
   * Reads the batch again: its old attempt may have noted the platform's id meanwhile. Undefined if it is not left
   * behind any more, since another partition has recovered it.
   */
  reread(batch: OpenBatch): Promise<OpenBatch | undefined>;
  /** Batches of the mapping, of any run, with pending records. */
  withPending(mappingId: number): Promise<readonly OpenBatch[]>;
  /**
   * Writes what is known of a batch that was left behind, and frees its records. Does nothing if another partition has
   * done so.
   *
   * @param pending external ids of records that are pending; they wait for `dependencyWait` seconds at most
   */
  recover(
    partition: AcquiredPartition,
    batch: OpenBatch,
    outcomes: readonly SentRecord[],
    pending: readonly string[],
    dependencyWait?: number,
  ): Promise<void>;
}

/** Batches of the mapping whose run has ended (failed, cancelled or terminated) without settling them. */
const ABANDONED = `state IN ('intended', 'sent') AND b.mapping_id = ?
  AND EXISTS (SELECT FROM runs WHERE runs.id = b.run_id AND runs.ended_at IS NOT NULL)`;

export function openBatches(knex: Knex): OpenBatches {
  const writeSent = coalesced<{ id: string; platformBatchId: string }>(milliseconds('batchIdNoted'), async (sent) => {
    await prepared(
      knex,
      'mark_sent',
      `UPDATE batches SET state = 'sent', platform_batch_id = s.platform_batch_id, sent_at = now()
       FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])) AS s(id, platform_batch_id)
       WHERE batches.id = s.id AND state = 'intended'`,
      [sent.map(({ id }) => id), sent.map(({ platformBatchId }) => platformBatchId)],
    );
  });
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
    async split(partition, batch, parts) {
      const intendedAt = Date.now();
      if (batch.id === null) return parts.map((records) => ({ ...batch, records, intendedAt }));
      return inTransaction(knex, async (trx) => {
        await lockPartition(trx, partition);
        const [whole] = await trx('batches')
          .where({ id: batch.id })
          .update({ ...NOTHING_OPEN, state: 'superseded', settled_at: trx.fn.now() })
          .returning<{ read_seq: string }[]>('read_seq');
        const intents = parts.map((records) => ({ tenantId: batch.tenantId, records }));
        return insertIntents(trx, partition, whole!.read_seq, intents, intendedAt);
      });
    },
    async leftBehind({ id, mappingId }) {
      await knex.raw(
        `UPDATE partitions SET fencing_token = fencing_token + 1
         WHERE id IN (SELECT partition_id FROM batches b WHERE ${ABANDONED})`,
        [mappingId],
      );
      return findBatches(knex, `state IN ('intended', 'sent') AND (partition_id = ? OR ${ABANDONED})`, id, mappingId);
    },
    reread: async ({ id }) => (await findBatches(knex, `state IN ('intended', 'sent') AND b.id = ?`, id))[0],
    withPending: (mappingId) => findBatches(knex, `mapping_id = ? AND state = 'pending'`, mappingId),
    recover: (partition, batch, outcomes, pending, dependencyWait = 0) =>
      recoverBatch(knex, partition, batch, outcomes, pending, dependencyWait),
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

/** The columns that only an open batch fills, emptied. */
const NOTHING_OPEN = { external_ids: null, content_hashes: null, low: null, high: null };

async function recoverBatch(
  knex: Knex,
  partition: AcquiredPartition,
  batch: OpenBatch,
  outcomes: readonly SentRecord[],
  pending: readonly string[],
  dependencyWait: number,
): Promise<void> {
  // An id that cannot be stored comes from a row that will be read again, and becomes a dead letter then.
  const keptOutcomes = outcomes.filter(({ externalId }) => isKeepable(externalId));
  const keptPending = pending.filter(isKeepable);
  await inTransaction(knex, async (trx) => {
    await lockPartition(trx, partition);
    const closed = {
      ...NOTHING_OPEN,
      state: outcomes.some(({ outcome }) => outcome === 'unknown') ? 'superseded' : 'settled',
      settled_at: trx.fn.now(),
    };
    const stillPending = { ...NOTHING_OPEN, state: 'pending', external_ids: JSON.stringify(keptPending) };
    const recovered = await trx('batches')
      .where({ id: batch.id })
      .whereIn('state', ['intended', 'sent'])
      .update(keptPending.length > 0 ? stillPending : closed);
    // Several partitions of the next run find what a dead run left behind; the first one recovers it.
    if (recovered === 0) return;
    // This run has not seen the rows. As its own, a mirror run would not look for one that has vanished since.
    const sentBy = { runId: batch.runId, readSeq: batch.readSeq };
    if (partition.keepsRecords) await writeSentRecords(trx, partition.mappingId, sentBy, keptOutcomes);
    if (keptPending.length > 0) await insertPending(trx, partition, batch, keptPending, dependencyWait);
  });
}

/**
 * Writes waiting entries for records of a batch that was left behind. Their rows will be read again, since the resume point
 * has not passed them, so the entries are not counted and have no key. If a record has an entry already, its row was to be
 * sent again: that is done once the platform lets go of the record.
 */
async function insertPending(
  trx: Knex,
  partition: AcquiredPartition,
  batch: OpenBatch,
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
       SET reason = excluded.reason, batch_id = excluded.batch_id, content_hash = excluded.content_hash, changed = true,
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
