/**
 * Finds out whether the parents that children lack will come, and delivers those that the source has, each after its
 * own parents. A record that needs a parent that will not come is not delivered either.
 */
import { rowOutcomesOf } from '../../ledger/outcomes/row-outcomes.js';
import { recordKey } from '../../ledger/record-key.js';
import { withResults } from '../../reading/chunk.js';
import { deliverRows } from '../chunk/deliver-rows.js';
import { acquirePartition, type PartitionContext } from '../partition-context.js';
import type { OpenMapping } from '../dependencies.js';
import { lookUpParents } from '../parents/look-up-parents.js';
import {
  blockChildren,
  generations,
  type ParentGraph,
  type ParentNode,
  type ParentStatus,
} from '../parents/parent-graph.js';
import { deliveredParents, parentKey, type ParentReference } from '../parents/parents.js';

/** Most records that are claimed and delivered together. */
const AT_ONCE = 5_000;

/** Returns the status of the parents, of their own parents and so on, by {@link parentKey}. */
export async function resolveParents(
  context: PartitionContext,
  missed: readonly ParentReference[],
): Promise<ReadonlyMap<string, ParentStatus>> {
  const graph = await lookUpParents(context, missed);
  blockChildren(graph);
  for (const generation of generations(graph)) {
    for (const mapping of new Set(generation.map((node) => node.mapping!))) {
      // Those whose parent was just rejected, in the generation before, are blocked by now.
      const same = generation.filter((node) => node.mapping === mapping && node.status === null);
      for (let i = 0; i < same.length; i += AT_ONCE)
        await deliverNodes(context, mapping, same.slice(i, i + AT_ONCE), graph);
    }
    blockChildren(graph);
  }
  return new Map([...graph.nodes].map(([key, { status }]) => [key, status ?? 'unknown']));
}

async function deliverNodes(
  child: PartitionContext,
  mapping: OpenMapping,
  nodes: readonly ParentNode[],
  { readSeqStart, readSeqEnd }: ParentGraph,
): Promise<void> {
  const { ledger } = child.deps;
  const context = await contextOf(child, mapping);
  const records = new Set(nodes.map((node) => node.record!));
  const chunk = withResults({ readSeqStart, readSeqEnd }, [...records]);
  const delivery = await deliverRows(context, chunk, null);
  const parents = nodes.map((node) => node.parent);
  const delivered = await deliveredParents(context, parents);
  const tenantIds = await ledger.ids.tenantIds([...new Set(parents.map((parent) => parent.tenant))]);
  const outcomes = new Map(rowOutcomesOf(delivery).map((row) => [recordKey(row), row.outcome]));
  for (const node of nodes) {
    const { tenant, externalId } = node.parent;
    const outcome = outcomes.get(recordKey({ tenantId: tenantIds.get(tenant)!, externalId }));
    // A parent that was accepted in a first pass is there for its children, whatever became of it in the second.
    if (delivered.has(parentKey(node.parent))) node.status = 'there';
    else if (outcome === 'waiting') node.status = 'coming';
    else node.status = outcome === 'deadLettered' ? 'parent_rejected' : outcome === undefined ? 'unknown' : 'there';
  }
}

/** Acquires the run's partition for rows of the mapping that are read by their keys. */
async function contextOf(child: PartitionContext, mapping: OpenMapping): Promise<PartitionContext> {
  const { deps, sync, partition, signal } = child;
  const { runId } = partition;
  const partitionId = await deps.ledger.partitions.forRowsByKey(runId, mapping.mappingId);
  // To acquire the caller's own partition again would fence the caller off.
  if (partitionId === partition.id) return child;
  return acquirePartition(deps, { runId, sync: sync.spec.name, mapping: mapping.spec.name, partitionId }, signal);
}
