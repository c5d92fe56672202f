/** Builds a schema definition from the body of 4.4, or reports everything that is wrong with the body. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../domain/values/json.js';
import { SCHEMA_NAME_PATTERN } from '../domain/values/names.js';
import { referencesOf } from '../domain/records/references.js';
import type { BodyOf } from '../platform/contract/operation.js';
import type { Operations } from '../platform/contract/operations.js';
import type { SchemaDefinition } from '../platform/contract/schema-definitions.js';
import { SCHEMA_DEFINITION_ALIASES, withCamelNames } from '../platform/contract/aliases.js';
import { pathProblems } from './exposed-paths.js';
import { compileRecordSchema } from './json-schema.js';
import type { SandboxSettings } from './settings.js';
import { unstorable } from './storable.js';

/** The body of 4.4, which may use the deprecated snake_case names. */
export type SchemaDefinitionBody = BodyOf<Operations['createSchemaDefinition']>;

/** The settings that bound a definition: its JSON Schema dialect and the longest name. */
type DefinitionSettings = Pick<SandboxSettings, 'schemas' | 'longest'>;

const isSchemaName = (text: string): boolean => new RegExp(SCHEMA_NAME_PATTERN).test(text);

/**
 * The new definition, with a fresh id and version number 1, or a list of problems, each of which begins with its place
 * (`body/...`).
 *
 * A definition is accepted only if its JSON Schema compiles and declares `externalIdField`. `pluralName` defaults to
 * the name.
 */
export function newSchemaDefinition(
  body: SchemaDefinitionBody,
  platformId: string,
  settings: DefinitionSettings,
): SchemaDefinition | string[] {
  const unstorablePlace = unstorable(body);
  const problems = unstorablePlace === undefined ? [] : [`body ${unstorablePlace}`];
  for (const [camel, snake] of Object.entries(SCHEMA_DEFINITION_ALIASES)) {
    const [one, other] = [body[camel as keyof SchemaDefinitionBody], body[snake as keyof SchemaDefinitionBody]];
    if (one !== undefined && other !== undefined && JSON.stringify(one) !== JSON.stringify(other))
      problems.push(`body/${camel} and its older name ${snake} differ; send one of them`);
  }
  const input = withCamelNames(body, SCHEMA_DEFINITION_ALIASES) as SchemaDefinitionBody;
  problems.push(...schemaProblems(input, settings));
  if (problems.length > 0) return problems;

  const now = new Date().toISOString();
  return {
    id: randomUUID(),
    platform_id: platformId,
    name: input.name,
    pluralName: input.pluralName ?? input.name,
    ...(input.description === undefined ? {} : { description: input.description }),
    category: input.category,
    versionNumber: 1,
    referenceSchemas: [...new Set(referencesOf(input.schema as JsonObject).map((r) => r.schemaName))],
    schema: input.schema,
    externalIdField: input.externalIdField!,
    ...(input.fieldsToExpose === undefined ? {} : { fieldsToExpose: input.fieldsToExpose }),
    ...(input.exposeNameJsonPath === undefined ? {} : { exposeNameJsonPath: input.exposeNameJsonPath }),
    displayMetadata: input.displayMetadata ?? null,
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * Problems beyond the contract's own schema: paths, lengths, a JSON Schema that does not compile, references that name
 * no schema, and the external id field.
 */
function schemaProblems(input: SchemaDefinitionBody, { schemas, longest }: DefinitionSettings): string[] {
  const { schema, externalIdField } = input;
  const problems = pathProblems(input);
  for (const field of ['name', 'pluralName'] as const)
    if ((input[field]?.length ?? 0) > longest.schemaName)
      problems.push(`body/${field} must NOT have more than ${longest.schemaName} characters`);
  try {
    compileRecordSchema(schema as JsonObject, schemas);
  } catch (error) {
    problems.push(`body/schema does not compile: ${error instanceof Error ? error.message : String(error)}`);
  }
  for (const { field, schemaName } of referencesOf(schema as JsonObject))
    if (!isSchemaName(schemaName))
      problems.push(
        `body/schema/properties/${field} refers to ${JSON.stringify(schemaName)}, which is not a schema name`,
      );
  const properties: unknown = (schema as JsonObject)['properties'];
  const declared = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  if (externalIdField === undefined) problems.push('body/externalIdField is required');
  else if (!declared.includes(externalIdField))
    problems.push(
      `body/externalIdField "${externalIdField}" is not a property of the schema; it has: ${declared.join(', ') || 'none'}`,
    );
  return problems;
}
