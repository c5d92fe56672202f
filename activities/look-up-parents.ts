/**
 * What the ledger and the source know of the parents that children miss, and of their own parents, up to the eldest.
 * Looked up level by level, so that a hundred children cost as many queries as one.
 */
import { isParentCode } from '../src/domain/parent.js';
import type { MappedRecord } from '../src/domain/record.js';
import type { OpenMapping } from './dependencies.js';
import { findRows } from './find-rows.js';
import type { ParentFate, ParentGraph, ParentNode } from './parent-graph.js';
import { deliveredParents, parentKey, parentMappings, parentsOf, type MissedParent } from './parents.js';
import type { UploadScope } from './upload-batch.js';

/** Rows that are looked up in one query. */
const AT_ONCE = 500;

export async function lookUpParents(scope: UploadScope, missed: readonly MissedParent[]): Promise<ParentGraph> {
  const nodes = new Map<string, ParentNode>();
  const before = await scope.deps.ledger.stamp();
  let level = await newNodes(scope, scope.mapping, missed, nodes);
  while (level.length > 0) {
    scope.signal.throwIfAborted();
    const next: ParentNode[] = [];
    const add = async (node: ParentNode, elders: readonly MissedParent[], needed: readonly MissedParent[]) => {
      node.elders = elders.map(parentKey);
      node.needs = needed.map(parentKey);
      next.push(...(await newNodes(scope, node.mapping!, elders, nodes)));
    };
    const there = await deliveredParents(
      scope,
      level.map((node) => node.parent),
    );
    for (const node of level)
      node.fate = there.has(parentKey(node.parent)) ? 'there' : node.candidates.length === 0 ? 'unknown' : null;
    for (let turn = 0; level.some((node) => isOpen(node) && turn < node.candidates.length); turn++)
      for (const [mapping, same] of byMapping(level, turn)) await lookUp(scope, mapping, same, add);
    level = next;
  }
  const after = await scope.deps.ledger.stamp();
  return { nodes, before, after };
}

type Add = (node: ParentNode, elders: readonly MissedParent[], needed: readonly MissedParent[]) => Promise<void>;

/** First among the records that wait, then in the source. */
async function lookUp(scope: UploadScope, mapping: OpenMapping, nodes: readonly ParentNode[], add: Add): Promise<void> {
  const { catalog, waiting } = scope.deps.ledger;
  const tenantIds = await catalog.tenantIds([...new Set(nodes.map((n) => n.parent.tenant))]);
  const keyOf = ({ parent }: ParentNode) => ({
    tenantId: tenantIds.get(parent.tenant)!,
    externalId: parent.externalId,
  });
  const rows = await waiting.among(mapping.mappingId, nodes.map(keyOf));
  const unsent: ParentNode[] = [];
  for (const node of nodes) {
    const { tenantId, externalId } = keyOf(node);
    const row = rows.get(`${tenantId}/${externalId}`);
    if (row === undefined) {
      unsent.push(node);
      continue;
    }
    decide(node, mapping, isParentCode(row.reason) ? 'parent_rejected' : 'coming');
    const elders = row.missing.map((name) => ({ ...name, field: '', tenant: node.parent.tenant }));
    if (node.fate === 'coming') await add(node, elders, elders);
  }
  for (let i = 0; i < unsent.length; i += AT_ONCE) {
    const some = unsent.slice(i, i + AT_ONCE);
    const found = await findRows(
      scope.sync,
      mapping,
      some.map((n) => n.parent.externalId),
    );
    for (const node of some) {
      const rowsOfId = found.results.filter((r) => r.externalId === node.parent.externalId);
      const own = rowsOfId.filter((r) => r.tenant === node.parent.tenant || r.tenant === null);
      // A deleted row is no parent.
      const record = own.find((r): r is MappedRecord => r.kind === 'record' && r.deletion === undefined);
      if (record === undefined) {
        decide(node, mapping, whyNot(mapping, rowsOfId.length, own.length, found.certain));
        continue;
      }
      decide(node, mapping, null);
      node.record = record;
      const elders = parentsOf(mapping, record);
      // What leads in a circle is left out at first, so that nothing is in the way of the rest.
      await add(
        node,
        elders,
        elders.filter(({ field }) => !mapping.deferred.has(field)),
      );
    }
  }
}

/** What one of several mappings says counts if it is a better word than that of those before it. */
function decide(node: ParentNode, mapping: OpenMapping, fate: ParentFate | null): void {
  const isBetter = fate === null || fate === 'coming' || (fate === 'unknown' && node.fate !== null);
  if (node.fate !== null && !isBetter) return;
  node.fate = fate;
  node.mapping = mapping;
}

/** Whether another mapping may still say something better. */
const isOpen = ({ fate, record }: ParentNode): boolean =>
  record === null && (fate === null || fate === 'unknown' || isParentCode(fate));

function whyNot(mapping: OpenMapping, rows: number, own: number, certain: boolean): ParentFate {
  if (own > 0) return 'parent_rejected';
  if (rows > 0) return 'parent_in_other_tenant';
  if (!certain) return 'unknown';
  // What a query leaves out is not seen here; a table is seen whole.
  return 'query' in mapping.spec.relation ? 'parent_filtered' : 'parent_missing';
}

/** @param child the mapping that refers to them */
async function newNodes(
  { sync }: UploadScope,
  child: OpenMapping,
  parents: readonly MissedParent[],
  nodes: Map<string, ParentNode>,
): Promise<ParentNode[]> {
  const added: ParentNode[] = [];
  for (const parent of parents) {
    if (nodes.has(parentKey(parent))) continue;
    const candidates = await parentMappings({ sync, mapping: child }, parent.schemaName);
    const node: ParentNode = { parent, candidates, mapping: null, fate: null, record: null, elders: [], needs: [] };
    nodes.set(parentKey(parent), node);
    added.push(node);
  }
  return added;
}

/** Those that are still open, by the mapping whose turn it is. */
function byMapping(nodes: readonly ParentNode[], turn: number): Map<OpenMapping, ParentNode[]> {
  const groups = new Map<OpenMapping, ParentNode[]>();
  for (const node of nodes) {
    const mapping = node.candidates[turn];
    if (mapping === undefined || !isOpen(node)) continue;
    const same = groups.get(mapping);
    if (same === undefined) groups.set(mapping, [node]);
    else same.push(node);
  }
  return groups;
}
