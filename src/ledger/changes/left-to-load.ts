/** What a load that was stopped has left: the next run that reads changed rows goes on with it. */
import type { Knex } from 'knex';
import type { KeyRange, SourceKey } from '../../domain/source/source.js';

/** The rows of a mapping that the earlier run has not read, or that have no outcome. */
export interface LeftToLoad {
  readonly ranges: readonly KeyRange[];
  /** About how many rows they have; null if nobody knows. */
  readonly expectedRows: number | null;
}

/**
 * In the transaction that plans their partitions: from now on, run `runId` loads the mapping. What has changed in rows that the earlier
 * run has read, or was deleted, the feed has named.
 *
 * null if there is nothing to go on with: no run has begun to load the mapping since its feed began, the one that has is working,
 * or was forgotten, or its files differ from those of `runId`.
 */
export async function takeLeftToLoad(trx: Knex, mappingId: number, runId: string): Promise<LeftToLoad | null> {
  await trx('fed_mappings').where({ mapping_id: mappingId }).forUpdate().select('mapping_id');
  const { rows } = await trx.raw<{ rows: PartitionLeft[] }>(
    `SELECT coalesce(p.resume_key, p.after_key) AS after, p.through_key AS through, p.done,
       sum(p.expected_rows) OVER ()::float8 AS expected,
       sum((SELECT sum(read) FROM partition_counts WHERE partition_id = p.id)) OVER ()::float8 AS read
     FROM fed_mappings m JOIN runs earlier ON earlier.id = m.load_run_id AND earlier.ended_at IS NOT NULL
       JOIN runs own ON own.id = :runId AND own.mapping_version = earlier.mapping_version
       JOIN partitions p ON p.run_id = earlier.id AND p.mapping_id = m.mapping_id AND p.kind = 'planned'
     WHERE m.mapping_id = :mappingId AND NOT m.loaded
     ORDER BY p.no`,
    { mappingId, runId },
  );
  const ranges = rows.filter(({ done }) => !done).map(({ after, through }) => ({ after, through }));
  if (ranges.length === 0) return null;
  await trx('fed_mappings').where({ mapping_id: mappingId }).update({ load_run_id: runId, trusted_run_id: runId });
  const { expected, read } = rows[0]!;
  return { ranges, expectedRows: expected === null ? null : Math.max(0, expected - (read ?? 0)) };
}

interface PartitionLeft {
  after: SourceKey | null;
  through: SourceKey | null;
  done: boolean;
  expected: number | null;
  read: number | null;
}
