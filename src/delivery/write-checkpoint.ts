/** Writes checkpoints, and with each what the attempt has done since the one before. */
import type { CheckpointInput } from '../ledger/checkpoint/checkpoint-input.js';
import type { PartitionContext } from './partition-context.js';

type Context = Pick<PartitionContext, 'deps' | 'partition' | 'effort'>;

/** Throws `fenced_off` if another attempt has taken the partition over. */
export const writeCheckpoint = ({ deps, partition, effort }: Context, input: CheckpointInput): Promise<void> =>
  // How long this checkpoint takes is written by the next one.
  effort.measure('ledgerMs', () => deps.ledger.checkpoint(partition, input, effort.take()));

/**
 * Runs the work of an attempt, and writes what it has done since its last checkpoint, even if it fails: how requests fail
 * during an outage is what people want to see. If that cannot be written, it is lost, and nothing else.
 */
export async function recordingEffort<T>({ deps, partition, effort }: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    const left = effort.take();
    if (left.requests.length > 0) await deps.ledger.recordEffort(partition, left).catch(() => undefined);
  }
}
