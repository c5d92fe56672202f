/** Changed rows: the keys that a change feed has named, each until its row is delivered, or its record removed. */
import type { Knex } from 'knex';
import type { SourceKey } from '../../domain/source/source.js';
import { keyHash } from '../key-hash.js';
import { prepared } from '../database/statements.js';

export interface ChangedRow {
  /** Grows each time that the row is named. */
  readonly seq: string;
  readonly key: SourceKey;
}

export interface ChangedRowBounds {
  readonly after: string;
  readonly through: string;
  readonly limit: number;
  /** Whether rows are left out whose records a removal plan of the run has. */
  readonly withoutPlanned?: boolean;
}

/** What becomes of changed rows that have their outcomes, each by its `seq`. */
export interface SettledChangedRows {
  /** They are done, and are taken off the list. */
  readonly seqs: readonly string[];
  /** Those without a row, done or not. */
  readonly gone: readonly string[];
  /** Those that stay on the list until a removal plan is carried out. */
  readonly planned: RowsOfPlan | null;
  /** Those that stay on the list since other runs may have read them as they were before. */
  readonly leftToRuns: RowsLeftToRuns | null;
}

/** Changed rows whose records a removal plan has. */
export interface RowsOfPlan {
  readonly planId: string;
  readonly seqs: readonly string[];
}

/** Rows that are looked at once more when the runs up to `through` that read the mapping now have read it, or ended. */
export interface RowsLeftToRuns {
  readonly through: string;
  readonly seqs: readonly string[];
}

/** For WHERE: rows that are still to be delivered. The others were, and are only looked at once more. */
export const TO_DELIVER = 'after_run IS NULL';

export interface ChangedRows {
  /** The newest one's `seq`, and how many rows there are up to it. */
  newest(mappingId: number): Promise<{ readonly seq: string; readonly rows: number }>;
  /** The `seq` of the newest row of each of these mappings that has any. */
  newestOf(mappingIds: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /**
   * Up to `limit` rows, in the order in which they were named last: after `after`, up to `through`; `'0'` begins. Without those
   * that are left to other runs than `runId`.
   */
  page(mappingId: number, runId: string, bounds: ChangedRowBounds): Promise<readonly ChangedRow[]>;
  /**
   * The newest of the other runs that read the mapping now; null if there are none. They may have read rows before these
   * changed, and not have claimed their records yet.
   */
  newestReader(mappingId: number, runId: string): Promise<string | null>;
  /** The rows whose records the removal plan has stay on the list when it is carried out: some of these may have a row. */
  keepRowsOfPlan(mappingId: number, planId: string): Promise<void>;
}

export function openChangedRows(knex: Knex): ChangedRows {
  return {
    async newest(mappingId) {
      const { rows } = await knex.raw<{ rows: { seq: string; rows: number }[] }>(
        `SELECT coalesce(max(seq), 0)::text AS seq, count(*)::float8 AS rows FROM changed_rows WHERE mapping_id = ?`,
        [mappingId],
      );
      return rows[0]!;
    },
    async newestOf(mappingIds) {
      const { rows } = await prepared<{ id: number; seq: string }>(
        knex,
        'newest_changed_rows',
        `SELECT m.id, c.seq::text FROM unnest(CAST(? AS int[])) AS m(id) CROSS JOIN LATERAL (
           SELECT seq FROM changed_rows WHERE mapping_id = m.id ORDER BY changed_rows.seq DESC LIMIT 1) c`,
        [[...mappingIds]],
      );
      return new Map(rows.map(({ id, seq }) => [id, seq]));
    },
    async page(mappingId, runId, { after, through, limit, withoutPlanned = false }) {
      const { rows } = await prepared<ChangedRow>(
        knex,
        'changed_rows',
        `SELECT seq::text, key FROM changed_rows
         WHERE mapping_id = :mappingId AND seq > CAST(:after AS bigint) AND seq <= CAST(:through AS bigint)
           AND (after_run < (SELECT min(o.id) FROM (${OTHER_READERS}) o)) IS NOT FALSE
           AND NOT (:withoutPlanned AND plan_id IN (SELECT id FROM removal_plans WHERE run_id = :runId
             AND state NOT IN ('done', 'replaced')) IS TRUE)
         ORDER BY changed_rows.seq LIMIT :limit`,
        { mappingId, runId, after, through, limit, withoutPlanned },
      );
      return rows;
    },
    async newestReader(mappingId, runId) {
      const { rows } = await knex.raw<{ rows: { id: string | null }[] }>(
        `SELECT max(o.id) AS id FROM (${OTHER_READERS}) o`,
        { mappingId, runId },
      );
      return rows[0]!.id;
    },
    async keepRowsOfPlan(mappingId, planId) {
      await knex('changed_rows').where({ mapping_id: mappingId, plan_id: planId }).update({ plan_id: null });
    },
  };
}

/**
 * The other runs that have begun to read a partition of the mapping, and are not done with it; one of rows that are read by their
 * keys is done when its run is. What they begin to read later is read without the rows that are gone now. Bindings: `mappingId`,
 * `runId`.
 */
const OTHER_READERS = `SELECT r.id FROM runs r WHERE r.ended_at IS NULL AND r.id <> :runId
  AND EXISTS (SELECT FROM partitions p WHERE p.run_id = r.id AND p.mapping_id = :mappingId AND p.fencing_token > 0
    AND (NOT p.done OR p.kind = 'by_key'))`;

/** In a transaction of their feed. A row that was named before goes to the end of the order. */
export async function noteRows(trx: Knex, mappingId: number, keys: readonly SourceKey[]): Promise<void> {
  // An upsert may touch a row only once.
  const distinct = [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
  const parts = distinct[0]?.map((_, i) => `k${i}`) ?? [];
  if (parts.length === 0) return;
  // An array of arrays cannot be unnested row by row, so each part of the key is a column.
  await prepared(
    trx,
    `note_changed_rows_${parts.length}`,
    `INSERT INTO changed_rows AS c (mapping_id, key_hash, key)
     SELECT ?, ${keyHash('to_jsonb(key)')}, key
     FROM (SELECT CAST(ARRAY[${parts.join(', ')}] AS text[]) AS key
       FROM unnest(${parts.map(() => '?::text[]').join(', ')}) AS u(${parts.join(', ')})) AS k
     ON CONFLICT (mapping_id, key_hash) DO UPDATE SET seq = nextval('changed_rows_seq'), recorded_at = now(), plan_id = NULL,
       after_run = NULL`,
    [mappingId, ...parts.map((_, i) => distinct.map((key) => key[i]!))] as Knex.RawBinding[],
  );
}

/**
 * In the transaction of a checkpoint: the rows have their outcomes. Those that are `gone` have no dead letter any more, even if
 * they stay on the list until their records are removed. One that was named again meanwhile has another `seq`.
 *
 * A plan that is carried out takes its rows off the list, so it gets them no sooner than here.
 *
 * @param readSeqStart the number drawn before the rows were looked for: dead letters of later readings stay
 */
export async function settleChangedRows(
  trx: Knex,
  mappingId: number,
  { seqs, gone, planned, leftToRuns }: SettledChangedRows,
  readSeqStart: string,
): Promise<void> {
  if (gone.length > 0)
    await trx.raw(
      `DELETE FROM dead_letters d USING changed_rows c
       WHERE c.mapping_id = :mappingId AND c.seq = ANY (CAST(:gone AS bigint[]))
         AND d.mapping_id = c.mapping_id AND d.key_hash = c.key_hash AND d.read_seq <= :readSeqStart`,
      { mappingId, gone: [...gone], readSeqStart },
    );
  await prepared(
    trx,
    'settle_changed_rows',
    `DELETE FROM changed_rows WHERE mapping_id = ? AND seq = ANY (CAST(? AS bigint[]))`,
    [mappingId, [...seqs]],
  );
  const mark = (column: 'plan_id' | 'after_run', value: string, those: readonly string[]) =>
    trx.raw(`UPDATE changed_rows SET ?? = ? WHERE mapping_id = ? AND seq = ANY (CAST(? AS bigint[]))`, [
      column,
      value,
      mappingId,
      [...those],
    ]);
  if (planned !== null) await mark('plan_id', planned.planId, planned.seqs);
  if (leftToRuns !== null) await mark('after_run', leftToRuns.through, leftToRuns.seqs);
}

/** The removals of the plan were carried out, and with them these rows. */
export async function settleRowsOfPlan(trx: Knex, mappingId: number, planId: string): Promise<void> {
  await trx('changed_rows').where({ mapping_id: mappingId, plan_id: planId }).delete();
}
