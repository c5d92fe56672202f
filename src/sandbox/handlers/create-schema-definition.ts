/** 4.4: creates a schema definition, once its JSON Schema is known to compile. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../domain/json.js';
import { SCHEMA_NAME_PATTERN } from '../../domain/names.js';
import { referencesOf } from '../../domain/references.js';
import type { SchemaDefinition } from '../../platform/contract/schema-definitions.js';
import { SCHEMA_DEFINITION_TWINS, withCamelNames } from '../../platform/contract/twins.js';
import { pathProblems } from '../exposed-paths.js';
import { compileRecordSchema } from '../json-schema.js';
import { Refusal } from '../refusal.js';
import { unstorable } from '../storable.js';
import type { Handler } from './handler.js';

const isSchemaName = (text: string): boolean => new RegExp(SCHEMA_NAME_PATTERN).test(text);

type Input = Parameters<Handler<'createSchemaDefinition'>>[0]['body'];

export const createSchemaDefinition: Handler<'createSchemaDefinition'> = async ({ body }, services) => {
  const unstorablePlace = unstorable(body);
  const problems = unstorablePlace === undefined ? [] : [`body ${unstorablePlace}`];
  for (const [camel, snake] of Object.entries(SCHEMA_DEFINITION_TWINS)) {
    const [one, other] = [body[camel as keyof Input], body[snake as keyof Input]];
    if (one !== undefined && other !== undefined && JSON.stringify(one) !== JSON.stringify(other))
      problems.push(`body/${camel} and its older name ${snake} differ; send one of them`);
  }
  const input = withCamelNames(body, SCHEMA_DEFINITION_TWINS) as Input;
  problems.push(...schemaProblems(input));
  if (problems.length > 0) throw new Refusal(400, 'the schema definition is not valid', problems);

  const now = new Date().toISOString();
  const definition: SchemaDefinition = {
    id: randomUUID(),
    platform_id: services.platformId,
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
  if ((await services.schemas.create(definition)) === undefined) {
    const { definition: existing } = (await services.schemas.find(input.name))!;
    throw new Refusal(409, `a schema definition named "${input.name}" exists; names are immutable and unique`, [
      `existing: id ${existing.id}, version ${existing.versionNumber ?? 1}, external id field "${existing.externalIdField}"`,
    ]);
  }
  return {
    message: `schema definition "${definition.name}" created`,
    data: definition,
  };
};

function schemaProblems(input: Input): string[] {
  const { schema, externalIdField } = input;
  const problems = pathProblems(input);
  try {
    compileRecordSchema(schema as JsonObject);
  } catch (error) {
    problems.push(`body/schema does not compile: ${error instanceof Error ? error.message : String(error)}`);
  }
  for (const { field, schemaName } of referencesOf(schema as JsonObject))
    if (!isSchemaName(schemaName))
      problems.push(`body/schema/properties/${field} refers to ${JSON.stringify(schemaName)}, which is no schema name`);
  const properties: unknown = (schema as JsonObject)['properties'];
  const declared = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  if (externalIdField === undefined) problems.push('body/externalIdField is required');
  else if (!declared.includes(externalIdField))
    problems.push(
      `body/externalIdField "${externalIdField}" is not a property of the schema; it has: ${declared.join(', ') || 'none'}`,
    );
  return problems;
}
