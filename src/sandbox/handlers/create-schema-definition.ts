/** 4.4: creates a schema definition under a name that is not taken. */
import { Refusal } from '../refusal.js';
import { newSchemaDefinition } from '../schema-definition.js';
import type { SchemaDefinition } from '../../platform/contract/schema-definitions.js';
import type { Handler, Services } from './handler.js';

/**
 * Section 4.4. Refuses with `invalid`, listing every problem of the body, or with `taken` if the name exists, unless
 * the setting `existing` returns the existing definition.
 */
export const createSchemaDefinition: Handler<'createSchemaDefinition'> = async ({ body }, services) => {
  const definition = newSchemaDefinition(body, services.platformId, services.settings);
  if (Array.isArray(definition)) throw new Refusal('invalid', 'the schema definition is not valid', definition);
  if (services.settings.schemas.references === 'existing') await refuseUnknownReferences(definition, services);
  if ((await services.schemas.create(definition)) === undefined) {
    const { definition: existing } = (await services.schemas.find(definition.name))!;
    if (services.settings.existing === 'answer')
      return { message: `schema definition "${existing.name}" already exists`, data: existing };
    throw new Refusal(
      'taken',
      `a schema definition named "${definition.name}" exists; names are immutable and unique`,
      [
        `existing: id ${existing.id}, version ${existing.versionNumber ?? 1}, external id field "${existing.externalIdField}"`,
      ],
    );
  }
  return {
    message: `schema definition "${definition.name}" created`,
    data: definition,
  };
};

/** Refuses references to schema definitions that do not exist. A definition may always refer to its own records. */
async function refuseUnknownReferences(definition: SchemaDefinition, { schemas }: Services): Promise<void> {
  const unknown: string[] = [];
  for (const name of definition.referenceSchemas ?? [])
    if (name !== definition.name && (await schemas.find(name)) === undefined) unknown.push(name);
  if (unknown.length > 0)
    throw new Refusal(
      'invalid',
      'the schema definition is not valid',
      unknown.map((name) => `body/schema refers to "${name}", but there is no such schema definition`),
    );
}
