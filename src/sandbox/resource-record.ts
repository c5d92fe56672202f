/** Converts a stored resource to the resource record of section 2, with references in the requested format. */
import type { JsonObject, JsonValue } from '../domain/values/json.js';
import { referencedIds } from '../domain/records/references.js';
import type { ResourceRecord } from '../platform/contract/resources.js';
import type { StoredSchema } from './schema-store.js';
import type { Tenant } from './tenants.js';

/** A row of `sandbox.resources`. */
export interface ResourceRow {
  readonly id: string;
  readonly external_id: string;
  readonly data: JsonObject;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** How a resource is shown: for which tenant, and whether references are `{ type, id }` objects or plain ids (4.10). */
export interface ResourceView {
  readonly tenant: Tenant;
  readonly platformId: string;
  readonly format: 'object' | 'id';
}

/**
 * The resource record of section 2; `businessId` is the tenant's. References follow the format that the request asked
 * for.
 */
export function resourceRecord(schema: StoredSchema, row: ResourceRow, view: ResourceView): ResourceRecord {
  return {
    id: row.id,
    schemaDefinitionId: schema.id,
    platformId: view.platformId,
    businessId: view.tenant.businessId,
    resourceExternalId: row.external_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    data: view.format === 'id' ? row.data : withReferenceObjects(schema, row.data),
  };
}

/** References are stored as plain external ids. `object`, the default of 4.10, shows each as `{ type, id }`. */
function withReferenceObjects(schema: StoredSchema, data: JsonObject): JsonObject {
  if (schema.references.length === 0) return data;
  const shown: Record<string, JsonValue> = { ...data };
  for (const { field, schemaName, list } of schema.references) {
    if (shown[field] === undefined) continue;
    const objects = referencedIds(shown[field]).map((id) => ({ type: schemaName, id }));
    shown[field] = list ? objects : (objects[0] ?? shown[field]);
  }
  return shown;
}
