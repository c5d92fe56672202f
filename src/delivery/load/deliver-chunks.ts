/** Delivers the chunks of a partition side by side, and writes their checkpoints in order. */
import type { CheckpointInput } from '../../ledger/checkpoint/checkpoint-input.js';
import { rowsIn } from '../../reading/chunk.js';
import { countedCheckpointOf } from '../chunk/deliver-chunk.js';
import { deliverFirstPassOfRows } from '../chunk/deliver-rows.js';
import { firstPassCheckpointOf } from '../chunk/first-pass.js';
import type { PartitionContext } from '../partition-context.js';
import { writeCheckpoint } from '../write-checkpoint.js';
import { chunksInOrder } from './chunks-in-order.js';
import type { NextChunk } from './next-chunk.js';

/**
 * Reads no further chunk once `shouldContinue` returns false.
 *
 * @param rowsDone called with the rows of each chunk that is in the ledger
 * @returns whether all chunks were delivered
 * @throws GuardExceeded if a chunk would exceed a limit of the sync's guard
 */
export function deliverChunks(
  context: PartitionContext,
  chunks: AsyncGenerator<NextChunk>,
  shouldContinue: () => boolean,
  rowsDone?: (rows: number) => void,
): Promise<boolean> {
  const { mapping, partition, sync, signal } = context;
  const guarded: PartitionContext = { ...context, guard: sync.spec.guard ?? undefined };
  return chunksInOrder(chunks, shouldContinue, {
    acquireSlot: () => mapping.chunkSlots.acquire(partition.work.kind, signal),
    deliver: ({ chunk, resumePoint }) =>
      mapping.meter.delivering<CheckpointInput>(rowsIn(chunk), async () => {
        if (partition.firstPass) return firstPassCheckpointOf(context, chunk, resumePoint);
        if (resumePoint.kind === 'changed_rows') await deliverFirstPassOfRows(context, chunk);
        return countedCheckpointOf(guarded, chunk, resumePoint);
      }),
    async finish({ chunk }, checkpoint) {
      await writeCheckpoint(context, checkpoint);
      rowsDone?.(rowsIn(chunk));
    },
  });
}
