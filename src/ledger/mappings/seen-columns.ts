/** The columns that a mapping's table or query had when a run last accepted them. */
import type { Knex } from 'knex';
import type { Relation, SourceColumn } from '../../domain/source/source.js';

/** The columns of the table or query that a mapping reads. */
export interface SeenColumnsOfMapping {
  readonly mappingId: number;
  readonly relation: Relation;
  readonly columns: readonly SourceColumn[];
}

export interface SeenColumns {
  /** null if no columns of this table or query were accepted yet. */
  of(mappingId: number, relation: Relation): Promise<readonly SourceColumn[] | null>;
  /** Replaces the columns of these mappings and the tables or queries that they belong to: of all, or of none. */
  remember(seen: readonly SeenColumnsOfMapping[]): Promise<void>;
}

export function openSeenColumns(knex: Knex): SeenColumns {
  return {
    async of(mappingId, relation) {
      const row = await knex('seen_columns')
        .where({ mapping_id: mappingId, relation: JSON.stringify(relation) })
        .first<{ columns: SourceColumn[] } | undefined>('columns');
      return row?.columns ?? null;
    },
    async remember(seen) {
      await knex('seen_columns')
        .insert(
          seen.map(({ mappingId, relation, columns }) => ({
            mapping_id: mappingId,
            relation: JSON.stringify(relation),
            columns: JSON.stringify(columns),
            seen_at: knex.fn.now(),
          })),
        )
        .onConflict('mapping_id')
        .merge();
    },
  };
}
