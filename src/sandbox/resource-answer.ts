/** A stored resource as an answer shows it, with references in the form that was asked for. */
import type { JsonObject, JsonValue } from '../domain/json.js';
import { referencedIds } from '../domain/references.js';
import type { ResourceRecord } from '../platform/contract/resources.js';
import type { StoredSchema } from './schema-store.js';
import type { Tenant } from './tenants.js';

export interface ResourceRow {
  readonly id: string;
  readonly external_id: string;
  readonly data: JsonObject;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** How the caller wants to see resources. */
export interface ResourceView {
  readonly tenant: Tenant;
  readonly platformId: string;
  readonly format: 'object' | 'id';
}

export function recordAnswer(schema: StoredSchema, row: ResourceRow, view: ResourceView): ResourceRecord {
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

/** References are stored as plain external ids; `object` is the platform's default form: `{ type, id }`. */
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
