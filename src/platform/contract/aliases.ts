/**
 * Fields with an alias: "where a field exists in both snake_case and camelCase, both names are part of the interface".
 * The sandbox returns both; the client reads either and returns the camelCase one only.
 * A schema names its aliases in its own keyword `aliases`, so that they travel with it wherever it is nested.
 */
import type { TSchema } from 'typebox';

/** camelCase name -> its snake_case alias. */
export type AliasTable = Readonly<Record<string, string>>;

/** Schema definition (platform-api.md section 2). */
export const SCHEMA_DEFINITION_ALIASES = {
  pluralName: 'plural_name',
  versionNumber: 'version_number',
  referenceSchemas: 'reference_schemas',
  externalIdField: 'external_id_field',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  fieldsToExpose: 'fields_to_expose',
  sourceQuery: 'source_query',
  deactivatedAt: 'deactivated_at',
} as const satisfies AliasTable;

/** Resource record (platform-api.md section 2). */
export const RESOURCE_ALIASES = {
  schemaDefinitionId: 'schema_definition_id',
  platformId: 'platform_id',
  businessId: 'business_id',
  resourceExternalId: 'resource_external_id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies AliasTable;

/** The object with both names of each field that has an alias. */
export function withBothNames(value: object, aliases: AliasTable): Record<string, unknown> {
  const out: Record<string, unknown> = { ...value };
  for (const [camel, snake] of Object.entries(aliases)) if (camel in out) out[snake] = out[camel];
  return out;
}

/** The object with camelCase names only; if both are present, camelCase wins. */
export function withCamelNames(value: object, aliases: AliasTable): Record<string, unknown> {
  const out: Record<string, unknown> = { ...value };
  for (const [camel, snake] of Object.entries(aliases)) {
    if (!(snake in out)) continue;
    if (!(camel in out)) out[camel] = out[snake];
    delete out[snake];
  }
  return out;
}

/** The object, which has camelCase names, with aliases instead. */
export const withSnakeNames = (value: object, aliases: AliasTable): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [aliases[name] ?? name, member as unknown]));

/** Renames the fields of one object that have an alias. */
export type Renaming = (value: object, aliases: AliasTable) => Record<string, unknown>;

/**
 * A function that renames the fields with an alias in values of `schema`, wherever they are nested in objects and
 * lists; null if the schema has none, so that such values are not walked.
 */
export function renamer(schema: TSchema, rename: Renaming): ((value: unknown) => unknown) | null {
  const { aliases, properties, items, anyOf } = schema as Annotated;
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
  if (aliases === undefined && members.length === 0) return null;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const out: Record<string, unknown> = { ...value };
    for (const [name, inner] of members) if (name in out) out[name] = inner(out[name]);
    return aliases === undefined ? out : rename(out, aliases);
  };
}

interface Annotated {
  readonly aliases?: AliasTable;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}
