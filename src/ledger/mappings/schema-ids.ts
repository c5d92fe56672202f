/** The ids that the platform gave to schema definitions, since it has no operation to look them up. */
import type { Knex } from 'knex';
import type { JsonObject } from '../../domain/values/json.js';
import type { NewAuditEntry } from '../../domain/run/audit.js';
import { writeAudit } from '../audit.js';
import { inTransaction } from '../database/statements.js';

export interface PushedSchema {
  readonly name: string;
  readonly platformId: string;
  /** Empty if the platform already had a definition of this name, whose content is not known. */
  readonly definitionHash: string;
  /** What was pushed; null if that is not known. */
  readonly definition: JsonObject | null;
}

export interface SchemaIds {
  /** The schema definitions of a platform (its base URL) by their names. */
  pushed(platform: string): Promise<ReadonlyMap<string, PushedSchema>>;
  /** Replaces what was known of the definition of this name. The audit tells who pushed it for which sync. */
  remember(platform: string, schema: PushedSchema, by: Pick<NewAuditEntry, 'sync' | 'actor'>): Promise<void>;
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
    remember: (platform, schema, { sync, actor }) =>
      inTransaction(knex, async (trx) => {
        await trx('schema_definitions')
          .insert({
            platform,
            name: schema.name,
            platform_id: schema.platformId,
            definition_hash: schema.definitionHash,
            definition: schema.definition === null ? null : JSON.stringify(schema.definition),
          })
          .onConflict(['platform', 'name'])
          .merge();
        const subject = { schema: schema.name, created: schema.definitionHash !== '' };
        await writeAudit(trx, { sync, action: 'schema_pushed', actor, subject });
      }),
  };
}
