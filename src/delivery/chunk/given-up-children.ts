/**
 * Finds children that are read in order while they are queued without their parents, and whose parents will not come. They become
 * dead letters now, as they would if they were due: an incremental run reads the last rows of a table again, so that such a
 * child would be sent in each run before it is due, and waits anew.
 */
import type { FailedRow } from '../../domain/records/record.js';
import { recordKey } from '../../ledger/record-key.js';
import type { LackingParents } from '../../ledger/waiting/index.js';
import type { RecordList } from '../../records/record-list.js';
import { decideRetry } from '../parents/decide-retry.js';
import { lookUpParents } from '../parents/look-up-parents.js';
import { blockChildren, type ParentStatus } from '../parents/parent-graph.js';
import { parentKey, parentsOf } from '../parents/parents.js';
import type { PartitionContext } from '../partition-context.js';
import { keysOf } from './keys-of.js';
import { childGivenUp } from './new-dead-letters.js';

/** Returns the dead letters of such records, by the records' indexes. Costs one small query if no child is queued. */
export async function givenUpChildren(
  context: PartitionContext,
  records: RecordList,
): Promise<ReadonlyMap<number, FailedRow>> {
  const { deps, mapping, earlierChunks } = context;
  if (mapping.referenceFields.size === 0 || records.length === 0 || earlierChunks.noChildrenQueued) return new Map();
  if (!(await deps.ledger.waiting.anyLackingParents(mapping.mappingId))) {
    earlierChunks.noChildrenQueued = true;
    return new Map();
  }
  const queued = await queuedAmong(context, records);
  if (queued.size === 0) return new Map();
  const parents = new Map([...queued.keys()].map((index) => [index, parentsOf(mapping, records.at(index))]));
  const graph = await lookUpParents(context, [...parents.values()].flat());
  blockChildren(graph);
  // A parent without a status is in the source: it is delivered by itself.
  const statuses = new Map(
    [...graph.nodes].map(([key, { status }]): [string, ParentStatus] => [key, status ?? 'coming']),
  );
  const givenUp = new Map<number, FailedRow>();
  for (const [index, row] of queued) {
    const all = parents.get(index)!;
    const decision = decideRetry(row, all, statuses, mapping.spec.options.dependencyWaitTimeout);
    if (decision.kind !== 'give_up') continue;
    const missing = all.filter((parent) => statuses.get(parentKey(parent)) !== 'there');
    givenUp.set(index, childGivenUp(records.at(index), decision, missing, row.rejection));
  }
  return givenUp;
}

/** What the ledger has about those of the records that are queued without their parents, by the records' indexes. */
async function queuedAmong(
  { deps: { ledger }, mapping }: PartitionContext,
  records: RecordList,
): Promise<ReadonlyMap<number, LackingParents>> {
  const keys = await keysOf(ledger, records);
  const rows = await ledger.waiting.lackingParentsAmong(mapping.mappingId, keys);
  return new Map(
    keys.flatMap((key, index) => {
      const row = rows.get(recordKey(key));
      return row === undefined || records.deletionAt(index) !== undefined ? [] : [[index, row] as const];
    }),
  );
}
