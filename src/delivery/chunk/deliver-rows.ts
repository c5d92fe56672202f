/** Delivers rows that were read by their keys, in two passes if the mapping's references form a cycle. */
import type { ChunkResult } from '../../ledger/checkpoint/checkpoint-input.js';
import type { ResumePoint } from '../../ledger/runs/resume-point.js';
import type { Chunk } from '../../reading/chunk.js';
import type { PartitionContext } from '../partition-context.js';
import { countedCheckpointOf } from './deliver-chunk.js';
import { firstPassCheckpointOf } from './first-pass.js';
import { writeCheckpoint } from '../write-checkpoint.js';

/**
 * Delivers rows that are read for the first time in their run, and writes their checkpoint.
 *
 * @param resumePoint of the partition, once they are done; null leaves it as it is
 */
export async function deliverRows(
  context: PartitionContext,
  chunk: Chunk,
  resumePoint: ResumePoint | null,
): Promise<ChunkResult> {
  await deliverFirstPassOfRows(context, chunk);
  const checkpoint = await countedCheckpointOf(context, chunk, resumePoint);
  await writeCheckpoint(context, checkpoint);
  return checkpoint.result;
}

/** Delivers the first pass and writes its checkpoint. Does nothing if there is only one pass. */
export async function deliverFirstPassOfRows(context: PartitionContext, chunk: Chunk): Promise<void> {
  if (context.mapping.deferred.size === 0) return;
  // The rows are not done before the second pass, so the partition stays where it is.
  const checkpoint = await firstPassCheckpointOf(context, chunk, null);
  await writeCheckpoint(context, checkpoint);
}
