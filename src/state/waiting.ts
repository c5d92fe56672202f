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
  /** What the batch was sent with, 32 hex digits. */
  readonly contentHash: string | null;
  readonly readStamp: string;
  readonly expired: boolean;
  readonly tries: number;
}

export interface Waiting {
  /** Rows held in the given batch. */
  ofBatch(batchId: string): Promise<readonly WaitingRow[]>;
  /** Rows that are to be read and sent again at `asOf`; what is put back by handling them is due later. */
  due(mappingId: number, asOf: string, limit: number): Promise<readonly WaitingRow[]>;
  /** The database's clock, for {@link due}. */
  now(): Promise<string>;
  /** What of the mapping's waiting records concerns this run. */
  outlook(mappingId: number, runId: string): Promise<FollowResult>;
}

/** Seconds: a run waits for records that are due within this time; later ones are for a later run. */
const SOON = 30;

interface Row {
  tenant_id: number;
  external_id: string;
  source_key: string[];
  reason: string;
  batch_id: string | null;
  content_hash: string | null;
  read_stamp: string;
  expired: boolean;
  tries: number;
}

export function openWaiting(knex: Knex): Waiting {
  const find = async (condition: string, bindings: (string | number)[]): Promise<WaitingRow[]> => {
    const { rows } = await knex.raw<{ rows: Row[] }>(
      `SELECT w.*, coalesce(w.expires_at, w.since + interval '25 hours') <= now() AS expired FROM waiting w WHERE ${condition}`,
      bindings,
    );
    return rows.map((row) => ({
      tenantId: row.tenant_id,
      externalId: row.external_id,
      sourceKey: row.source_key,
      reason: row.reason,
      batchId: row.batch_id,
      contentHash: row.content_hash,
      readStamp: row.read_stamp,
      expired: row.expired,
      tries: row.tries,
    }));
  };
  return {
    ofBatch: (batchId) => find('w.batch_id = ?', [batchId]),
    due: (mappingId, asOf, limit) =>
      find('w.mapping_id = ? AND w.batch_id IS NULL AND w.due_at <= CAST(? AS timestamptz) ORDER BY w.due_at LIMIT ?', [
        mappingId,
        asOf,
        limit,
      ]),
    async now() {
      const { rows } = await knex.raw<{ rows: { now: string }[] }>('SELECT clock_timestamp()::text AS now');
      return rows[0]!.now;
    },
    async outlook(mappingId, runId) {
      // Records that another run left held are looked at, but not waited for: they may take a day.
      const { rows } = await knex.raw<{ rows: FollowResult[] }>(
        `SELECT count(*)::int AS waiting,
                (count(*) FILTER (WHERE batch_id IS NOT NULL AND ranges.run_id = :run))::int AS held,
                (count(*) FILTER (WHERE batch_id IS NULL AND due_at < now() + :soon * interval '1 second'))::int AS "dueSoon"
         FROM waiting JOIN ranges ON ranges.id = range_id WHERE waiting.mapping_id = :mapping`,
        { mapping: mappingId, run: runId, soon: SOON },
      );
      return rows[0]!;
    },
  };
}
