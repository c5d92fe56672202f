/**
 * The library kind "automation template": an automation under the item's id, together with the communication groups
 * that its actions name.
 */
import { automationRow, communicationGroupRow } from '../automation-rows.js';
import type { Queryable } from '../database.js';
import type { AutomationTemplate } from '../fixture/fixture-schema.js';
import type { LibraryItem, LibraryKind } from './kind.js';

/** Syncs and unsyncs automation templates (4.6). */
export const automationTemplates: LibraryKind = {
  async sync(db, tenantId, items) {
    const templates = items.map(templateOf);
    const conflicting = await findConflicts(db, tenantId, templates);
    for (const id of sameGroups(templates, conflicting)) conflicting.add(id);
    const copied = templates.filter(({ id }) => !conflicting.has(id));
    await storeAutomations(db, tenantId, copied);
    await replaceGroups(db, tenantId, copied);
    return { conflicting };
  },
  async unsync(db, tenantId, itemIds) {
    for (const table of ['automations', 'communication_groups'])
      await db.query(`delete from sandbox.${table} where tenant_id = $1 and library_item_id = any($2)`, [
        tenantId,
        itemIds,
      ]);
  },
};

/** A library item, split into the automation and the communication groups that its actions name. */
interface Template extends Pick<AutomationTemplate, 'id' | 'communicationGroups'> {
  readonly automation: Omit<AutomationTemplate, 'communicationGroups'>;
}

/** The content came from a fixture and was validated when that was loaded, so it is not checked again. */
function templateOf({ id, content }: LibraryItem): Template {
  const { communicationGroups, ...automation } = { ...content, id } as AutomationTemplate;
  return { id, automation, communicationGroups };
}

/**
 * Ids of the templates that cannot be copied: the tenant has an automation or a communication group of its own under an
 * id that they need.
 */
async function findConflicts(db: Queryable, tenantId: string, templates: readonly Template[]): Promise<Set<string>> {
  const groups = templates.flatMap(({ id, communicationGroups }) =>
    communicationGroups.map((g) => [id, g.id] as const),
  );
  const { rows } = await db.query<{ item: string }>(
    `select item from unnest($2::uuid[]) as w (item)
       join sandbox.automations a on a.tenant_id = $1 and a.id = w.item::text
      where a.library_item_id is distinct from w.item
      union
     select item from unnest($3::uuid[], $4::text[]) as w (item, group_id)
       join sandbox.communication_groups g on g.tenant_id = $1 and g.id = w.group_id
      where g.library_item_id is distinct from w.item`,
    [tenantId, templates.map(({ id }) => id), groups.map(([id]) => id), groups.map(([, groupId]) => groupId)],
  );
  return new Set(rows.map((row) => row.item));
}

/** Ids of the templates that need a communication group which a template before them takes: each copies its own. */
function sameGroups(templates: readonly Template[], conflicting: ReadonlySet<string>): string[] {
  const taken = new Set<string>();
  return templates
    .filter(({ id }) => !conflicting.has(id))
    .flatMap(({ id, communicationGroups }) => {
      if (communicationGroups.some((group) => taken.has(group.id))) return [id];
      for (const group of communicationGroups) taken.add(group.id);
      return [];
    });
}

/**
 * Inserts or updates the automations. `updated_at` changes only if the template has changed, so repeating a sync has
 * no effect.
 */
async function storeAutomations(db: Queryable, tenantId: string, templates: readonly Template[]): Promise<void> {
  const rows = templates.map(({ automation }) => automationRow(automation));
  await db.query(
    `insert into sandbox.automations
       (tenant_id, id, status, automation_type, trigger_type, content, library_item_id)
     select $1, id, status, automation_type, trigger_type, content, id::uuid
       from json_to_recordset($2::json)
         as r (id text, status text, automation_type text, trigger_type text, content json)
     on conflict (tenant_id, id) do update
       set status = excluded.status, automation_type = excluded.automation_type,
           trigger_type = excluded.trigger_type, content = excluded.content, updated_at = clock_timestamp()
     where (automations.status, automations.automation_type, automations.trigger_type, automations.content::jsonb)
        is distinct from (excluded.status, excluded.automation_type, excluded.trigger_type, excluded.content::jsonb)`,
    [tenantId, JSON.stringify(rows)],
  );
}

/**
 * Deletes and re-inserts the templates' communication groups, which removes those that a newer template no longer has.
 */
async function replaceGroups(db: Queryable, tenantId: string, templates: readonly Template[]): Promise<void> {
  await db.query('delete from sandbox.communication_groups where tenant_id = $1 and library_item_id = any($2)', [
    tenantId,
    templates.map(({ id }) => id),
  ]);
  const rows = templates.flatMap(({ id, communicationGroups }) =>
    communicationGroups.map((group) => ({ ...communicationGroupRow(group), library_item_id: id })),
  );
  await db.query(
    `insert into sandbox.communication_groups (tenant_id, id, content, library_item_id)
     select $1, id, content, library_item_id
       from json_to_recordset($2::json) as r (id text, content json, library_item_id uuid)`,
    [tenantId, JSON.stringify(rows)],
  );
}
