/** The queries on stored resources. Each handles a whole batch with one statement. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../domain/values/json.js';
import type { Queryable } from '../database.js';
import type { Dependency } from './incoming.js';
import { dependencyKey } from './record-references.js';

/** The stored data of those records that exist, by external id. */
export async function storedRecords(
  db: Queryable,
  tenantId: string,
  schemaId: string,
  externalIds: readonly string[],
): Promise<Map<string, JsonObject>> {
  if (externalIds.length === 0) return new Map();
  const { rows } = await db.query<{ external_id: string; data: JsonObject }>(
    'select external_id, data from sandbox.resources where tenant_id = $1 and schema_id = $2 and external_id = any($3)',
    [tenantId, schemaId, externalIds],
  );
  return new Map(rows.map((row) => [row.external_id, row.data]));
}

/** Keys (see {@link dependencyKey}) of the dependencies that are stored for this tenant. */
export async function presentParents(
  db: Queryable,
  tenantId: string,
  wanted: readonly Dependency[],
): Promise<Set<string>> {
  if (wanted.length === 0) return new Set();
  // Not a named statement, so that it is planned for the table's current size and not for an empty table.
  const { rows } = await db.query<{ schema_name: string; external_id: string }>(
    `select w.schema_name, w.external_id
       from unnest($2::text[], $3::text[]) as w (schema_name, external_id)
       join sandbox.schema_definitions s on s.name = w.schema_name
       join sandbox.resources r on r.tenant_id = $1 and r.schema_id = s.id and r.external_id = w.external_id`,
    [tenantId, wanted.map((d) => d.schemaName), wanted.map((d) => d.externalId)],
  );
  return new Set(rows.map((row) => dependencyKey({ schemaName: row.schema_name, externalId: row.external_id })));
}

/** Writes complete records. An existing one keeps its id and creation time. */
export async function storeRecords(
  db: Queryable,
  tenantId: string,
  schemaId: string,
  records: ReadonlyMap<string, JsonObject>,
): Promise<void> {
  if (records.size === 0) return;
  const rows = [...records].map(([externalId, data]) => ({ external_id: externalId, id: randomUUID(), data }));
  await db.query(
    `insert into sandbox.resources (tenant_id, schema_id, external_id, id, data, created_at, updated_at)
     select $1, $2, r.external_id, r.id, r.data, t.now, t.now
       from jsonb_to_recordset($3::jsonb) as r (external_id text, id uuid, data jsonb),
            (select clock_timestamp() as now) t
     on conflict (tenant_id, schema_id, external_id)
       do update set data = excluded.data, updated_at = excluded.updated_at`,
    [tenantId, schemaId, JSON.stringify(rows)],
  );
}
