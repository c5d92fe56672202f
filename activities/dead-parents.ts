/** Parents that are dead letters themselves, so that their children need not be sent. */
import type { LetterList } from '../src/domain/letter-list.js';
import { onPlatform, parentKey, parentMappings, receiptedParents, type MissedParent } from './parents.js';
import type { UploadScope } from './upload-batch.js';

/** Parents that the platform is asked for before their children are given up; where there are more, it is sent what there is. */
const MOST_ASKED = 500;

/** `letters`: rows of the group that is being delivered, which cannot be mapped. */
export async function deadParents(
  scope: UploadScope,
  parents: readonly MissedParent[],
  letters: LetterList,
): Promise<ReadonlySet<string>> {
  const { deps, mapping } = scope;
  const distinct = [...new Map(parents.map((parent) => [parentKey(parent), parent])).values()];
  const tenantIds = await deps.ledger.catalog.tenantIds([...new Set(distinct.map((p) => p.tenant))]);
  const dead: MissedParent[] = [];
  for (const schemaName of new Set(distinct.map((p) => p.schemaName))) {
    const same = distinct.filter((p) => p.schemaName === schemaName);
    const [parent, ...others] = await parentMappings(scope, schemaName);
    // What is a dead letter of one mapping, another one may deliver.
    if (parent === undefined || others.length > 0) continue;
    const keys = same.map((p) => ({ tenantId: tenantIds.get(p.tenant)!, externalId: p.externalId }));
    const noted = await deps.ledger.deadLetters.among(parent.mappingId, keys);
    const now = new Set(
      parent.mappingId === mapping.mappingId ? [...letters].map((l) => idOf(l.tenant, l.externalId)) : [],
    );
    same.forEach((p, i) => {
      if (noted.has(`${keys[i]!.tenantId}/${p.externalId}`) || now.has(idOf(p.tenant, p.externalId))) dead.push(p);
    });
  }
  if (dead.length === 0) return new Set();
  return surelyAbsent(scope, dead);
}

/** Those of the parents that were never delivered, nor are on the platform by some other way; none where they are too many. */
export async function surelyAbsent(scope: UploadScope, parents: readonly MissedParent[]): Promise<ReadonlySet<string>> {
  const distinct = new Map(parents.map((parent) => [parentKey(parent), parent]));
  if (distinct.size === 0) return new Set();
  for (const parent of await receiptedParents(scope, [...distinct.values()])) distinct.delete(parentKey(parent));
  if (distinct.size > MOST_ASKED) return new Set();
  for (const parent of await onPlatform(scope, [...distinct.values()])) distinct.delete(parentKey(parent));
  return new Set(distinct.keys());
}

const idOf = (tenant: string | null, externalId: string | null): string => JSON.stringify([tenant, externalId]);
