/** Ids that the platform gave our schema definitions: it has no call to look them up again. */
import type { Knex } from 'knex';

export interface PushedSchema {
  readonly name: string;
  readonly platformId: string;
  readonly definitionHash: string;
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
        .select<{ name: string; platform_id: string; definition_hash: string }[]>();
      return new Map(
        rows.map((r) => [r.name, { name: r.name, platformId: r.platform_id, definitionHash: r.definition_hash }]),
      );
    },
    async remember(platform, schema) {
      await knex('schema_definitions')
        .insert({ platform, name: schema.name, platform_id: schema.platformId, definition_hash: schema.definitionHash })
        .onConflict(['platform', 'name'])
        .merge();
    },
  };
}
