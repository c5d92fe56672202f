/** Carries out a removal plan: its records are marked as the mapping's `deletes` says. */
import type { SourceKey } from '../../domain/source.js';
import type { RecordPlace } from '../../ledger/record-key.js';
import type { OpenPlan } from '../../ledger/removals.js';
import { withResults } from '../../reading/chunk.js';
import { deliverScan } from '../chunk/deliver-rows.js';
import type { PartitionContext } from '../partition-context.js';
import { vanishedAmong } from './find-vanished.js';
import { removalOf } from './removal-record.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';

/**
 * Sends the plan's records from the partition's resume point on, while `goesOn` returns true.
 *
 * @returns whether the end of the plan is reached; the ledger knows it by then
 */
export async function carryOutPlan(context: PartitionContext, plan: OpenPlan, goesOn: () => boolean): Promise<boolean> {
  const { sync, mapping, partition } = context;
  const { ledger } = context.deps;
  let after = placeAt(partition.bounds.after?.key);
  while (goesOn()) {
    const planned = await ledger.removals.page(plan.id, after, LOOK_UP_ROWS);
    const last = planned.at(-1);
    if (last === undefined) {
      await ledger.partitions.finish(partition);
      return true;
    }
    const readSeqStart = await ledger.nextReadSeq();
    // A row may have come back since the plan was made.
    const gone = await vanishedAmong(sync, mapping, planned);
    const position = { cursor: null, key: [String(last.tenantId), last.externalId] };
    const removed = gone.map((record) => removalOf(mapping, record));
    const chunk = withResults({ readSeqStart, readSeqEnd: await ledger.nextReadSeq(), position }, removed);
    await ledger.checkpoint(partition, await deliverScan(context, chunk));
    after = last;
  }
  return false;
}

/** The resume point of such a partition is the tenant and external id of the last record that is done. */
const placeAt = (key: SourceKey | undefined): RecordPlace | null =>
  key === undefined ? null : { tenantId: Number(key[0]), externalId: key[1]! };
