/** Writes the waiting entries of records that begin to wait, or go on waiting for another reason. Only checkpoints do so. */
import type { Knex } from 'knex';
import { isStorableId } from '../../domain/records/external-id.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import type { WaitingRecord } from './waiting-record.js';
import { pendingUntil, plausibleExpiry } from './pending-until.js';
import type { Read } from '../read.js';
import { recordKey } from '../record-key.js';

export async function writeWaitingEntries(
  trx: Knex,
  partition: AcquiredPartition,
  read: Read,
  waiting: readonly WaitingRecord[],
): Promise<void> {
  if (waiting.length === 0) return;
  const bindings = {
    mapping: partition.mappingId,
    partition: partition.id,
    readSeqStart: read.readSeqStart,
    readSeqEnd: read.readSeqEnd,
    counted: read.kind === 'counted',
  };
  // An upsert may touch a row only once. Of two entries of one record, as when two rows map to it now, the later counts.
  const entries = [...new Map(waiting.map((w) => [recordKey(w), entryOf(w)])).values()];
  await trx.raw(WRITE, { ...bindings, entries: JSON.stringify(entries) });
  const contended = waiting.filter((record) => record.reason === 'contended');
  if (contended.length > 0) await trx.raw(READ_AGAIN, { ...bindings, entries: JSON.stringify(contended.map(entryOf)) });
}

/**
 * Inserts the entries, and replaces those that the records have already, except pending ones by contended ones: of these
 * {@link READ_AGAIN} takes care. The states that follow are those of index.ts.
 *
 * The new entry takes over the key of the old one if it has none, since a poll may not know the row, and goes on counting
 * its `tries`. The first sending counts if its outcome is unknown; a child without its parent is sent again so many times
 * after it (ADR 0021). If it was not sent, that counts among its `waits`.
 */
const WRITE = `
  INSERT INTO waiting AS w (mapping_id, tenant_id, external_id, source_key, reason, batch_id, content_hash, partition_id,
    missing, rejection, expires_at, due_at, read_seq, counted, tries, waits)
  SELECT :mapping, tenant_id, external_id, ARRAY(SELECT jsonb_array_elements_text(source_key)), reason, batch_id,
    content_hash, :partition, missing, rejection, ${plausibleExpiry('expires_at')},
    CASE WHEN batch_id IS NULL THEN now() + due_in * interval '1 second'
      ELSE ${pendingUntil(plausibleExpiry('expires_at'), 'dependency_wait')} END,
    :readSeqEnd, :counted, CAST(reason = 'unknown' AS int), CAST(is_postponed AS int)
  FROM jsonb_to_recordset(CAST(:entries AS jsonb)) AS e(tenant_id int, external_id text, source_key jsonb, reason text,
    batch_id bigint, content_hash text, missing jsonb, rejection text, expires_at timestamptz, due_in float8,
    dependency_wait float8, is_postponed boolean)
  -- One order for all, so that checkpoints cannot deadlock here.
  ORDER BY tenant_id, external_id COLLATE "C"
  ON CONFLICT (mapping_id, tenant_id, external_id) DO UPDATE SET
    source_key = CASE WHEN excluded.source_key = '{}' THEN w.source_key ELSE excluded.source_key END,
    reason = excluded.reason, batch_id = excluded.batch_id, content_hash = excluded.content_hash,
    missing = excluded.missing, rejection = excluded.rejection, expires_at = excluded.expires_at, due_at = excluded.due_at,
    read_seq = greatest(w.read_seq, excluded.read_seq),
    -- Also if a queued entry is replaced that may be of a newer reading.
    read_again = excluded.batch_id IS NOT NULL AND (w.read_again OR (w.batch_id IS NULL AND w.read_seq > :readSeqStart)),
    tries = w.tries + CAST(excluded.reason IN ('unknown', 'lacks_parent') AND excluded.waits = 0 AS int),
    waits = CASE WHEN excluded.waits > 0 OR excluded.reason = 'contended' THEN w.waits + excluded.waits ELSE 0 END
  WHERE excluded.reason <> 'contended' OR w.batch_id IS NULL`;

/** Contended records that are pending stay so, but their rows are read and sent again afterwards. */
const READ_AGAIN = `
  UPDATE waiting w SET read_again = true, read_seq = greatest(w.read_seq, :readSeqEnd),
    source_key = ARRAY(SELECT jsonb_array_elements_text(e.source_key))
  FROM jsonb_to_recordset(CAST(:entries AS jsonb)) AS e(tenant_id int, external_id text, source_key jsonb)
  WHERE w.mapping_id = :mapping AND w.tenant_id = e.tenant_id AND w.external_id = e.external_id AND w.batch_id IS NOT NULL`;

const entryOf = (record: WaitingRecord) => ({
  tenant_id: record.tenantId,
  external_id: record.externalId,
  source_key: record.sourceKey,
  reason: record.reason,
  is_postponed: record.kind === 'queued' && record.isPostponed === true,
  // The platform may name anything; no record has a name that cannot be stored.
  missing: record.missing.filter(({ externalId, schemaName }) => isStorableId(externalId) && isStorableId(schemaName)),
  ...(record.kind === 'queued'
    ? { rejection: record.rejection, due_in: record.dueIn }
    : {
        batch_id: record.batchId,
        content_hash: record.contentHash,
        expires_at: timestampOrNull(record.expiresAt),
        dependency_wait: record.dependencyWait,
      }),
});

/** ISO 8601; null if the platform's text is not a time of the years 1 to 9999, which is all that PostgreSQL reads in that form. */
function timestampOrNull(text: string | null): string | null {
  const ms = text === null ? NaN : Date.parse(text);
  const iso = Number.isNaN(ms) ? '' : new Date(ms).toISOString();
  return /^(?!0000)\d{4}-/.test(iso) ? iso : null;
}
