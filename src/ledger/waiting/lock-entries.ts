/** The lock of those who write new waiting entries of a mapping. */
import type { Knex } from 'knex';

/** An arbitrary constant; the second number of the advisory lock is the mapping's. */
export const WAITING_LOCK = 7_160_345;

/**
 * Locks the mapping's entries against other writers until the transaction ends. Two runs that both found a record contended
 * must see each other's entries, or it would stay in the counts of one as waiting for ever.
 */
export async function lockWaitingEntries(trx: Knex, mappingId: number): Promise<void> {
  await trx.raw('SELECT pg_advisory_xact_lock(?, ?)', [WAITING_LOCK, mappingId]);
}
