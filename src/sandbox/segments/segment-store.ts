/** The segments of tenants. They come from the fixture and the library; no operation creates one. */
import type { Queryable } from '../database.js';
import { unstorableText } from '../storable.js';
import type { ConditionGroup } from './condition.js';

export interface Segment {
  readonly id: string;
  /** AND-joined. */
  readonly conditionGroups: readonly ConditionGroup[];
}

/** Those of the tenant's segments that have one of the ids. */
export async function findSegments(db: Queryable, tenantId: string, ids: readonly string[]): Promise<Segment[]> {
  const storable = ids.filter((id) => unstorableText(id, 'id') === undefined);
  const { rows } = await db.query<{ id: string; condition_groups: ConditionGroup[] }>(
    'select id, condition_groups from sandbox.segments where tenant_id = $1 and id = any($2)',
    [tenantId, storable],
  );
  return rows.map((row) => ({ id: row.id, conditionGroups: row.condition_groups }));
}
