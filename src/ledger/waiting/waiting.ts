/** Waiting records: what each waits for, and when it is sent again. */
import type { Knex } from 'knex';
import type { SourceKey } from '../../domain/source/source.js';
import type { MappingBacklog } from '../../domain/run/work.js';
import type { PendingReason, QueuedReason, WaitingRecord } from './waiting-record.js';
import { recordKey, type RecordPlace } from '../record-key.js';
import { seconds } from '../../domain/timeouts.js';

export interface WaitingRow {
  readonly tenantId: number;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  readonly reason: WaitingRecord['reason'];
  /** The batch in which the record is pending; null if it is queued. */
  readonly batchId: string | null;
  /** What that batch was sent with, 32 hex digits. */
  readonly contentHash: string | null;
  /** Whether it is time to send it again; a pending one even if the platform still lists it. */
  readonly isDue: boolean;
  /** How often it was sent in vain, without the first time if it lacked a parent then. */
  readonly tries: number;
  /** How often in a row, since it was sent last, it was postponed instead of being sent again. */
  readonly waits: number;
  readonly missing: WaitingRecord['missing'];
  /** See `QueuedRecord`; null if it is pending. */
  readonly rejection: string | null;
}

export interface QueuedRow extends WaitingRow {
  readonly reason: QueuedReason;
}

/** What children need to know about a parent that is waiting. */
export type WaitingParent = Pick<WaitingRow, 'reason' | 'missing'>;

/** What decides about a child that is queued without its parents. */
export type LackingParents = Pick<WaitingRow, 'tries' | 'waits' | 'rejection'>;

export interface Waiting {
  /** The records that are pending in this batch. */
  ofBatch(batchId: string): Promise<readonly WaitingRow[]>;
  /**
   * Up to `limit` queued records that are due at `asOf` (see {@link now}). One that is tried in vain becomes due later
   * than `asOf`, so that repeated calls come to an end.
   */
  due(mappingId: number, asOf: string, limit: number): Promise<readonly QueuedRow[]>;
  /**
   * Up to `limit` queued records that lack parents and are not due at `asOf`, from the one after `after`.
   */
  lackingParents(
    mappingId: number,
    asOf: string,
    after: Pick<WaitingRow, 'tenantId' | 'externalId'>,
    limit: number,
  ): Promise<readonly WaitingRow[]>;
  /** Makes queued records due at once; pending ones are left as they are. */
  makeDue(mappingId: number, rows: readonly Pick<WaitingRow, 'tenantId' | 'externalId'>[]): Promise<void>;
  /** The records that are waiting, by {@link recordKey}. */
  among(
    mappingId: number,
    keys: readonly Pick<WaitingRow, 'tenantId' | 'externalId'>[],
  ): Promise<ReadonlyMap<string, WaitingParent>>;
  /** Whether any record of the mapping is queued without its parents. */
  anyLackingParents(mappingId: number): Promise<boolean>;
  /** The records that are queued without their parents, by {@link recordKey}. */
  lackingParentsAmong(
    mappingId: number,
    keys: readonly Pick<WaitingRow, 'tenantId' | 'externalId'>[],
  ): Promise<ReadonlyMap<string, LackingParents>>;
  /** Whether any record of the mapping waits, or a batch of it is still to be closed whose records have all been sent again. */
  any(mappingId: number): Promise<boolean>;
  /** Sets the reason of pending records: that their parents may come, or why they will not. */
  setReason(batchId: string, reason: PendingReason, externalIds: readonly string[]): Promise<void>;
  /** The time by the database's clock, for {@link due} and {@link lackingParents}. */
  now(): Promise<string>;
  /** Which of the mapping's waiting records this run has reason to wait for. */
  backlog(mappingId: number, runId: string): Promise<MappingBacklog>;
}

const LACKING_PARENTS = { batch_id: null, reason: 'lacks_parent' };

export function openWaiting(knex: Knex): Waiting {
  const find = async <R = WaitingRow>(condition: string, bindings: (string | number)[]): Promise<R[]> => {
    const { rows } = await knex.raw<{ rows: R[] }>(
      `SELECT w.tenant_id AS "tenantId", w.external_id AS "externalId", w.source_key AS "sourceKey", w.reason,
         w.batch_id AS "batchId", w.content_hash AS "contentHash", w.due_at <= now() AS "isDue",
         w.tries, w.waits, coalesce(w.missing, '[]') AS missing, w.rejection
       FROM waiting w WHERE ${condition}`,
      bindings,
    );
    return rows;
  };
  return {
    ofBatch: (batchId) => find('w.batch_id = ?', [batchId]),
    due: (mappingId, asOf, limit) =>
      find<QueuedRow>(
        'w.mapping_id = ? AND w.batch_id IS NULL AND w.due_at <= CAST(? AS timestamptz) ORDER BY w.due_at LIMIT ?',
        [mappingId, asOf, limit],
      ),
    lackingParents: (mappingId, asOf, after, limit) =>
      find(
        `w.mapping_id = ? AND w.batch_id IS NULL AND w.reason = 'lacks_parent' AND w.due_at > CAST(? AS timestamptz)
           AND (w.tenant_id, w.external_id COLLATE "C") > (?, ?) ORDER BY w.tenant_id, w.external_id COLLATE "C" LIMIT ?`,
        [mappingId, asOf, after.tenantId, after.externalId, limit],
      ),
    async makeDue(mappingId, rows) {
      await knex.raw(
        `UPDATE waiting w SET due_at = now() FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         WHERE w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id AND w.batch_id IS NULL`,
        [rows.map((r) => r.tenantId), rows.map((r) => r.externalId), mappingId],
      );
    },
    async among(mappingId, keys) {
      const { rows } = await knex.raw<{ rows: (WaitingParent & RecordPlace)[] }>(
        `SELECT w.tenant_id AS "tenantId", w.external_id AS "externalId", w.reason, coalesce(w.missing, '[]') AS missing
         FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         JOIN waiting w ON w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`,
        [keys.map((k) => k.tenantId), keys.map((k) => k.externalId), mappingId],
      );
      return new Map(rows.map((row) => [recordKey(row), { reason: row.reason, missing: row.missing }]));
    },
    anyLackingParents: async (mappingId) =>
      (await knex('waiting')
        .where({ mapping_id: mappingId, ...LACKING_PARENTS })
        .first('external_id')) !== undefined,
    async lackingParentsAmong(mappingId, keys) {
      const { rows } = await knex.raw<{ rows: (LackingParents & RecordPlace)[] }>(
        `SELECT w.tenant_id AS "tenantId", w.external_id AS "externalId", w.tries, w.waits, w.rejection
         FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         JOIN waiting w ON w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
         WHERE w.batch_id IS NULL AND w.reason = 'lacks_parent'`,
        [keys.map((k) => k.tenantId), keys.map((k) => k.externalId), mappingId],
      );
      return new Map(rows.map((row) => [recordKey(row), row]));
    },
    any: async (mappingId) =>
      (await knex('waiting').where({ mapping_id: mappingId }).first('external_id')) !== undefined ||
      (await knex('batches').where({ mapping_id: mappingId, state: 'pending' }).first('id')) !== undefined,
    async setReason(batchId, reason, externalIds) {
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
    async backlog(mappingId, runId) {
      // A run does not wait for records that another run left pending, which may take a day, nor for those whose
      // parents will not come as things are.
      const { rows } = await knex.raw<{ rows: MappingBacklog[] }>(
        `WITH w AS (
           SELECT *, batch_id IS NOT NULL AND reason = 'dependency'
             AND EXISTS (SELECT FROM partitions WHERE partitions.id = partition_id AND partitions.run_id = :run) AS pending,
             batch_id IS NULL AND due_at < now() + :soon * interval '1 second' AS due_soon
           FROM waiting WHERE mapping_id = :mapping)
         SELECT count(*)::int AS waiting, (count(*) FILTER (WHERE pending))::int AS pending,
           (count(*) FILTER (WHERE due_soon))::int AS "dueSoon",
           coalesce(ceil(extract(epoch FROM max(coalesce(expires_at, due_at)) FILTER (WHERE pending) - now())), 0)::float8 AS "pendingFor",
           ARRAY(SELECT DISTINCT m->>'schemaName' FROM w, jsonb_array_elements(w.missing) AS m WHERE pending
             ORDER BY 1 LIMIT 5) AS parents
         FROM w`,
        { mapping: mappingId, run: runId, soon: seconds('dueSoon') },
      );
      return rows[0]!;
    },
  };
}
