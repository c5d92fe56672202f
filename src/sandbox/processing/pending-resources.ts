/** The records that wait for a parent: held back, and taken out when the last parent arrives or time is up. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../domain/json.js';
import type { Queryable } from '../database.js';
import { failed, type ConflictRule, type Dependency, type IncomingRecord } from './incoming.js';
import type { Outcomes } from './outcomes.js';

export interface HeldRecord {
  readonly record: IncomingRecord;
  readonly missing: readonly Dependency[];
}

/** Holds records back. `expiresAt` counts from the acceptance of the upload, not from its processing. */
export async function holdBack(db: Queryable, tenantId: string, schemaId: string, held: readonly HeldRecord[]) {
  if (held.length === 0) return;
  const rows = held.map(({ record, missing }) => ({
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

/** Takes out the records whose last missing parent is among the arrived, in the order in which they came. */
export async function releaseChildren(
  db: Queryable,
  tenantId: string,
  arrived: readonly Dependency[],
): Promise<ReleasedRecord[]> {
  const met = await db.query<{ pending_id: string }>(
    `delete from sandbox.missing_dependencies d
      using unnest($2::text[], $3::text[]) as a (schema_name, external_id), sandbox.pending_resources p
      where d.tenant_id = $1 and d.schema_name = a.schema_name and d.external_id = a.external_id
        and p.id = d.pending_id and p.expires_at > clock_timestamp()
      returning d.pending_id`,
    [tenantId, arrived.map((d) => d.schemaName), arrived.map((d) => d.externalId)],
  );
  if (met.rows.length === 0) return [];
  const { rows } = await db.query<PendingRow>(
    `with released as (
       delete from sandbox.pending_resources p
        where p.id = any($1)
          and not exists (select from sandbox.missing_dependencies d where d.pending_id = p.id)
        returning *)
     select * from released order by sequence`,
    [[...new Set(met.rows.map((row) => row.pending_id))]],
  );
  return rows.map(released);
}

/** A record whose time is up, and the parents that have not come, in words. */
export interface ExpiredRecord extends ReleasedRecord {
  readonly missing: string;
}

/** Takes out the records whose wait has elapsed, in the order in which they came. */
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

/** Ends the wait of older uploads of the records: the newer ones have taken their place. */
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
