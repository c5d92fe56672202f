/** Carries out a removal plan: its records are marked as the mapping's `deletes` says. */
import type { OpenPlan } from '../../ledger/removals.js';
import { workOf } from '../../ledger/runs/partitions.js';
import { withResults } from '../../reading/chunk.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';
import { countedCheckpointOf } from '../chunk/deliver-chunk.js';
import { goneRecords } from '../gone-records.js';
import type { PartitionContext } from '../partition-context.js';
import { removalOf } from '../removal-record.js';
import { writeCheckpoint } from '../write-checkpoint.js';

/**
 * Sends the plan's records from the partition's resume point on, while `shouldContinue` returns true.
 *
 * @returns whether the end of the plan is reached
 */
export async function carryOutPlan(
  context: PartitionContext,
  plan: OpenPlan,
  shouldContinue: () => boolean,
): Promise<boolean> {
  const { sync, mapping, partition } = context;
  const { ledger } = context.deps;
  let { after } = workOf(partition, 'removals');
  while (shouldContinue()) {
    const planned = await ledger.removals.page(plan.id, after, LOOK_UP_ROWS);
    const last = planned.at(-1);
    if (last === undefined) return true;
    const readSeqStart = await ledger.nextReadSeq();
    // A row may have come back since the plan was made, here or in another mapping, or one that cannot be mapped and may be it.
    const { vanished, uncertain } = await goneRecords(context.deps, sync, mapping, planned);
    if (uncertain.length > 0) await ledger.changedRows.keepRowsOfPlan(mapping.mappingId, plan.id);
    const removed = vanished.map((record) => removalOf(mapping, record));
    const chunk = withResults({ readSeqStart, readSeqEnd: await ledger.nextReadSeq() }, removed);
    await writeCheckpoint(context, await countedCheckpointOf(context, chunk, { kind: 'record', place: last }));
    after = last;
  }
  return false;
}
