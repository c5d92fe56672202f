/**
 * Resolves the references that Get Resource (4.10) was asked to include: each referenced resource once, along dotted
 * paths.
 */
import type pg from 'pg';
import { referencedIds } from '../domain/records/references.js';
import type { ResourceRecord } from '../platform/contract/resources.js';
import { Refusal } from './refusal.js';
import { resourceRecord, type ResourceRow, type ResourceView } from './resource-record.js';
import type { SandboxSettings } from './settings.js';
import type { SchemaStore, StoredSchema } from './schema-store.js';

/** Reference fields to resolve; each maps to the fields to resolve on the records that it leads to. */
export type IncludeTree = Map<string, IncludeTree>;

/**
 * Parses `customerId,customerId.storeId` into a tree. A dotted path also includes the records that it passes through.
 */
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

/** What resolving needs: the pool, the schema definitions, and whether an unknown field is refused. */
interface Stores {
  readonly pool: pg.Pool;
  readonly schemas: SchemaStore;
  readonly settings: Pick<SandboxSettings, 'unknownInput'>;
}

/**
 * Finds the resources that `row` refers to, directly or through others, in the order in which they are found and
 * without duplicates.
 *
 * Runs one query for each field of the tree, however many records it leads to. Throws an `invalid` {@link Refusal} for
 * a name that is not a reference field, unless `unknownInput.include` is `ignore`.
 */
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
        included.push(resourceRecord(parentSchema, parent, view));
      }
      // Descends even without records, so that a misspelt nested field is always an error, whatever the data.
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
