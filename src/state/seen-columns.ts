/** The columns that a mapping's table or query had when a run last accepted them. */
import type { Knex } from 'knex';
import type { Relation, SourceColumn } from '../domain/source.js';

export interface SeenColumns {
  /** null where none were seen yet, or those of another table or query. */
  of(mappingId: number, relation: Relation): Promise<readonly SourceColumn[] | null>;
  remember(mappingId: number, relation: Relation, columns: readonly SourceColumn[]): Promise<void>;
}

export function openSeenColumns(knex: Knex): SeenColumns {
  return {
    async of(mappingId, relation) {
      const row = await knex('seen_columns')
        .where({ mapping_id: mappingId, relation: JSON.stringify(relation) })
        .first<{ columns: SourceColumn[] } | undefined>('columns');
      return row?.columns ?? null;
    },
    async remember(mappingId, relation, columns) {
      await knex('seen_columns')
        .insert({
          mapping_id: mappingId,
          relation: JSON.stringify(relation),
          columns: JSON.stringify(columns),
          seen_at: knex.fn.now(),
        })
        .onConflict('mapping_id')
        .merge();
    },
  };
}
