/**
 * Stores records that wait for a parent, and takes them out when the last parent arrives or the wait elapses (section
 * 3).
 */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../domain/values/json.js';
import type { Queryable } from '../database.js';
import { failed, type ConflictRule, type Dependency, type IncomingRecord } from './incoming.js';
import type { Outcomes } from './outcomes.js';

/** A record with the parents that it is waiting for. */
export interface PendingRecord {
  readonly record: IncomingRecord;
  readonly missing: readonly Dependency[];
}

/** Stores records as pending. A record that was pending before keeps its id and its `expiresAt`. */
export async function storePending(
  db: Queryable,
  tenantId: string,
  schemaId: string,
  pending: readonly PendingRecord[],
): Promise<void> {
  if (pending.length === 0) return;
  const rows = pending.map(({ record, missing }) => ({
    id: record.pendingId ?? randomUUID(),
    batch_id: record.batchId,
    record_index: record.index,
    external_id: record.externalId,
    sent: JSON.stringify(record.sent),
    on_conflict: record.onConflict,
    expires_at: record.expiresAt,
    missing,
  }));
  await db.query(
    `insert into sandbox.pending_resources
       (id, batch_id, record_index, tenant_id, schema_id, external_id, sent, on_conflict, expires_at, created_at)
     select id, batch_id, record_index, $1, $2, external_id, sent, on_conflict, expires_at, clock_timestamp()
       from jsonb_to_recordset($3::jsonb) as r (id uuid, batch_id uuid, record_index integer, external_id text,
                                               sent text, on_conflict text, expires_at timestamptz)
      order by record_index`,
    [tenantId, schemaId, JSON.stringify(rows)],
  );
  const missing = rows.flatMap((row) => row.missing.map((dependency) => ({ pendingId: row.id, ...dependency })));
  await db.query(
    `insert into sandbox.missing_dependencies (pending_id, tenant_id, schema_name, external_id)
     select "pendingId", $1, "schemaName", "externalId"
       from jsonb_to_recordset($2::jsonb) as m ("pendingId" uuid, "schemaName" text, "externalId" text)`,
    [tenantId, JSON.stringify(missing)],
  );
}

interface PendingRow {
  readonly id: string;
  readonly batch_id: string;
  readonly record_index: number;
  readonly schema_id: string;
  readonly external_id: string;
  readonly sent: string;
  readonly on_conflict: ConflictRule;
  readonly expires_at: Date;
}

/** A record that is no longer pending because its parents have arrived or its wait is over. */
export interface ReleasedRecord extends IncomingRecord {
  readonly schemaId: string;
}

const released = (row: PendingRow): ReleasedRecord => ({
  batchId: row.batch_id,
  index: row.record_index,
  externalId: row.external_id,
  sent: JSON.parse(row.sent) as JsonObject,
  onConflict: row.on_conflict,
  expiresAt: row.expires_at,
  pendingId: row.id,
  schemaId: row.schema_id,
});

/**
 * Takes out the records whose last missing parent is among `arrived`, in the order in which they became pending.
 * Records past their expiry are left to {@link takeExpired}.
 */
export async function releaseChildren(
  db: Queryable,
  tenantId: string,
  arrived: readonly Dependency[],
): Promise<ReleasedRecord[]> {
  const resolved = await db.query<{ pending_id: string }>(
    `delete from sandbox.missing_dependencies d
      using unnest($2::text[], $3::text[]) as a (schema_name, external_id), sandbox.pending_resources p
      where d.tenant_id = $1 and d.schema_name = a.schema_name and d.external_id = a.external_id
        and p.id = d.pending_id and p.expires_at > clock_timestamp()
      returning d.pending_id`,
    [tenantId, arrived.map((d) => d.schemaName), arrived.map((d) => d.externalId)],
  );
  if (resolved.rows.length === 0) return [];
  const { rows } = await db.query<PendingRow>(
    `with released as (
       delete from sandbox.pending_resources p
        where p.id = any($1)
          and not exists (select from sandbox.missing_dependencies d where d.pending_id = p.id)
        returning *)
     select * from released order by sequence`,
    [[...new Set(resolved.rows.map((row) => row.pending_id))]],
  );
  return rows.map(released);
}

/** A record whose wait has elapsed; `missing` names the parents that did not arrive, in words. */
export interface ExpiredRecord extends ReleasedRecord {
  readonly missing: string;
}

/** Takes out the tenant's records whose wait has elapsed, in the order in which they became pending. */
export async function takeExpired(db: Queryable, tenantId: string): Promise<ExpiredRecord[]> {
  const { rows } = await db.query<PendingRow & { missing: string }>(
    `with expired as (
       delete from sandbox.pending_resources p
        where p.tenant_id = $1 and p.expires_at <= clock_timestamp()
        returning p.*, (select string_agg(d.schema_name || ' "' || d.external_id || '"', ', ')
                          from sandbox.missing_dependencies d where d.pending_id = p.id) as missing)
     select * from expired order by sequence`,
    [tenantId],
  );
  return rows.map((row) => ({ ...released(row), missing: row.missing }));
}

/** Fails older pending uploads of the same records with the rule `replaced` (setting `pending.newer`). */
export async function replacePending(
  db: Queryable,
  tenantId: string,
  schemaId: string,
  newer: readonly IncomingRecord[],
  outcomes: Outcomes,
): Promise<void> {
  const { rows } = await db.query<PendingRow>(
    `delete from sandbox.pending_resources
      where tenant_id = $1 and schema_id = $2 and external_id = any($3) returning *`,
    [tenantId, schemaId, newer.map((record) => record.externalId)],
  );
  for (const row of rows) outcomes.add(released(row), failed('replaced', 'a newer upload has taken its place'));
}
