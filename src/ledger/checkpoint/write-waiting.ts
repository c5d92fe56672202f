/** Writes the waiting entries of records that begin to wait, or go on waiting for another reason. */
import type { Knex } from 'knex';
import { isKeepable } from '../../domain/external-id.js';
import type { Reading } from './checkpoint-input.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import { pendingUntil, plausibleExpiry } from '../undelivered/pending-until.js';
import type { WaitingRecord } from '../undelivered/waiting-record.js';

export async function writeWaiting(
  trx: Knex,
  partition: AcquiredPartition,
  reading: Reading,
  waiting: readonly WaitingRecord[],
): Promise<void> {
  if (waiting.length === 0) return;
  const bindings = {
    mapping: partition.mappingId,
    partition: partition.id,
    readSeqStart: reading.readSeqStart,
    readSeqEnd: reading.readSeqEnd,
    counted: reading.kind === 'scan',
  };
  // An upsert may touch a row only once. Of two entries of one record, as when two rows map to it now, the later counts.
  const entries = [...new Map(waiting.map((w) => [`${w.tenantId}/${w.externalId}`, entryOf(w)])).values()];
  await trx.raw(WRITE, { ...bindings, entries: JSON.stringify(entries) });
  const busy = waiting.filter((record) => record.reason === 'busy');
  if (busy.length > 0) await trx.raw(MARK_CHANGED, { ...bindings, entries: JSON.stringify(busy.map(entryOf)) });
}

/**
 * Writes the entries. Where a record has one already, this is the result (test/ledger/waiting-entries.test.ts):
 *
 * | there already                   | new            | result                                          |
 * | ------------------------------- | -------------- | ----------------------------------------------- |
 * | pending                         | queued as busy | the one there, `changed` ({@link MARK_CHANGED}) |
 * | anything else                   | queued         | the new one                                     |
 * | pending, `changed`              | pending        | the new one, `changed`                          |
 * | queued, perhaps a newer reading | pending        | the new one, `changed`                          |
 * | anything else                   | pending        | the new one                                     |
 *
 * The new one takes over the key of the one there if it has none, since a poll may not know the row, and goes on
 * counting its `tries`. The first sending counts if its outcome is unknown; a child without its parent is sent again so
 * many times after it (ADR 0021).
 */
const WRITE = `
  INSERT INTO waiting AS w (mapping_id, tenant_id, external_id, source_key, reason, batch_id, content_hash, partition_id,
    missing, rejection, expires_at, due_at, read_seq, counted, tries)
  SELECT :mapping, tenant_id, external_id, ARRAY(SELECT jsonb_array_elements_text(source_key)), reason, batch_id,
    content_hash, :partition, missing, rejection, ${plausibleExpiry('expires_at')},
    CASE WHEN batch_id IS NULL THEN now() + due_in * interval '1 second'
      ELSE ${pendingUntil(plausibleExpiry('expires_at'), 'dependency_wait')} END,
    :readSeqEnd, :counted, CAST(reason = 'unknown' AS int)
  FROM jsonb_to_recordset(CAST(:entries AS jsonb)) AS e(tenant_id int, external_id text, source_key jsonb, reason text,
    batch_id bigint, content_hash text, missing jsonb, rejection text, expires_at timestamptz, due_in float8,
    dependency_wait float8)
  -- One order for all, so that checkpoints cannot deadlock here.
  ORDER BY tenant_id, external_id COLLATE "C"
  ON CONFLICT (mapping_id, tenant_id, external_id) DO UPDATE SET
    source_key = CASE WHEN excluded.source_key = '{}' THEN w.source_key ELSE excluded.source_key END,
    reason = excluded.reason, batch_id = excluded.batch_id, content_hash = excluded.content_hash,
    missing = excluded.missing, rejection = excluded.rejection, expires_at = excluded.expires_at, due_at = excluded.due_at,
    read_seq = greatest(w.read_seq, excluded.read_seq),
    changed = excluded.batch_id IS NOT NULL AND (w.changed OR (w.batch_id IS NULL AND w.read_seq >= :readSeqStart)),
    tries = w.tries + CAST(excluded.reason IN ('unknown', 'lacks_parent') AS int)
  WHERE excluded.reason <> 'busy' OR w.batch_id IS NULL`;

/** Pending records stay pending, but their rows are read and sent again once they are free. */
const MARK_CHANGED = `
  UPDATE waiting w SET changed = true, read_seq = greatest(w.read_seq, :readSeqEnd),
    source_key = ARRAY(SELECT jsonb_array_elements_text(e.source_key))
  FROM jsonb_to_recordset(CAST(:entries AS jsonb)) AS e(tenant_id int, external_id text, source_key jsonb)
  WHERE w.mapping_id = :mapping AND w.tenant_id = e.tenant_id AND w.external_id = e.external_id AND w.batch_id IS NOT NULL`;

const entryOf = (record: WaitingRecord) => ({
  tenant_id: record.tenantId,
  external_id: record.externalId,
  source_key: record.sourceKey,
  reason: record.reason,
  // The platform may name anything; no record has a name that cannot be stored.
  missing: record.missing.filter(({ externalId, schemaName }) => isKeepable(externalId) && isKeepable(schemaName)),
  ...(record.kind === 'queued'
    ? { rejection: record.rejection, due_in: record.dueIn }
    : {
        batch_id: record.batchId,
        content_hash: record.contentHash,
        expires_at: timestampOrNull(record.expiresAt),
        dependency_wait: record.dependencyWait,
      }),
});

/** ISO 8601; null if the platform's text is not a time. */
function timestampOrNull(text: string | null): string | null {
  const ms = text === null ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
