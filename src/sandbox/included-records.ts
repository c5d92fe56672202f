/** `include` of 4.10: the resources that a record refers to, along the named fields, each once. */
import type pg from 'pg';
import { referencedIds } from '../domain/references.js';
import type { ResourceRecord } from '../platform/contract/resources.js';
import { Refusal } from './refusal.js';
import { recordAnswer, type ResourceRow, type ResourceView } from './resource-answer.js';
import type { SandboxSettings } from './settings.js';
import type { SchemaStore, StoredSchema } from './schema-store.js';

/** Fields to resolve, and below each those of the records it leads to. */
export type IncludeTree = Map<string, IncludeTree>;

/** `customerId,customerId.storeId` as a tree; a dotted path includes the records on its way. */
export function includeTree(include: string): IncludeTree {
  const root: IncludeTree = new Map();
  for (const path of include.split(',').filter((part) => part.trim() !== '')) {
    let node = root;
    for (const field of path.trim().split('.')) {
      const next = node.get(field) ?? new Map<string, IncludeTree>();
      node.set(field, next);
      node = next;
    }
  }
  return root;
}

interface Stores {
  readonly pool: pg.Pool;
  readonly schemas: SchemaStore;
  readonly settings: Pick<SandboxSettings, 'unknownInput'>;
}

/** One query for each field of the tree, however many records it leads to. */
export async function includedRecords(
  stores: Stores,
  view: ResourceView,
  schema: StoredSchema,
  row: ResourceRow,
  tree: IncludeTree,
): Promise<ResourceRecord[]> {
  const included: ResourceRecord[] = [];
  const seen = new Set([row.id]);
  const follow = async (from: StoredSchema, rows: readonly ResourceRow[], branch: IncludeTree): Promise<void> => {
    for (const [field, deeper] of branch) {
      const reference = from.references.find((r) => r.field === field);
      if (reference === undefined && stores.settings.unknownInput.include === 'ignore') continue;
      if (reference === undefined) throw unknownField(from, field);
      const parentSchema = await stores.schemas.find(reference.schemaName);
      if (parentSchema === undefined) continue;
      const ids = [...new Set(rows.flatMap((r) => referencedIds(r.data[field])))];
      const { rows: parents } = await stores.pool.query<ResourceRow>(
        `select id, external_id, data, created_at, updated_at from sandbox.resources
          where tenant_id = $1 and schema_id = $2 and external_id = any($3) order by external_id`,
        [view.tenant.id, parentSchema.id, ids],
      );
      for (const parent of parents) {
        if (seen.has(parent.id)) continue;
        seen.add(parent.id);
        included.push(recordAnswer(parentSchema, parent, view));
      }
      // Also when there are none: a misspelt field further down is then an error always, not by chance.
      await follow(parentSchema, parents, deeper);
    }
  };
  await follow(schema, [row], tree);
  return included;
}

function unknownField(schema: StoredSchema, field: string): Refusal {
  const known = schema.references.map((r) => r.field).join(', ');
  return new Refusal(
    'invalid',
    `include: "${field}" is not a reference field of "${schema.name}"; it has: ${known || 'none'}`,
  );
}
