/**
 * Children whose parent is a dead letter itself, found before they are sent: the platform would only hold or reject
 * them. Where no mapping of their parents has dead letters, as nearly always, this costs next to nothing.
 */
import type { LetterList } from '../src/domain/letter-list.js';
import type { UnmappableRow } from '../src/domain/record.js';
import type { RecordList } from '../src/domain/record-list.js';
import { referencesOf } from '../src/domain/references.js';
import type { TakenRange } from '../src/state/ranges.js';
import { orphan } from './orphan.js';
import { deliveredParents, onPlatform, parentKey, parentMapping, parentsOf, type MissedParent } from './parents.js';
import type { UploadScope } from './upload-batch.js';

/** Parents that the platform is asked for before their children are given up; where there are more, it is sent what there is. */
const MOST_ASKED = 500;
/** Slices at whose beginning no mapping of their parents had a dead letter: they are not asked for with each group. */
const quiet = new WeakSet<TakenRange>();

/** By the index of each such record its dead letter. `letters`: rows of the same group that cannot be mapped. */
export async function knownOrphans(
  scope: UploadScope,
  records: RecordList,
  letters: LetterList,
): Promise<ReadonlyMap<number, UnmappableRow>> {
  const { mapping, range } = scope;
  const none = new Map<number, UnmappableRow>();
  if (mapping.referenceFields.size === 0 || records.length === 0 || quiet.has(range)) return none;
  const schemas = referencesOf(mapping.spec.schema.schema).map((reference) => reference.schemaName);
  const refersToItself = schemas.includes(mapping.spec.schema.name);
  if (!(refersToItself && letters.length > 0) && !(await haveLetters(scope, schemas))) {
    if (!refersToItself) quiet.add(range);
    return none;
  }
  const parents = new Map<number, MissedParent[]>();
  for (const [index, record] of [...records].entries())
    if (record.deletion === undefined) parents.set(index, parentsOf(mapping, record));
  const dead = await deadParents(scope, [...parents.values()].flat(), letters);
  if (dead.size === 0) return none;
  const orphans = new Map<number, UnmappableRow>();
  for (const [index, all] of parents) {
    const missing = all.filter((parent) => dead.has(parentKey(parent)));
    if (missing.length > 0) orphans.set(index, orphan(records.at(index), missing, 'parent_rejected'));
  }
  return orphans;
}

async function haveLetters(scope: UploadScope, schemas: readonly string[]): Promise<boolean> {
  for (const schemaName of new Set(schemas)) {
    const parent = await parentMapping(scope, schemaName);
    if (parent !== null && (await scope.deps.ledger.deadLetters.newest(parent.mappingId)) !== '0') return true;
  }
  return false;
}

/** Those of the parents that are dead letters, were never delivered, and are not on the platform by some other way. */
async function deadParents(
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
  const undelivered = dead.filter((parent) => !delivered.has(parentKey(parent)));
  if (undelivered.length > MOST_ASKED) return new Set();
  const there = new Set((await onPlatform(scope, undelivered)).map(parentKey));
  return new Set(undelivered.map(parentKey).filter((key) => !there.has(key)));
}

const idOf = (tenant: string | null, externalId: string | null): string => JSON.stringify([tenant, externalId]);
