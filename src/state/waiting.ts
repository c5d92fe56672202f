/** Records without a final outcome yet, and when to look at them again. */
import type { Knex } from 'knex';
import type { SourceKey } from '../domain/source.js';

export interface WaitingRow {
  readonly tenantId: number;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  readonly reason: string;
  readonly batchId: string | null;
  readonly changed: boolean;
  readonly expired: boolean;
  readonly tries: number;
}

export interface Waiting {
  /** Rows held in the given batch. */
  ofBatch(batchId: string): Promise<readonly WaitingRow[]>;
  /** Rows that are to be read and sent again by now. */
  due(mappingId: number, limit: number): Promise<readonly WaitingRow[]>;
  /** Updates what the platform says it is missing, and until when it holds the record. */
  note(batchId: string, externalId: string, missing: readonly object[], expiresAt: string): Promise<void>;
  /** How many records of the mapping wait, and seconds until the next is due (0 when some is held or due now). */
  outlook(
    mappingId: number,
  ): Promise<{ readonly waiting: number; readonly held: number; readonly nextDueIn: number | null }>;
}

interface Row {
  tenant_id: number;
  external_id: string;
  source_key: string[];
  reason: string;
  batch_id: string | null;
  changed: boolean;
  expired: boolean;
  tries: number;
}

export function openWaiting(knex: Knex): Waiting {
  const find = async (condition: string, bindings: (string | number)[]): Promise<WaitingRow[]> => {
    const { rows } = await knex.raw<{ rows: Row[] }>(
      `SELECT w.*, coalesce(w.expires_at <= now(), false) AS expired FROM waiting w WHERE ${condition}`,
      bindings,
    );
    return rows.map((row) => ({
      tenantId: row.tenant_id,
      externalId: row.external_id,
      sourceKey: row.source_key,
      reason: row.reason,
      batchId: row.batch_id,
      changed: row.changed,
      expired: row.expired,
      tries: row.tries,
    }));
  };
  return {
    ofBatch: (batchId) => find('w.batch_id = ?', [batchId]),
    due: (mappingId, limit) =>
      find('w.mapping_id = ? AND w.batch_id IS NULL AND w.due_at <= now() ORDER BY w.due_at LIMIT ?', [
        mappingId,
        limit,
      ]),
    async note(batchId, externalId, missing, expiresAt) {
      await knex('waiting')
        .where({ batch_id: batchId, external_id: externalId })
        .update({ missing: JSON.stringify(missing), expires_at: expiresAt });
    },
    async outlook(mappingId) {
      const { rows } = await knex.raw<{ rows: { waiting: number; held: number; next: number | null }[] }>(
        `SELECT count(*)::int AS waiting, count(batch_id)::int AS held,
                greatest(0, extract(epoch FROM min(due_at) FILTER (WHERE batch_id IS NULL) - now()))::float8 AS next
         FROM waiting WHERE mapping_id = ?`,
        [mappingId],
      );
      const row = rows[0]!;
      return { waiting: row.waiting, held: row.held, nextDueIn: row.next };
    },
  };
}
