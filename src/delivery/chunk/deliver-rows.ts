/** Delivers chunks whose rows are read for the first time in their run, so that they are counted in the partition. */
import type { ChunkResult, ScanCheckpoint } from '../../ledger/checkpoint/checkpoint-input.js';
import { rowsIn, type Chunk } from '../../reading/chunk.js';
import { deliverChunk } from './deliver-chunk.js';
import type { PartitionContext } from '../partition-context.js';
import { deliverFirstPassOfRows } from './first-pass.js';

/** Delivers the chunk, and returns its checkpoint, whose resume point is the chunk's last row. */
export async function deliverScan(context: PartitionContext, chunk: Chunk): Promise<ScanCheckpoint> {
  const result = await deliverChunk(context, chunk);
  return { kind: 'scan', readSeqs: chunk, rowsRead: rowsIn(chunk), result, resumePoint: chunk.position };
}

/** Delivers rows that were read by their keys, in two passes if references form a circle, and writes their checkpoint. */
export async function deliverAndCheckpoint(context: PartitionContext, chunk: Chunk): Promise<ChunkResult> {
  await deliverFirstPassOfRows(context, chunk);
  const checkpoint = await deliverScan(context, chunk);
  await context.deps.ledger.checkpoint(context.partition, checkpoint);
  return checkpoint.result;
}
