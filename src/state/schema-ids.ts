/** Ids that the platform gave our schema definitions: it has no call to look them up again. */
import type { Knex } from 'knex';
import type { JsonObject } from '../domain/json.js';

export interface PushedSchema {
  readonly name: string;
  readonly platformId: string;
  /** Empty where the platform had the name before us: then its content is not known. */
  readonly definitionHash: string;
  /** What was pushed; null where it is not known. */
  readonly definition: JsonObject | null;
}

export interface SchemaIds {
  pushed(platform: string): Promise<ReadonlyMap<string, PushedSchema>>;
  remember(platform: string, schema: PushedSchema): Promise<void>;
}

export function openSchemaIds(knex: Knex): SchemaIds {
  return {
    async pushed(platform) {
      const rows = await knex('schema_definitions')
        .where({ platform })
        .select<{ name: string; platform_id: string; definition_hash: string; definition: JsonObject | null }[]>();
      return new Map(
        rows.map(({ name, platform_id: platformId, definition_hash: definitionHash, definition }) => [
          name,
          { name, platformId, definitionHash, definition },
        ]),
      );
    },
    async remember(platform, schema) {
      await knex('schema_definitions')
        .insert({
          platform,
          name: schema.name,
          platform_id: schema.platformId,
          definition_hash: schema.definitionHash,
          definition: schema.definition === null ? null : JSON.stringify(schema.definition),
        })
        .onConflict(['platform', 'name'])
        .merge();
    },
  };
}
