/** Parents that are dead letters themselves, so that their children need not be sent. */
import type { LetterList } from '../src/domain/letter-list.js';
import { deliveredParents, onPlatform, parentKey, parentMapping, type MissedParent } from './parents.js';
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
    const parent = await parentMapping(scope, schemaName);
    if (parent === null) continue;
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
  const delivered = await deliveredParents(scope, dead);
  return surelyAbsent(
    scope,
    dead.filter((parent) => !delivered.has(parentKey(parent))),
  );
}

/** Those of the undelivered parents that are not on the platform by some other way; none of them where they are too many. */
export async function surelyAbsent(scope: UploadScope, parents: readonly MissedParent[]): Promise<ReadonlySet<string>> {
  const distinct = new Map(parents.map((parent) => [parentKey(parent), parent]));
  if (distinct.size === 0 || distinct.size > MOST_ASKED) return new Set();
  for (const parent of await onPlatform(scope, [...distinct.values()])) distinct.delete(parentKey(parent));
  return new Set(distinct.keys());
}

const idOf = (tenant: string | null, externalId: string | null): string => JSON.stringify([tenant, externalId]);
