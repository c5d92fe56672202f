/**
 * Looks up what the ledger and the source know about the parents that children lack, about the parents of these, and so
 * on. Each generation is looked up as a whole, so that a hundred children cost as many queries as one.
 */
import { groupBy } from '../../domain/values/group-by.js';
import { isParentCode } from '../../domain/records/parent.js';
import type { MappedRecord } from '../../domain/records/record.js';
import { recordKey } from '../../ledger/record-key.js';
import type { OpenMapping } from '../dependencies.js';
import { findRows } from '../../reading/find-rows.js';
import type { ParentStatus, ParentGraph, ParentNode } from './parent-graph.js';
import { deliveredParents, parentKey, parentMappings, parentsOf, type ParentReference } from './parents.js';
import type { PartitionContext } from '../partition-context.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';

/** Delivers nothing: a parent that is found in the source has its record and no status yet. */
export async function lookUpParents(
  context: PartitionContext,
  missed: readonly ParentReference[],
): Promise<ParentGraph> {
  const nodes = new Map<string, ParentNode>();
  const readSeqStart = await context.deps.ledger.nextReadSeq();
  let level = await newNodes(context, context.mapping, missed, nodes);
  while (level.length > 0) {
    context.signal.throwIfAborted();
    const next: ParentNode[] = [];
    const add = async (node: ParentNode, parents: readonly ParentReference[], required: readonly ParentReference[]) => {
      node.ancestors = parents.map(parentKey);
      node.requiredParents = required.map(parentKey);
      next.push(...(await newNodes(context, node.mapping!, parents, nodes)));
    };
    const there = await deliveredParents(
      context,
      level.map((node) => node.parent),
    );
    for (const node of level)
      node.status = there.has(parentKey(node.parent)) ? 'there' : node.producers.length === 0 ? 'unknown' : null;
    for (let producer = 0; level.some((node) => isOpen(node) && producer < node.producers.length); producer++)
      for (const [mapping, same] of byMapping(level, producer)) await lookUp(context, mapping, same, add);
    level = next;
  }
  const readSeqEnd = await context.deps.ledger.nextReadSeq();
  return { nodes, readSeqStart, readSeqEnd };
}

/** Notes all parents of a node, and those that it requires, and adds them to the next generation. */
type Add = (
  node: ParentNode,
  parents: readonly ParentReference[],
  required: readonly ParentReference[],
) => Promise<void>;

/** Decides the nodes of one mapping by its waiting records, and the others by the rows of the source. */
async function lookUp(
  context: PartitionContext,
  mapping: OpenMapping,
  nodes: readonly ParentNode[],
  add: Add,
): Promise<void> {
  const others = await decideByLedger(context, mapping, nodes, add);
  for (let i = 0; i < others.length; i += LOOK_UP_ROWS)
    await decideBySource(context, mapping, others.slice(i, i + LOOK_UP_ROWS), add);
}

/** Decides the nodes whose records wait, and returns the others. */
async function decideByLedger(
  { deps }: PartitionContext,
  mapping: OpenMapping,
  nodes: readonly ParentNode[],
  add: Add,
): Promise<ParentNode[]> {
  const { ids, waiting } = deps.ledger;
  const tenantIds = await ids.tenantIds([...new Set(nodes.map((node) => node.parent.tenant))]);
  const keys = nodes.map(({ parent }) => ({
    tenantId: tenantIds.get(parent.tenant)!,
    externalId: parent.externalId,
  }));
  const rows = await waiting.among(mapping.mappingId, keys);
  const others: ParentNode[] = [];
  for (const [index, node] of nodes.entries()) {
    const row = rows.get(recordKey(keys[index]!));
    if (row === undefined) {
      others.push(node);
      continue;
    }
    decide(node, mapping, isParentCode(row.reason) ? 'parent_rejected' : 'coming');
    const parents = row.missing.map((name) => ({ ...name, field: '', tenant: node.parent.tenant }));
    if (node.status === 'coming') await add(node, parents, parents);
  }
  return others;
}

async function decideBySource(
  { deps, sync, partition }: PartitionContext,
  mapping: OpenMapping,
  nodes: readonly ParentNode[],
  add: Add,
): Promise<void> {
  const ids = nodes.map((node) => node.parent.externalId);
  // Before they are read: a run that is told of their deletion leaves it to this one to claim their records first.
  await deps.ledger.partitions.forRowsByKey(partition.runId, mapping.mappingId);
  const found = await findRows(sync, mapping, ids);
  for (const node of nodes) {
    const { tenant, externalId } = node.parent;
    const rows = found.results.filter((row) => row.externalId === externalId);
    const own = rows.filter((row) => row.tenant === tenant || row.tenant === null);
    // The record of a deleted row does not count as a parent.
    const record = own.find((row): row is MappedRecord => row.kind === 'record' && row.deletion === undefined);
    if (record === undefined) {
      decide(node, mapping, whyNot(mapping, rows.length, own.length, found.certain));
      continue;
    }
    decide(node, mapping, null);
    node.record = record;
    const parents = parentsOf(mapping, record);
    // A reference that is part of a cycle is left out in the first pass, so it blocks nothing.
    const required = parents.filter(({ field }) => !mapping.deferred.has(field));
    await add(node, parents, required);
  }
}

/** If several mappings may make the parent, the most hopeful status counts. */
function decide(node: ParentNode, mapping: OpenMapping, status: ParentStatus | null): void {
  const isBetter = status === null || status === 'coming' || (status === 'unknown' && node.status !== null);
  if (node.status !== null && !isBetter) return;
  node.status = status;
  node.mapping = mapping;
}

/** Whether another mapping may still give a more hopeful status. */
const isOpen = ({ status, record }: ParentNode): boolean =>
  record === null && (status === null || status === 'unknown' || isParentCode(status));

/**
 * @param rows how many rows have the external id
 * @param own how many of them may belong to the child's tenant
 */
function whyNot(mapping: OpenMapping, rows: number, own: number, certain: boolean): ParentStatus {
  if (own > 0) return 'parent_rejected';
  if (rows > 0) return 'parent_in_other_tenant';
  if (!certain) return 'unknown';
  // A query may filter the row out, a table cannot.
  return 'query' in mapping.spec.relation ? 'parent_filtered' : 'parent_missing';
}

/** Adds and returns a node for each parent that has none yet. `child`: the mapping that refers to them. */
async function newNodes(
  { sync }: PartitionContext,
  child: OpenMapping,
  parents: readonly ParentReference[],
  nodes: Map<string, ParentNode>,
): Promise<ParentNode[]> {
  const added: ParentNode[] = [];
  for (const parent of parents) {
    if (nodes.has(parentKey(parent))) continue;
    const producers = await parentMappings({ sync, mapping: child }, parent.schemaName);
    const node: ParentNode = {
      parent,
      producers,
      mapping: null,
      status: null,
      record: null,
      ancestors: [],
      requiredParents: [],
    };
    nodes.set(parentKey(parent), node);
    added.push(node);
  }
  return added;
}

/** The nodes that are still open, by the mapping that is their producer with this index. */
function byMapping(nodes: readonly ParentNode[], producer: number): Map<OpenMapping, ParentNode[]> {
  const open = nodes.filter((node) => node.producers[producer] !== undefined && isOpen(node));
  return groupBy(open, (node) => node.producers[producer]!);
}
