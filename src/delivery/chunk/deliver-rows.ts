/** Delivers a chunk whose rows are read for the first time, so that they are added to the counts of the partition. */
import { rowsWithOutcome, type CheckpointInput } from '../../ledger/checkpoint-input.js';
import type { Position } from '../../domain/source.js';
import { rowsIn, type Chunk } from '../../reading/chunk.js';
import type { ChunkResult } from './chunk-result.js';
import { deliverChunk } from './deliver-chunk.js';
import type { PartitionContext } from '../partition-context.js';
import { deliverFirstPassOfRows } from './first-pass.js';

/** Delivers the chunk, and returns what its checkpoint writes, except how far it takes the partition. */
export async function deliverFirstRead(
  context: PartitionContext,
  chunk: Chunk,
): Promise<Omit<CheckpointInput, 'position' | 'done'>> {
  const delivery = await deliverChunk(context, chunk);
  return {
    ...delivery,
    reading: { kind: 'scan', readSeqStart: chunk.readSeqStart, readSeqEnd: chunk.readSeqEnd },
    readTwice: rowsIn(chunk) - rowsWithOutcome(delivery),
  };
}

/**
 * Delivers rows that were read by their keys, in two passes if references form a circle, and writes their checkpoint.
 *
 * @param position the partition's position from then on; null leaves it as it is
 */
export async function deliverAndCheckpoint(
  context: PartitionContext,
  chunk: Chunk,
  position: Position | null = null,
): Promise<ChunkResult> {
  await deliverFirstPassOfRows(context, chunk);
  const outcome = await deliverFirstRead(context, chunk);
  await context.deps.ledger.checkpoint(context.partition, { ...outcome, position, done: false });
  return outcome;
}
