/** Records without a final outcome yet, and when to look at them again. */
import type { Knex } from 'knex';
import type { SourceKey } from '../domain/source.js';
import type { FollowResult } from '../domain/work.js';

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
  outlook(mappingId: number): Promise<FollowResult>;
}

/** Seconds: a run waits for records that are due within this time; later ones are for a later run. */
const SOON = 30;

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
      const { rows } = await knex.raw<{ rows: FollowResult[] }>(
        `SELECT count(batch_id)::int AS held,
                (count(*) FILTER (WHERE batch_id IS NULL AND due_at < now() + ? * interval '1 second'))::int AS "dueSoon"
         FROM waiting WHERE mapping_id = ?`,
        [SOON, mappingId],
      );
      return rows[0]!;
    },
  };
}
