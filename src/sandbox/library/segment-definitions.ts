/** The library kind "segment definition": a segment under the item's id. */
import type { Queryable } from '../database.js';
import type { LibraryKind } from './kind.js';

/** Syncs and unsyncs segment definitions (4.6). */
export const segmentDefinitions: LibraryKind = {
  async sync(db, tenantId, items) {
    const ids = items.map(({ id }) => id);
    const conflicting = await ownSegments(db, tenantId, ids);
    const copied = items.filter(({ id }) => !conflicting.has(id)).map(({ id, content }) => ({ id, ...content }));
    // `updated_at` changes only if the definition has changed, so repeating a sync has no effect.
    await db.query(
      `insert into sandbox.segments (tenant_id, id, name, description, condition_groups, library_item_id)
       select $1, id::text, name, description, "conditionGroups", id
         from json_to_recordset($2::json) as r (id uuid, name text, description text, "conditionGroups" json)
       on conflict (tenant_id, id) do update
         set name = excluded.name, description = excluded.description, condition_groups = excluded.condition_groups,
             updated_at = clock_timestamp()
       where (segments.name, segments.description, segments.condition_groups::jsonb)
          is distinct from (excluded.name, excluded.description, excluded.condition_groups::jsonb)`,
      [tenantId, JSON.stringify(copied)],
    );
    return { conflicting };
  },
  async unsync(db, tenantId, itemIds) {
    await db.query('delete from sandbox.segments where tenant_id = $1 and library_item_id = any($2)', [
      tenantId,
      itemIds,
    ]);
  },
};

/** Ids among `itemIds` under which the tenant has a segment that is not a copy of the item. */
async function ownSegments(db: Queryable, tenantId: string, itemIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select id from sandbox.segments
      where tenant_id = $1 and id = any($2::text[]) and library_item_id::text is distinct from id`,
    [tenantId, itemIds],
  );
  return new Set(rows.map((row) => row.id));
}
