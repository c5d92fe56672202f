/** 4.4: creates a schema definition; its name is taken once and for all. */
import { Refusal } from '../refusal.js';
import { newSchemaDefinition } from '../schema-definition.js';
import type { Handler } from './handler.js';

export const createSchemaDefinition: Handler<'createSchemaDefinition'> = async ({ body }, services) => {
  const definition = newSchemaDefinition(body, services.platformId);
  if (Array.isArray(definition)) throw new Refusal(400, 'the schema definition is not valid', definition);
  if ((await services.schemas.create(definition)) === undefined) {
    const { definition: existing } = (await services.schemas.find(definition.name))!;
    throw new Refusal(409, `a schema definition named "${definition.name}" exists; names are immutable and unique`, [
      `existing: id ${existing.id}, version ${existing.versionNumber ?? 1}, external id field "${existing.externalIdField}"`,
    ]);
  }
  return {
    message: `schema definition "${definition.name}" created`,
    data: definition,
  };
};
