/** Checkpoints write dead letters, and close those whose rows have been delivered since. */
import type { Knex } from 'knex';
import { isStorableId } from '../../domain/records/external-id.js';
import { foreignText } from '../../domain/values/foreign-text.js';
import type { ParentName } from '../../domain/records/parent.js';
import { deadLettersOf, type ChunkResult } from './checkpoint-input.js';
import type { ReadSeqs } from '../read.js';
import { isOfRecords, rowOutcomesOf, type DeadLetter, type RowOutcomes } from '../outcomes/row-outcomes.js';
import { prepared } from '../database/statements.js';
import { keyHash } from '../key-hash.js';
import type { AcquiredPartition } from '../runs/partitions.js';

/**
 * Deletes the dead letters of rows whose records are on the platform now, and of rows that now map to another record, if
 * that one waits. Dead letters of later readings stay.
 */
export async function closeDeadLetters(
  trx: Knex,
  mappingId: number,
  { readSeqStart }: ReadSeqs,
  { rowOutcomes, bulkOutcomes }: RowOutcomes,
): Promise<void> {
  const rows = rowOutcomesOf({ rowOutcomes, bulkOutcomes: bulkOutcomes.filter(isOfRecords) }).filter(
    ({ outcome }) => outcome !== 'deadLettered',
  );
  if (rows.length === 0) return;
  await trx.raw(
    // Locked in the order of their ids, which mostly is that of their rows: dead letters that are written again are locked
    // in that order too, so that two checkpoints rarely deadlock.
    `WITH closed AS (
       SELECT d.id FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(key jsonb, waiting_tenant int, waiting_id text)
       JOIN dead_letters d ON d.mapping_id = :mapping AND d.key_hash = ${keyHash('r.key')}
       WHERE d.read_seq <= :readSeqStart AND (d.tenant_id, d.external_id) IS DISTINCT FROM (r.waiting_tenant, r.waiting_id)
       ORDER BY d.id FOR UPDATE OF d)
     DELETE FROM dead_letters WHERE id IN (SELECT id FROM closed)`,
    {
      mapping: mappingId,
      readSeqStart,
      rows: JSON.stringify(
        rows.map(({ sourceKey, tenantId, externalId, outcome }) => ({
          key: sourceKey,
          ...(outcome === 'waiting' && { waiting_tenant: tenantId, waiting_id: externalId }),
        })),
      ),
    },
  );
}

/** Most characters that a dead letter keeps of a text. */
const LONGEST_REASON = 500;

/** Most dead letters in one statement: each is in memory several times until it is written. */
const AT_ONCE = 2000;

export async function writeDeadLetters(
  trx: Knex,
  partition: AcquiredPartition,
  { readSeqEnd }: ReadSeqs,
  result: ChunkResult,
): Promise<void> {
  let deadLetters: DeadLetter[] = [];
  for (const deadLetter of deadLettersOf(result)) {
    if (deadLetters.push(deadLetter) < AT_ONCE) continue;
    await upsertDeadLetters(trx, partition, readSeqEnd, deadLetters);
    deadLetters = [];
  }
  await upsertDeadLetters(trx, partition, readSeqEnd, deadLetters);
}

async function upsertDeadLetters(
  trx: Knex,
  partition: AcquiredPartition,
  readSeq: string,
  chosen: readonly DeadLetter[],
): Promise<void> {
  // An upsert may touch a row only once. Of two dead letters of one row the later one counts.
  const deadLetters = [...new Map(chosen.map((d) => [JSON.stringify(d.sourceKey), d])).values()];
  if (deadLetters.length === 0) return;
  const column = (name: 'tenantId' | 'code') => deadLetters.map((d) => d[name]);
  // An id that PostgreSQL cannot store may be the very reason of the dead letter.
  const ids = deadLetters.map(({ externalId: id }) => (id !== null && isStorableId(id) ? id : null));
  const text = (name: 'pointer' | 'rule' | 'reason' | 'shape') => deadLetters.map((d) => storable(d[name]));
  // An array of arrays cannot be unnested row by row, so each part of the key is a column. All keys of a checkpoint have
  // the same number of parts: those of removals have more than those of rows, but removals are delivered by themselves.
  const key = deadLetters[0]!.sourceKey.map((_, i) => deadLetters.map((d) => d.sourceKey[i] ?? null));
  const values = key.map((_, i) => `k${i}`);
  await prepared(
    trx,
    `write_dead_letters_${key.length}`,
    `INSERT INTO dead_letters AS d (mapping_id, tenant_id, source_key, key_hash, external_id, mapping_version, code, pointer,
       rule, reason, shape, missing, run_id, read_seq)
     SELECT ?, tenant_id, source_key, ${keyHash('to_jsonb(source_key)')}, external_id, ?, code, pointer, rule, reason, shape,
       CAST(missing AS jsonb), ?, ?
     FROM (SELECT *, CAST(ARRAY[${values.join(', ')}] AS text[]) AS source_key
       FROM unnest(?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[]${', ?::text[]'.repeat(key.length)})
         AS u(${['tenant_id', 'external_id', 'code', 'pointer', 'rule', 'reason', 'shape', 'missing', ...values].join(', ')})) AS l
     ON CONFLICT (mapping_id, key_hash) DO UPDATE SET
       tenant_id = excluded.tenant_id, external_id = excluded.external_id, mapping_version = excluded.mapping_version,
       code = excluded.code, pointer = excluded.pointer, rule = excluded.rule, reason = excluded.reason,
       shape = excluded.shape, missing = excluded.missing, run_id = excluded.run_id, read_seq = excluded.read_seq,
       times = d.times + 1, last_seen = now()
     WHERE d.read_seq <= excluded.read_seq`,
    [
      partition.mappingId,
      partition.mappingVersion,
      partition.runId,
      readSeq,
      column('tenantId'),
      ids,
      column('code'),
      text('pointer'),
      text('rule'),
      text('reason'),
      text('shape'),
      deadLetters.map((d) => parentsAsJson(d.missing)),
      ...key,
    ] as Knex.RawBinding[],
  );
}

/** The parents as JSON; null if there are none. One whose id cannot be stored is left out: no record can have it. */
function parentsAsJson(missing: readonly ParentName[] = []): string | null {
  const kept = missing.filter(({ schemaName, externalId }) => isStorableId(schemaName) && isStorableId(externalId));
  return kept.length > 0 ? JSON.stringify(kept) : null;
}

/** The text without what PostgreSQL refuses: a dead letter that cannot be stored would stop its chunk for ever. */
const storable = (text: string): string => foreignText(text, LONGEST_REASON);
