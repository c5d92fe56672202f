/** Records without a final outcome yet, and when to look at them again. */
import type { Knex } from 'knex';
import type { SourceKey } from '../domain/source.js';
import type { FollowResult } from '../domain/work.js';
import type { WaitingRecord } from './group-outcome.js';

export interface WaitingRow {
  readonly tenantId: number;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  readonly reason: WaitingRecord['reason'];
  readonly batchId: string | null;
  /** What the batch was sent with, 32 hex digits. */
  readonly contentHash: string | null;
  readonly readStamp: string;
  readonly expired: boolean;
  readonly tries: number;
  readonly missing: WaitingRecord['missing'];
}

export interface Waiting {
  /** Rows held in the given batch. */
  ofBatch(batchId: string): Promise<readonly WaitingRow[]>;
  /** Rows that are to be read and sent again at `asOf`; what is put back by handling them is due later. */
  due(mappingId: number, asOf: string, limit: number): Promise<readonly WaitingRow[]>;
  /** Expired records that are not due yet, by tenant and id, behind `after`. */
  parked(
    mappingId: number,
    asOf: string,
    after: Pick<WaitingRow, 'tenantId' | 'externalId'>,
    limit: number,
  ): Promise<readonly WaitingRow[]>;
  /** Makes rows due at once, by their external ids. */
  wake(mappingId: number, rows: readonly Pick<WaitingRow, 'tenantId' | 'externalId'>[]): Promise<void>;
  /** `tenant id/external id` of those of the records that wait. */
  among(mappingId: number, keys: readonly Pick<WaitingRow, 'tenantId' | 'externalId'>[]): Promise<ReadonlySet<string>>;
  /** Says of records that a batch holds whether their parents may come, or why they will not. */
  name(batchId: string, reason: WaitingRecord['reason'], externalIds: readonly string[]): Promise<void>;
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
  reason: WaitingRecord['reason'];
  batch_id: string | null;
  content_hash: string | null;
  read_stamp: string;
  expired: boolean;
  tries: number;
  missing: WaitingRecord['missing'] | null;
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
      missing: row.missing ?? [],
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
    parked: (mappingId, asOf, after, limit) =>
      find(
        `w.mapping_id = ? AND w.batch_id IS NULL AND w.reason = 'expired' AND w.due_at > CAST(? AS timestamptz)
           AND (w.tenant_id, w.external_id COLLATE "C") > (?, ?) ORDER BY w.tenant_id, w.external_id COLLATE "C" LIMIT ?`,
        [mappingId, asOf, after.tenantId, after.externalId, limit],
      ),
    async wake(mappingId, rows) {
      await knex.raw(
        `UPDATE waiting w SET due_at = now() FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         WHERE w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id AND w.batch_id IS NULL`,
        [rows.map((r) => r.tenantId), rows.map((r) => r.externalId), mappingId],
      );
    },
    async among(mappingId, keys) {
      const { rows } = await knex.raw<{ rows: { tenant_id: number; external_id: string }[] }>(
        `SELECT w.tenant_id, w.external_id FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         JOIN waiting w ON w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`,
        [keys.map((k) => k.tenantId), keys.map((k) => k.externalId), mappingId],
      );
      return new Set(rows.map((row) => `${row.tenant_id}/${row.external_id}`));
    },
    async name(batchId, reason, externalIds) {
      await knex('waiting')
        .where({ batch_id: batchId })
        .whereIn('external_id', [...externalIds])
        .whereNot({ reason })
        .update({ reason });
    },
    async now() {
      const { rows } = await knex.raw<{ rows: { now: string }[] }>('SELECT clock_timestamp()::text AS now');
      return rows[0]!.now;
    },
    async outlook(mappingId, runId) {
      // Not waited for are records that another run left held, which may take a day, and those whose parents
      // will not come as things are.
      const { rows } = await knex.raw<{ rows: FollowResult[] }>(
        `SELECT count(*)::int AS waiting,
                (count(*) FILTER (WHERE batch_id IS NOT NULL AND ranges.run_id = :run AND reason = 'dependency'))::int AS held,
                (count(*) FILTER (WHERE batch_id IS NULL AND due_at < now() + :soon * interval '1 second'))::int AS "dueSoon"
         FROM waiting JOIN ranges ON ranges.id = range_id WHERE waiting.mapping_id = :mapping`,
        { mapping: mappingId, run: runId, soon: SOON },
      );
      return rows[0]!;
    },
  };
}
