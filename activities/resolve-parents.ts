/**
 * Looks for parents that children miss: in the ledger, then in the source by external id, through the parent's own
 * mapping. Those that are found are delivered, with their own parents before them; of the others it is said why.
 */
import type { MappedRecord } from '../src/domain/record.js';
import type { ParentCode } from '../src/domain/parent.js';
import { deliverAheadNow } from './deliver-ahead.js';
import { deliverGroup } from './deliver-group.js';
import { rowByRow } from './delivery.js';
import type { OpenMapping } from './dependencies.js';
import { findRows } from './find-rows.js';
import { takeRange } from './load-slice.js';
import { withResults } from '../src/reading/group.js';
import { parentKey, parentMapping, parentsOf, type MissedParent } from './parents.js';
import { receiptsOf } from './receipts-of.js';
import type { UploadScope } from './upload-batch.js';

/**
 * - `there`: the platform has it; `coming`: sent, and not settled yet;
 * - a code: it will not come as things are; `unknown`: nobody can tell.
 */
export type ParentFate = 'there' | 'coming' | 'unknown' | ParentCode;

/** Generations that are followed upwards; deeper ones come with the next look. */
const DEEPEST = 8;

export async function resolveParents(
  scope: UploadScope,
  missed: readonly MissedParent[],
  depth = 0,
): Promise<ReadonlyMap<string, ParentFate>> {
  const fates = new Map<string, ParentFate>();
  const bySchema = new Map<string, MissedParent[]>();
  for (const parent of missed) {
    const same = bySchema.get(parent.schemaName);
    if (same === undefined) bySchema.set(parent.schemaName, [parent]);
    else same.push(parent);
  }
  for (const [schemaName, parents] of bySchema) {
    const mapping = await parentMapping(scope, schemaName);
    if (mapping === null) for (const parent of parents) fates.set(parentKey(parent), 'unknown');
    else await resolveOf(scope, mapping, parents, depth, fates);
  }
  return fates;
}

async function resolveOf(
  scope: UploadScope,
  mapping: OpenMapping,
  parents: readonly MissedParent[],
  depth: number,
  fates: Map<string, ParentFate>,
): Promise<void> {
  const { deps, sync, range, signal } = scope;
  const receipts = await receiptsOf(deps, mapping, parents);
  const tenantIds = await deps.ledger.catalog.tenantIds([...new Set(parents.map((p) => p.tenant))]);
  const idOf = (parent: MissedParent): string => `${tenantIds.get(parent.tenant)}/${parent.externalId}`;
  const waiting = await deps.ledger.waiting.among(
    mapping.mappingId,
    parents.map((p) => ({ tenantId: tenantIds.get(p.tenant)!, externalId: p.externalId })),
  );
  const open = parents.filter((parent) => {
    const fate = receipts.has(parent) ? 'there' : waiting.has(idOf(parent)) ? 'coming' : null;
    if (fate !== null) fates.set(parentKey(parent), fate);
    return fate === null;
  });
  if (open.length === 0) return;

  const before = await deps.ledger.stamp();
  const ids = open.map((p) => p.externalId);
  const { results, certain } = await findRows(sync, mapping, ids);
  const after = await deps.ledger.stamp();
  const found: MappedRecord[] = [];
  for (const parent of open) {
    const rows = results.filter((r) => r.externalId === parent.externalId);
    const own = rows.filter((r) => r.tenant === parent.tenant || r.tenant === null);
    // A deleted row is no parent.
    const record = own.find((r): r is MappedRecord => r.kind === 'record' && r.deletion === undefined);
    if (record !== undefined) found.push(record);
    else fates.set(parentKey(parent), whyNot(mapping, rows.length, own.length, certain));
  }
  if (found.length === 0) return;

  const theirs = found.flatMap((record) => parentsOf(mapping, record));
  if (theirs.length > 0 && depth < DEEPEST) await resolveParents({ ...scope, mapping }, theirs, depth + 1);
  const { ledger } = deps;
  const rangeId = await ledger.ranges.forFollowing(range.runId, mapping.mappingId);
  const ref = { runId: range.runId, sync: sync.spec.name, mapping: mapping.spec.name, rangeId };
  const parentScope = await takeRange(deps, ref, signal);
  const group = withResults({ before, after, position: null }, [...new Set(found)]);
  await deliverAheadNow(parentScope, group);
  const delivery = rowByRow(await deliverGroup(parentScope, group));
  await ledger.checkpoint(parentScope.range, {
    ...delivery,
    reading: { kind: 'first', before, after },
    readTwice: group.records.length - delivery.ends.length,
    position: null,
    done: false,
  });
  const ends = new Map(delivery.ends.map((end) => [`${end.tenantId}/${end.externalId}`, end.column]));
  for (const parent of open) {
    const end = ends.get(idOf(parent));
    if (end === undefined || fates.has(parentKey(parent))) continue;
    fates.set(parentKey(parent), end === 'waiting' ? 'coming' : end === 'deadLettered' ? 'parent_rejected' : 'there');
  }
  // A parent that waits has a parent of its own that is missing: all come at once, the eldest last.
  const elders = delivery.waiting.flatMap(({ tenantId, missing }) => {
    const tenant = [...tenantIds].find(([, id]) => id === tenantId)?.[0];
    return tenant === undefined ? [] : missing.map((m) => ({ ...m, field: '', tenant }));
  });
  if (elders.length > 0 && depth < DEEPEST) await resolveParents(parentScope, elders, depth + 1);
}

function whyNot(mapping: OpenMapping, rows: number, own: number, certain: boolean): ParentFate {
  if (own > 0) return 'parent_rejected';
  if (rows > 0) return 'parent_in_other_tenant';
  if (!certain) return 'unknown';
  // What a query leaves out is not seen here; a table is seen whole.
  return 'query' in mapping.spec.relation ? 'parent_filtered' : 'parent_missing';
}
