/**
 * Finds out of parents that children miss whether they will come, and delivers those that the source has, with their own
 * parents before them. What needs a parent that will not come does not come either.
 */
import { withResults } from '../src/reading/group.js';
import { deliverAheadNow } from './deliver-ahead.js';
import { deliverGroup } from './deliver-group.js';
import { rowByRow } from './delivery.js';
import type { OpenMapping } from './dependencies.js';
import { takeRange } from './load-slice.js';
import { lookUpParents } from './look-up-parents.js';
import { blockChildren, generations, type ParentFate, type ParentGraph, type ParentNode } from './parent-graph.js';
import { deliveredParents, parentKey, type MissedParent } from './parents.js';
import type { UploadScope } from './upload-batch.js';

/** Records that are claimed and settled together. */
const AT_ONCE = 5_000;

/** Fates by {@link parentKey}, of the parents and of those on the way to them. */
export async function resolveParents(
  scope: UploadScope,
  missed: readonly MissedParent[],
): Promise<ReadonlyMap<string, ParentFate>> {
  const graph = await lookUpParents(scope, missed);
  blockChildren(graph);
  for (const generation of generations(graph)) {
    for (const mapping of new Set(generation.map((node) => node.mapping!))) {
      // One of an elder generation may just have been refused.
      const same = generation.filter((node) => node.mapping === mapping && node.fate === null);
      for (let i = 0; i < same.length; i += AT_ONCE)
        await deliverNodes(scope, mapping, same.slice(i, i + AT_ONCE), graph);
    }
    blockChildren(graph);
  }
  return new Map([...graph.nodes].map(([key, { fate }]) => [key, fate ?? 'unknown']));
}

async function deliverNodes(
  child: UploadScope,
  mapping: OpenMapping,
  nodes: readonly ParentNode[],
  { before, after }: ParentGraph,
): Promise<void> {
  const { deps, sync, range, signal } = child;
  const { ledger } = deps;
  const rangeId = await ledger.ranges.forFollowing(range.runId, mapping.mappingId);
  const ref = { runId: range.runId, sync: sync.spec.name, mapping: mapping.spec.name, rangeId };
  // Taken twice, the range would fence off the one who follows it.
  const scope = rangeId === range.id ? child : await takeRange(deps, ref, signal);
  const group = withResults({ before, after, position: null }, [...new Set(nodes.map((node) => node.record!))]);
  await deliverAheadNow(scope, group);
  const delivery = rowByRow(await deliverGroup(scope, group));
  await ledger.checkpoint(scope.range, {
    ...delivery,
    reading: { kind: 'first', before, after },
    readTwice: group.records.length - delivery.ends.length,
    position: null,
    done: false,
  });
  const there = await deliveredParents(
    scope,
    nodes.map((node) => node.parent),
  );
  const tenantIds = await ledger.catalog.tenantIds([...new Set(nodes.map((node) => node.parent.tenant))]);
  const ends = new Map(delivery.ends.map((end) => [`${end.tenantId}/${end.externalId}`, end.column]));
  for (const node of nodes) {
    const end = ends.get(`${tenantIds.get(node.parent.tenant)!}/${node.parent.externalId}`);
    // Sent ahead without what leads in a circle, it is there for its children, whatever becomes of the rest.
    if (there.has(parentKey(node.parent))) node.fate = 'there';
    else if (end === 'waiting') node.fate = 'coming';
    else node.fate = end === 'deadLettered' ? 'parent_rejected' : end === undefined ? 'unknown' : 'there';
  }
}
