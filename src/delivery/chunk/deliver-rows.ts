/** Delivers rows that were read by their keys, for the first time in their run. */
import type { ChunkResult } from '../../ledger/checkpoint/checkpoint-input.js';
import type { ResumePoint } from '../../ledger/runs/resume-point.js';
import type { Chunk } from '../../reading/chunk.js';
import type { PartitionContext } from '../partition-context.js';
import { deliverScan } from './deliver-chunk.js';
import { deliverFirstPassOfRows } from './first-pass.js';

/**
 * Delivers the rows, in two passes if references form a circle, and writes their checkpoint.
 *
 * @param resumePoint of the partition, once they are done; null leaves it as it is
 */
export async function deliverAndCheckpoint(
  context: PartitionContext,
  chunk: Chunk,
  resumePoint: ResumePoint | null,
): Promise<ChunkResult> {
  await deliverFirstPassOfRows(context, chunk);
  const checkpoint = await deliverScan(context, chunk, resumePoint);
  await context.deps.ledger.checkpoint(context.partition, checkpoint);
  return checkpoint.result;
}
