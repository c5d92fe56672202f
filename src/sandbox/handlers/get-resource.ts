/**
 * 4.10: reads one resource. Reconciliation calls this tens of thousands of times, so without `include` it costs one
 * query.
 */
import type { JsonObject } from '../../domain/values/json.js';
import { includedRecords, includeTree } from '../included-records.js';
import { Refusal } from '../refusal.js';
import { resourceRecord, type ResourceRow } from '../resource-record.js';
import { unstorableText } from '../storable.js';
import { findSchema, type Handler } from './handler.js';

/**
 * Section 4.10. `included` is empty unless references were to be resolved. Refuses with `notFound` for an unknown
 * schema definition or resource, and `invalid` for an unknown reference field.
 */
export const getResource: Handler<'getResource'> = async ({ params, query, tenant }, services) => {
  const schema = await findSchema(services, params.schemaDefinitionNameOrId);
  const row = await findResource(services.pool, tenant.id, schema.id, params.externalId);
  if (row === undefined)
    throw new Refusal('notFound', `no resource ${JSON.stringify(params.externalId)} in schema "${schema.name}"`);
  const view = {
    tenant,
    platformId: services.platformId,
    format: query.referenceFormat ?? 'object',
  } as const;
  const tree = query.include === undefined ? undefined : includeTree(query.include);
  const included = tree === undefined ? [] : await includedRecords(services, view, schema, row, tree);
  return { message: 'resource found', data: { result: resourceRecord(schema, row, view), included } };
};

/** The stored row, or undefined; a prepared statement, because of the number of calls. */
async function findResource(
  pool: Parameters<Handler<'getResource'>>[1]['pool'],
  tenantId: string,
  schemaId: string,
  externalId: string,
): Promise<ResourceRow | undefined> {
  // Such an id cannot have been stored, and would make the query fail.
  if (unstorableText(externalId, 'id') !== undefined) return undefined;
  const { rows } = await pool.query<{
    id: string;
    external_id: string;
    data: JsonObject;
    created_at: Date;
    updated_at: Date;
  }>({
    name: 'resource-by-external-id',
    text: `select id, external_id, data, created_at, updated_at from sandbox.resources
            where tenant_id = $1 and schema_id = $2 and external_id = $3`,
    values: [tenantId, schemaId, externalId],
  });
  return rows[0];
}
