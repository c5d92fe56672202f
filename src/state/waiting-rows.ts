/**
 * How waiting records begin and end, inside a checkpoint.
 *
 * Readings may overlap (a backfill beside a scheduled run), so an entry carries the time of its reading: an
 * outcome of an older reading does not end it, or the newer content would be lost.
 */
import type { Knex } from 'knex';
import { isKeepable } from '../domain/external-id.js';
import type { RecordList } from '../domain/record-list.js';
import { EMPTY_BOOKS } from '../domain/run.js';
import { endsOf, type BooksEntry, type GroupOutcome, type RowEnd } from './group-outcome.js';
import type { TakenRange } from './ranges.js';
import type { RecordKeys } from './record-key.js';

interface Entry {
  readonly index: number;
  readonly range_id: string;
  /** Whether the books of a run that is still open count it as waiting. */
  readonly counted: boolean;
  /** Written by a reading that is not surely older than this group's. */
  readonly newer: boolean;
  readonly batch_id: string | null;
  readonly changed: boolean;
}

export interface Ended {
  /** How the books of the runs in which the records were waiting move; a run that is over keeps its books. */
  readonly moved: readonly BooksEntry[];
  /** Ends `waiting` that no entry stands for: what held the record has let it go meanwhile. */
  readonly gone: ReadonlySet<RowEnd>;
}

/** Ends the waiting of records that have an outcome now. `anyWaiting`: whether any of the mapping's does. */
export async function endWaiting(
  trx: Knex,
  range: TakenRange,
  group: GroupOutcome,
  anyWaiting: boolean,
): Promise<Ended> {
  const { reading, ends, waiting } = group;
  const announced = new Set(waiting.map((w) => `${w.tenantId}/${w.externalId}`));
  const isAnnounced = (e: RowEnd): boolean => announced.has(`${e.tenantId}/${e.externalId ?? ''}`);
  const gone = new Set(ends.filter((e) => e.column === 'waiting' && !isAnnounced(e)));
  if (!anyWaiting) return { moved: [], gone };

  const named = endsOf(group).filter((e) => e.externalId !== null);
  const { rows } = await trx.raw<{ rows: Entry[] }>(
    `SELECT i.ord::int - 1 AS index, w.range_id, w.batch_id, w.changed, w.read_stamp >= ? AS newer,
       w.booked AND runs.ended_at IS NULL AS counted
     FROM unnest(CAST(? AS int[]), CAST(? AS text[])) WITH ORDINALITY AS i(tenant_id, external_id, ord)
     JOIN waiting w ON w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
     JOIN ranges ON ranges.id = w.range_id JOIN runs ON runs.id = ranges.run_id
     FOR UPDATE OF w`,
    [reading.before, named.map((e) => e.tenantId), named.map((e) => e.externalId!), range.mappingId],
  );
  const moved: BooksEntry[] = [];
  const over: RowEnd[] = [];
  const again: RowEnd[] = [];
  const recounted: RowEnd[] = [];
  const unbooked: RowEnd[] = [];
  for (const entry of rows) {
    const end = named[entry.index]!;
    gone.delete(end);
    const fate = fateOf(entry, end, group);
    if (fate === 'stays') continue;
    if (fate === 'changed') {
      again.push(end);
      continue;
    }
    const column = reading.kind === 'first' ? 'unchanged' : end.column;
    if (entry.counted && column !== 'waiting')
      moved.push({ ...EMPTY_BOOKS, rangeId: entry.range_id, tenantId: end.tenantId, waiting: -1, [column]: 1 });
    if (fate === 'recounted') recounted.push(end);
    // The platform holds the record still, and others must see that it does.
    else if (entry.batch_id !== null && reading.kind !== 'held') unbooked.push(end);
    else over.push(end);
  }
  const each = async (set: string, concerned: readonly RowEnd[], bindings: readonly string[] = []): Promise<void> => {
    if (concerned.length === 0) return;
    await trx.raw(
      `${set} unnest(CAST(? AS int[]), CAST(? AS text[])) AS i(tenant_id, external_id)
       WHERE w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`,
      [...bindings, concerned.map((e) => e.tenantId), concerned.map((e) => e.externalId!), range.mappingId],
    );
  };
  await each('DELETE FROM waiting w USING', over);
  await each(`UPDATE waiting w SET batch_id = NULL, reason = 'unclear', changed = false, due_at = now() FROM`, again);
  await each('UPDATE waiting w SET range_id = ?, booked = true FROM', recounted, [range.id]);
  await each('UPDATE waiting w SET booked = false FROM', unbooked);
  return { moved, gone };
}

/**
 * - `over`: the entry is deleted; `changed`: accepted, but the row changed since: it is read and sent again;
 * - `recounted`: still waiting, from now on in the books of this reading; `stays`: as it is.
 */
function fateOf(entry: Entry, end: RowEnd, { reading }: GroupOutcome): 'over' | 'changed' | 'recounted' | 'stays' {
  if (end.column === 'waiting') return reading.kind === 'first' ? 'recounted' : 'stays';
  if (reading.kind === 'held') {
    if (entry.batch_id !== reading.batchId) return 'stays';
    return entry.changed ? 'changed' : 'over';
  }
  return entry.newer ? 'stays' : 'over';
}

/** No platform holds a record for longer (section 8: 24 hours), whatever date it names. */
const LONGEST_HOLD = '25 hours';
/** How far the platform's clock and the ledger's may be apart. */
const CLOCKS_APART = '1 minute';

/**
 * When a held record must have been let go: where the platform goes on listing it after that, it is not waited for any more.
 * `expiresAt` is the platform's own word, `holdFor` the seconds that it was asked to wait: by its word it may hold the record for
 * longer. If it says less, its clock or its spelling of times is another one; what it has let go it does not list.
 */
export const heldUntil = (expiresAt: string, holdFor: string): string =>
  `least(greatest(${expiresAt}, now() + ${holdFor} * interval '1 second'), now() + interval '${LONGEST_HOLD}')
     + interval '${CLOCKS_APART}'`;

/** The platform's word, where it can be one: no date of another age, such as those that mean "never". */
const plausible = (expiresAt: string): string =>
  `CASE WHEN ${expiresAt} BETWEEN now() - interval '1 day' AND now() + interval '2 days' THEN ${expiresAt} END`;

/** Writes the entries of records that wait from now on, or go on waiting for another reason. */
export async function writeWaiting(trx: Knex, range: TakenRange, { waiting, reading }: GroupOutcome): Promise<void> {
  if (waiting.length === 0) return;
  await trx.raw(
    `INSERT INTO waiting AS w (mapping_id, tenant_id, external_id, source_key, reason, batch_id, content_hash, range_id,
       missing, refusal, expires_at, due_at, read_stamp, booked)
     SELECT :mapping, tenant_id, external_id, ARRAY(SELECT jsonb_array_elements_text(source_key)), reason, batch_id,
       content_hash, :range, missing, refusal, ${plausible('expires_at')},
       CASE WHEN batch_id IS NULL THEN now() + due_in * interval '1 second' ELSE ${heldUntil(plausible('expires_at'), 'due_in')} END,
       :after, :first
     FROM jsonb_to_recordset(CAST(:entries AS jsonb)) AS e(tenant_id int, external_id text, source_key jsonb, reason text,
       batch_id bigint, content_hash text, missing jsonb, refusal text, expires_at timestamptz, due_in float8)
     ORDER BY tenant_id, external_id COLLATE "C"
     ON CONFLICT (mapping_id, tenant_id, external_id) DO UPDATE SET
       source_key = CASE WHEN excluded.source_key = '{}' THEN w.source_key ELSE excluded.source_key END,
       -- A record that the platform holds stays held; what was read meanwhile is sent once it is free.
       reason = CASE WHEN excluded.reason = 'busy' AND w.batch_id IS NOT NULL THEN w.reason ELSE excluded.reason END,
       batch_id = CASE WHEN excluded.reason = 'busy' THEN w.batch_id ELSE excluded.batch_id END,
       content_hash = CASE WHEN excluded.reason = 'busy' THEN w.content_hash ELSE excluded.content_hash END,
       changed = CASE
         WHEN excluded.reason = 'busy' THEN w.batch_id IS NOT NULL
         WHEN excluded.batch_id IS NOT NULL THEN w.changed OR (w.batch_id IS NULL AND w.read_stamp >= :before)
         ELSE false END,
       missing = excluded.missing, refusal = excluded.refusal,
       -- What is noted of a record that stays held says nothing of how long it is held.
       expires_at = CASE WHEN excluded.reason = 'busy' AND w.batch_id IS NOT NULL THEN w.expires_at ELSE excluded.expires_at END,
       due_at = CASE WHEN excluded.reason = 'busy' AND w.batch_id IS NOT NULL THEN w.due_at ELSE excluded.due_at END,
       read_stamp = greatest(w.read_stamp, excluded.read_stamp),
       tries = w.tries + CAST(excluded.reason IN ('unclear', 'expired') AS int)`,
    {
      mapping: range.mappingId,
      range: range.id,
      after: reading.after,
      before: reading.before,
      first: reading.kind === 'first',
      entries: JSON.stringify(
        waiting.map((w) => ({
          tenant_id: w.tenantId,
          external_id: w.externalId,
          source_key: w.sourceKey,
          reason: w.reason,
          batch_id: w.batchId,
          content_hash: w.contentHash,
          // As the platform names them: of what cannot be kept, no mapping has a record.
          missing: w.missing.filter(({ externalId, schemaName }) => isKeepable(externalId) && isKeepable(schemaName)),
          refusal: w.refusal,
          expires_at: timestampOrNull(w.expiresAt),
          due_in: w.dueIn,
        })),
      ),
    },
  );
}

/** A new reading of records of which some may be held. */
export interface Reread {
  /** Stamp drawn after it. */
  readonly after: string;
  readonly records: RecordList;
}

/**
 * Indexes of the records that the platform holds for a dependency. A row that changed while its record is held is
 * read and sent again once the record is free.
 */
export async function noteHeldAgain(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  { after, records }: Reread,
): Promise<number[]> {
  const { rows } = await trx.raw<{ rows: { index: number }[] }>(
    `UPDATE waiting w SET changed = w.changed OR w.content_hash IS DISTINCT FROM i.hash,
            read_stamp = greatest(w.read_stamp, :after),
            source_key = ARRAY(SELECT jsonb_array_elements_text(i.key::jsonb))
     FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:hashes AS text[]), CAST(:keys AS text[]))
       WITH ORDINALITY AS i(tenant_id, external_id, hash, key, ord)
     WHERE w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
       AND w.batch_id IS NOT NULL
     RETURNING i.ord::int - 1 AS index`,
    {
      mapping: mappingId,
      after,
      tenants: [...keys.tenantIds],
      ids: [...keys.externalIds],
      hashes: records.map((r) => r.contentHash),
      keys: records.map((r) => JSON.stringify(r.sourceKey)),
    },
  );
  return rows.map((row) => row.index);
}

/** The platform's word for a time, if it is one. */
const timestampOrNull = (text: string | null): string | null => {
  const ms = text === null ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};
