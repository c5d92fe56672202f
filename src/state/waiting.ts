/** Records without a final outcome yet, and when to look at them again. */
import type { Knex } from 'knex';
import type { SourceKey } from '../domain/source.js';
import type { MappingOutlook } from '../domain/work.js';
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
  /** Of a held record: whether the platform must have let it go by now. */
  readonly expired: boolean;
  readonly tries: number;
  readonly missing: WaitingRecord['missing'];
  readonly refusal: string | null;
}

/** What is known of a record that waits, for those that refer to it. */
export type WaitingParent = Pick<WaitingRow, 'reason' | 'missing'>;

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
  /** Those of the records that wait, by `tenant id/external id`. */
  among(
    mappingId: number,
    keys: readonly Pick<WaitingRow, 'tenantId' | 'externalId'>[],
  ): Promise<ReadonlyMap<string, WaitingParent>>;
  /** Whether any record of the mapping waits. */
  any(mappingId: number): Promise<boolean>;
  /** Says of records that a batch holds whether their parents may come, or why they will not. */
  name(batchId: string, reason: WaitingRecord['reason'], externalIds: readonly string[]): Promise<void>;
  /** The database's clock, for {@link due}. */
  now(): Promise<string>;
  /** What of the mapping's waiting records concerns this run. */
  outlook(mappingId: number, runId: string): Promise<MappingOutlook>;
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
  refusal: string | null;
}

export function openWaiting(knex: Knex): Waiting {
  const find = async (condition: string, bindings: (string | number)[]): Promise<WaitingRow[]> => {
    const { rows } = await knex.raw<{ rows: Row[] }>(
      `SELECT w.*, w.batch_id IS NOT NULL AND w.due_at <= now() AS expired FROM waiting w WHERE ${condition}`,
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
      refusal: row.refusal,
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
      const { rows } = await knex.raw<{ rows: Pick<Row, 'tenant_id' | 'external_id' | 'reason' | 'missing'>[] }>(
        `SELECT w.tenant_id, w.external_id, w.reason, w.missing FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         JOIN waiting w ON w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`,
        [keys.map((k) => k.tenantId), keys.map((k) => k.externalId), mappingId],
      );
      return new Map(
        rows.map(({ reason, missing, ...row }) => [
          `${row.tenant_id}/${row.external_id}`,
          { reason, missing: missing ?? [] },
        ]),
      );
    },
    any: async (mappingId) =>
      (await knex('waiting').where({ mapping_id: mappingId }).first('external_id')) !== undefined,
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
      const { rows } = await knex.raw<{ rows: MappingOutlook[] }>(
        `WITH w AS (
           SELECT *, batch_id IS NOT NULL AND reason = 'dependency'
             AND EXISTS (SELECT FROM ranges WHERE ranges.id = range_id AND ranges.run_id = :run) AS held,
             batch_id IS NULL AND due_at < now() + :soon * interval '1 second' AS due_soon
           FROM waiting WHERE mapping_id = :mapping)
         SELECT count(*)::int AS waiting, (count(*) FILTER (WHERE held))::int AS held,
           (count(*) FILTER (WHERE due_soon))::int AS "dueSoon",
           coalesce(ceil(extract(epoch FROM max(coalesce(expires_at, due_at)) FILTER (WHERE held) - now())), 0)::float8 AS "heldFor",
           ARRAY(SELECT DISTINCT m->>'schemaName' FROM w, jsonb_array_elements(w.missing) AS m WHERE held
             ORDER BY 1 LIMIT 5) AS parents
         FROM w`,
        { mapping: mappingId, run: runId, soon: SOON },
      );
      return rows[0]!;
    },
  };
}
