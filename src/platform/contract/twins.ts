/**
 * Twin fields: "where a field exists in both snake_case and camelCase, both names are part of the interface".
 * The sandbox answers with both; the client reads either and shows its callers the camelCase one only.
 * A schema names its twins in its own keyword `twins`, so that they travel with it wherever it is nested.
 */
import type { TSchema } from 'typebox';

/** camelCase name -> its snake_case twin. */
export type TwinTable = Readonly<Record<string, string>>;

/** Schema definition (platform-api.md section 2). */
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

/** The object with snake_case names only; it comes in camelCase. */
export const withSnakeNames = (value: object, twins: TwinTable): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [twins[name] ?? name, member as unknown]));

/** Gives one object's twins other names. */
export type Renaming = (value: object, twins: TwinTable) => Record<string, unknown>;

/**
 * A function that renames the twins in values of `schema`, wherever they are nested in objects and lists;
 * null where the schema has none, so that nobody pays for what is not there.
 */
export function renamer(schema: TSchema, rename: Renaming): ((value: unknown) => unknown) | null {
  const { twins, properties, items, anyOf } = schema as Annotated;
  // Alternatives here are "this or null", and null passes through.
  if (anyOf !== undefined) return anyOf.map((alternative) => renamer(alternative, rename)).find(Boolean) ?? null;
  if (items !== undefined) {
    const each = renamer(items, rename);
    return each && ((value) => (Array.isArray(value) ? value.map(each) : value));
  }
  const members = Object.entries(properties ?? {}).flatMap(([name, member]) => {
    const inner = renamer(member, rename);
    return inner ? [[name, inner] as const] : [];
  });
  if (twins === undefined && members.length === 0) return null;
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const out: Record<string, unknown> = { ...value };
    for (const [name, inner] of members) if (name in out) out[name] = inner(out[name]);
    return twins === undefined ? out : rename(out, twins);
  };
}

interface Annotated {
  readonly twins?: TwinTable;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}
