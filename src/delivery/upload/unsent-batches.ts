/**
 * The batches of a chunk that the platform certainly does not have. If the attempt ends before they are sent, their intents
 * are closed, so that the next attempt need not wait for them as for a POST that may have arrived.
 */
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import type { PartitionContext } from '../partition-context.js';

export class UnsentBatches {
  /** By the id of the intent; a batch without one needs nothing. */
  readonly #batches = new Map<string, IntendedBatch>();

  constructor(batches: readonly IntendedBatch[]) {
    this.#add(batches);
  }

  /** The platform has the batch, or may have it. */
  remove({ id }: IntendedBatch): void {
    if (id !== null) this.#batches.delete(id);
  }

  /** The batch was split into these parts. */
  replace({ id }: IntendedBatch, parts: readonly IntendedBatch[]): void {
    if (id !== null) this.#batches.delete(id);
    this.#add(parts);
  }

  /** Closes the intents. If the ledger cannot be told, the next attempt waits as after a crash. */
  release({ deps, partition, guard }: Pick<PartitionContext, 'deps' | 'partition' | 'guard'>): Promise<void> {
    const claim = { guarded: guard !== undefined };
    return deps.ledger.batches.release(partition, [...this.#batches.values()], claim).catch(() => undefined);
  }

  #add(batches: readonly IntendedBatch[]): void {
    for (const batch of batches) if (batch.id !== null) this.#batches.set(batch.id, batch);
  }
}
