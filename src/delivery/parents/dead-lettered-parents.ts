/** Finds parents that are dead letters themselves, so that their children need not be sent. */
import type { FailedRowList } from '../../records/failed-row-list.js';
import {
  acceptedParents,
  distinctParents,
  onPlatform,
  parentKey,
  parentMappings,
  type ParentReference,
} from './parents.js';
import { recordKey } from '../../ledger/record-key.js';
import type { PartitionContext } from '../partition-context.js';
import { nameOf } from '../without-row.js';

/**
 * Most parents that the platform is asked for before their children are given up; if there are more, the children are
 * sent.
 */
const MOST_ASKED = 500;

/**
 * {@link parentKey}s of the parents that are dead letters and not on the platform.
 *
 * @param failedRows rows of the chunk that could not be mapped
 */
export async function deadLetteredParents(
  context: PartitionContext,
  parents: readonly ParentReference[],
  failedRows: FailedRowList,
): Promise<ReadonlySet<string>> {
  const { deps, mapping } = context;
  const distinct = distinctParents(parents);
  const tenantIds = await deps.ledger.ids.tenantIds([...new Set(distinct.map((p) => p.tenant))]);
  const dead: ParentReference[] = [];
  for (const schemaName of new Set(distinct.map((p) => p.schemaName))) {
    const same = distinct.filter((p) => p.schemaName === schemaName);
    const [parent, ...others] = await parentMappings(context, schemaName);
    // A dead letter of one mapping may be delivered by another.
    if (parent === undefined || others.length > 0) continue;
    const keys = same.map((p) => ({ tenantId: tenantIds.get(p.tenant)!, externalId: p.externalId }));
    const deadLetters = await deps.ledger.deadLetters.among(parent.mappingId, keys);
    const now = new Set(
      parent.mappingId === mapping.mappingId ? [...failedRows].map((row) => nameOf(row.tenant, row.externalId)) : [],
    );
    same.forEach((p, i) => {
      if (deadLetters.has(recordKey(keys[i]!)) || now.has(nameOf(p.tenant, p.externalId))) dead.push(p);
    });
  }
  if (dead.length === 0) return new Set();
  return surelyAbsent(context, dead);
}

/**
 * {@link parentKey}s of the parents that were neither delivered nor reached the platform by some other way; none if
 * there are too many to ask for.
 */
export async function surelyAbsent(
  context: PartitionContext,
  parents: readonly ParentReference[],
): Promise<ReadonlySet<string>> {
  const distinct = new Map(parents.map((parent) => [parentKey(parent), parent]));
  if (distinct.size === 0) return new Set();
  for (const parent of await acceptedParents(context, [...distinct.values()])) distinct.delete(parentKey(parent));
  if (distinct.size > MOST_ASKED) return new Set();
  for (const parent of await onPlatform(context, [...distinct.values()])) distinct.delete(parentKey(parent));
  return new Set(distinct.keys());
}
