/**
 * Twin fields: "where a field exists in both snake_case and camelCase, both names are part of the interface".
 * The sandbox answers with both; the client reads either and shows its callers the camelCase one only.
 */

export type TwinTable = Readonly<Record<string, string>>;

/** Schema definition (platform-api.md section 2): camelCase name -> its snake_case twin. */
export const SCHEMA_DEFINITION_TWINS = {
  pluralName: 'plural_name',
  versionNumber: 'version_number',
  referenceSchemas: 'reference_schemas',
  externalIdField: 'external_id_field',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  fieldsToExpose: 'fields_to_expose',
  sourceQuery: 'source_query',
  deactivatedAt: 'deactivated_at',
} as const satisfies TwinTable;

/** Resource record (platform-api.md section 2). */
export const RESOURCE_TWINS = {
  schemaDefinitionId: 'schema_definition_id',
  platformId: 'platform_id',
  businessId: 'business_id',
  resourceExternalId: 'resource_external_id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies TwinTable;

/** The object with both names of each twin that it has. */
export function withBothNames(value: object, twins: TwinTable): Record<string, unknown> {
  const out: Record<string, unknown> = { ...value };
  for (const [camel, snake] of Object.entries(twins)) if (camel in out) out[snake] = out[camel];
  return out;
}

/** The object with camelCase names only; where both came, camelCase wins. */
export function withCamelNames(value: object, twins: TwinTable): Record<string, unknown> {
  const out: Record<string, unknown> = { ...value };
  for (const [camel, snake] of Object.entries(twins)) {
    if (!(snake in out)) continue;
    if (!(camel in out)) out[camel] = out[snake];
    delete out[snake];
  }
  return out;
}
