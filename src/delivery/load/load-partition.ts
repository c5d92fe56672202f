/** Loads a partition for one time slice: reads from its resume point on, delivers chunks, writes checkpoints. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { TimeSliceResult, PartitionRef } from '../../domain/run/work.js';
import { workOf } from '../../ledger/runs/partitions.js';
import { lookUpOf, type ExternalIdLookUp } from '../../mapping/compile/external-id-look-up.js';
import { readChunkByValues } from '../../reading/read-chunk-by-values.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';
import type { Dependencies, OpenMapping } from '../dependencies.js';
import { chunksOf, type PartitionContext } from '../partition-context.js';
import { chunksOfChangedRows } from './changed-rows.js';
import { deliverChunks } from './deliver-chunks.js';
import type { NextChunk } from './next-chunk.js';
import { runTimeSlice } from './run-time-slice.js';

/**
 * The workflow starts the activity again, for another time slice, until it returns `done`.
 *
 * @param rowsDone called with the rows of each chunk that is in the ledger
 * @throws PartnerSyncError `input_invalid` if a backfill names external ids and the source cannot be searched by them
 */
export const loadPartition = (
  deps: Dependencies,
  ref: PartitionRef,
  signal: AbortSignal,
  rowsDone?: (rows: number) => void,
): Promise<TimeSliceResult> =>
  runTimeSlice(deps, ref, signal, (context, shouldContinue) =>
    deliverChunks(context, nextChunks(context), shouldContinue, rowsDone),
  );

async function* nextChunks(context: PartitionContext): AsyncGenerator<NextChunk> {
  const { kind } = context.partition.work;
  if (kind === 'external_ids') yield* chunksOfIds(context);
  else if (kind === 'changed_rows') yield* chunksOfChangedRows(context, workOf(context.partition, 'changed_rows'));
  else for await (const chunk of chunksOf(context)) yield { chunk, resumePoint: { kind: 'row', row: chunk.position } };
}

/** Reads the rows of a backfill's external ids. */
async function* chunksOfIds({ deps, sync, mapping, partition }: PartitionContext): AsyncGenerator<NextChunk> {
  const { externalIds, done } = workOf(partition, 'external_ids');
  const { columns, values } = idLookUp(mapping);
  for (let from = done; from < externalIds.length; from += LOOK_UP_ROWS) {
    const ids = [...new Set(externalIds.slice(from, from + LOOK_UP_ROWS))].flatMap(values);
    const chunk = await readChunkByValues(deps.ledger, sync, mapping, columns, ids);
    yield { chunk, resumePoint: { kind: 'external_ids', done: from + LOOK_UP_ROWS } };
  }
}

/** How rows are found by external ids, which must be the plain values of one column. */
function idLookUp({ spec }: OpenMapping): ExternalIdLookUp {
  const how = spec.fields.get(spec.schema.externalIdField)?.kind === 'column' ? lookUpOf(spec) : null;
  if (how?.certain === true) return how;
  throw new PartnerSyncError(
    'input_invalid',
    `mapping ${spec.name} builds its external id from a template or transforms, so rows cannot be found by it; use "from" and "to"`,
  );
}
