/**
 * Children that are not sent, since the platform would only hold or reject them: their parent is a dead letter, or they were
 * given up already, and their parent still will not come. Where there are no such letters, as nearly always, this costs
 * next to nothing.
 */
import { isParentCode, type ParentCode } from '../src/domain/parent.js';
import type { LetterList } from '../src/domain/letter-list.js';
import type { UnmappableRow } from '../src/domain/record.js';
import type { RecordList } from '../src/domain/record-list.js';
import { referencesOf } from '../src/domain/references.js';
import type { TakenRange } from '../src/state/ranges.js';
import { deadParents, surelyAbsent } from './dead-parents.js';
import { orphan } from './orphan.js';
import { lookUpParents } from './look-up-parents.js';
import { blockChildren } from './parent-graph.js';
import { parentKey, parentMappings, parentsOf, type MissedParent } from './parents.js';
import type { UploadScope } from './upload-batch.js';

/** Slices at whose beginning there were no such letters: they are not asked for with each group. */
const quiet = new WeakSet<TakenRange>();

/** By the index of each such record its dead letter. `letters`: rows of the same group that cannot be mapped. */
export async function knownOrphans(
  scope: UploadScope,
  records: RecordList,
  letters: LetterList,
): Promise<ReadonlyMap<number, UnmappableRow>> {
  const { mapping, range } = scope;
  const orphans = new Map<number, UnmappableRow>();
  if (mapping.referenceFields.size === 0 || records.length === 0 || quiet.has(range)) return orphans;
  const schemas = referencesOf(mapping.spec.schema.schema).map((reference) => reference.schemaName);
  const refersToItself = schemas.includes(mapping.spec.schema.name);
  const anyGivenUp = await scope.deps.ledger.deadLetters.anyOfChildren(mapping.mappingId);
  if (!(refersToItself && letters.length > 0) && !anyGivenUp && !(await haveLetters(scope, schemas))) {
    if (!refersToItself) quiet.add(range);
    return orphans;
  }
  const parents = new Map<number, MissedParent[]>();
  for (const [index, record] of [...records].entries())
    if (record.deletion === undefined) parents.set(index, parentsOf(mapping, record));
  const dead = await deadParents(scope, [...parents.values()].flat(), letters);
  const givenUp = anyGivenUp ? await givenUpAmong(scope, records) : new Set<number>();
  const hopeless = await hopelessAmong(
    scope,
    [...givenUp].flatMap((index) => parents.get(index) ?? []),
  );
  if (dead.size === 0 && hopeless.size === 0) return orphans;
  for (const [index, all] of parents) {
    const codeOf = (parent: MissedParent): ParentCode | undefined =>
      dead.has(parentKey(parent))
        ? 'parent_rejected'
        : givenUp.has(index)
          ? hopeless.get(parentKey(parent))
          : undefined;
    const missing = all.filter((parent) => codeOf(parent) !== undefined);
    if (missing.length > 0) orphans.set(index, orphan(records.at(index), missing, codeOf(missing[0]!)!));
  }
  return orphans;
}

async function haveLetters(scope: UploadScope, schemas: readonly string[]): Promise<boolean> {
  for (const schemaName of new Set(schemas)) {
    for (const { mappingId } of await parentMappings(scope, schemaName))
      if ((await scope.deps.ledger.deadLetters.newest(mappingId)) !== '0') return true;
  }
  return false;
}

/** Indexes of the records of which there is a dead letter that lacked a parent. */
async function givenUpAmong({ deps, mapping }: UploadScope, records: RecordList): Promise<ReadonlySet<number>> {
  const tenantIds = await deps.ledger.catalog.tenantIds([...new Set(records.tenants)]);
  const keys = records.externalIds.map((externalId, index) => ({
    ...{ tenantId: tenantIds.get(records.tenantAt(index))!, externalId },
  }));
  const noted = await deps.ledger.deadLetters.among(mapping.mappingId, keys, { ofChildren: true });
  return new Set(
    keys.flatMap(({ tenantId, externalId }, index) => (noted.has(`${tenantId}/${externalId}`) ? [index] : [])),
  );
}

/** Why parents will still not come, by {@link parentKey}; those that may, and those that are there, are left out. */
async function hopelessAmong(
  scope: UploadScope,
  parents: readonly MissedParent[],
): Promise<ReadonlyMap<string, ParentCode>> {
  if (parents.length === 0) return new Map();
  const graph = await lookUpParents(scope, parents);
  blockChildren(graph);
  const codes = new Map<string, ParentCode>();
  for (const parent of parents) {
    const fate = graph.nodes.get(parentKey(parent))!.fate;
    if (fate !== null && isParentCode(fate)) codes.set(parentKey(parent), fate);
  }
  const absent = await surelyAbsent(
    scope,
    parents.filter((parent) => codes.has(parentKey(parent))),
  );
  return new Map([...codes].filter(([key]) => absent.has(key)));
}
