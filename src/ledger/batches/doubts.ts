/**
 * Doubts: what was sent without a response, and may still be applied. Until the platform must be done with it, claims let only the
 * same content pass, since it makes no difference which of two equal copies is applied last (ADR 0043).
 */
import type { Knex } from 'knex';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import { hashAt, prepared } from '../database/statements.js';
import { idHex, rangeOf, type RecordKeys } from '../record-key.js';
import { outermostKeys, INTERSECTS_KEYS } from './range-of-batch.js';
import type { AcquiredPartition } from '../runs/partitions.js';

/** What was sent of some records of one tenant. */
export interface SentContent {
  readonly tenantId: number;
  readonly externalIds: readonly string[];
  /** 32 hex digits each, in the order of the ids. */
  readonly contentHashes: readonly string[];
}

/**
 * Notes that the platform may still apply what was sent, and removes the mapping's doubts that are over.
 *
 * @param seconds from now on
 */
export async function noteDoubt(
  trx: Knex,
  { runId, mappingId }: Pick<AcquiredPartition, 'runId' | 'mappingId'>,
  { tenantId, externalIds, contentHashes }: SentContent,
  seconds: number,
): Promise<void> {
  const range = rangeOf(externalIds);
  await trx.raw(
    `WITH over AS (DELETE FROM doubts WHERE mapping_id = :mappingId AND until < clock_timestamp())
     INSERT INTO doubts (run_id, mapping_id, tenant_id, external_ids, content_hashes, low, high, until)
     VALUES (:runId, :mappingId, :tenantId, :ids, :hashes, decode(:low, 'hex'), decode(:high, 'hex'),
       clock_timestamp() + :seconds * interval '1 second')`,
    {
      runId,
      mappingId,
      tenantId,
      ids: JSON.stringify(externalIds),
      hashes: Buffer.from(contentHashes.join(''), 'hex'),
      low: idHex(range.first),
      high: idHex(range.last),
      seconds,
    },
  );
}

/** Which of the keys, by their index, are those of records that were sent with other content than this. */
export async function keysInDoubt(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  contentHashes: readonly string[],
): Promise<readonly number[]> {
  const { tenantIds, externalIds } = keys;
  const { rows } = await prepared<{ tenantId: number; ids: readonly string[]; hashes: Buffer }>(
    trx,
    'doubts',
    `SELECT tenant_id AS "tenantId", external_ids AS ids, content_hashes AS hashes FROM doubts
     WHERE mapping_id = :mapping AND until > clock_timestamp() AND ${INTERSECTS_KEYS}`,
    { mapping: mappingId, ...outermostKeys(keys) },
  );
  const sent = new Map<number, Map<string, string>>();
  for (const { tenantId, ids, hashes } of rows) {
    const ofTenant = getOrInsert(sent, tenantId, () => new Map<string, string>());
    ids.forEach((id, i) => ofTenant.set(id, hashAt(hashes, i)));
  }
  return externalIds.flatMap((id, i) => {
    const hash = sent.get(tenantIds[i]!)?.get(id);
    return hash === undefined || hash === contentHashes[i] ? [] : [i];
  });
}
