/** Takes back the claim of batches that were certainly not sent. */
import type { Knex } from 'knex';
import { inTransaction } from '../database/statements.js';
import { readRecords } from '../record-index/index.js';
import { isChangedBy } from '../runs/guards.js';
import type { AcquiredPartition } from '../runs/partitions.js';
import type { IntendedBatch } from './batch-intents.js';
import { closedColumns } from './close-batches.js';

/**
 * Closes the intents that are still open, and frees their records.
 *
 * @param guarded whether the guard has counted what the batches would have changed: this is taken back too
 */
export async function releaseIntents(
  knex: Knex,
  { runId, mappingId }: AcquiredPartition,
  batches: readonly IntendedBatch[],
  guarded: boolean,
): Promise<void> {
  const ids = batches.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return;
  await inTransaction(knex, async (trx) => {
    // A successor that has recovered such a batch meanwhile has closed it: then there is nothing to do.
    const closed = await trx('batches')
      .whereIn('id', ids)
      .where({ state: 'intended' })
      .update(closedColumns(trx, 'superseded'))
      .returning<{ id: string }[]>('id');
    if (!guarded) return;
    const released = new Set(closed.map(({ id }) => id));
    const unsent = batches.filter(({ id }) => id !== null && released.has(id));
    const changed = await countChanged(trx, mappingId, Number(runId), unsent);
    if (changed > 0) await trx('guards').where({ run_id: runId, mapping_id: mappingId }).decrement('changed', changed);
  });
}

/**
 * How many records of the batches their claim found to be changes. The record index still tells: while a record is in an
 * open batch, nobody writes another outcome of it.
 */
async function countChanged(
  trx: Knex,
  mappingId: number,
  runId: number,
  batches: readonly IntendedBatch[],
): Promise<number> {
  const keys = {
    tenantIds: batches.flatMap(({ tenantId, records }) => new Array<number>(records.length).fill(tenantId)),
    externalIds: batches.flatMap(({ records }) => records.externalIds),
  };
  let changed = 0;
  await readRecords(trx, mappingId, keys, (_, entry) => {
    if (isChangedBy(runId, entry)) changed++;
  });
  return changed;
}
