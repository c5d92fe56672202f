/** The parents that records refer to, and which of them the platform has. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { ParentName } from '../src/domain/parent.js';
import type { MappedRecord } from '../src/domain/record.js';
import { referencedIds, referencesOf } from '../src/domain/references.js';
import { segmentProblem } from '../src/platform/path.js';
import type { OpenMapping, OpenSync } from './dependencies.js';
import { receiptsOf } from './receipts-of.js';
import type { UploadScope } from './upload-batch.js';

export interface MissedParent {
  /** The child's tenant: a parent in another one does not count. */
  readonly tenant: string;
  /** The child's field that refers to it; empty where only the platform's word is known. */
  readonly field: string;
  readonly schemaName: string;
  readonly externalId: string;
}

export const parentKey = ({ tenant, schemaName, externalId }: MissedParent): string =>
  JSON.stringify([tenant, schemaName, externalId]);

/** The parents that a record refers to. */
export const parentsOf = ({ spec }: OpenMapping, record: MappedRecord): MissedParent[] =>
  referencesOf(spec.schema.schema).flatMap(({ field, schemaName }) =>
    referencedIds(record.data[field]).map((externalId) => ({ tenant: record.tenant, field, schemaName, externalId })),
  );

/** Names without what only a look-up needs. */
export const namesOf = (parents: readonly MissedParent[]): ParentName[] =>
  parents.map(({ schemaName, externalId }) => ({ schemaName, externalId }));

type LookUp = Pick<UploadScope, 'deps' | 'sync' | 'mapping' | 'signal'>;

/**
 * Those of the parents that the platform has: by the ledger's receipts, of whichever mapping fills the schema; by reading
 * them back where the ledger keeps none of a mapping, or no mapping of the sync fills the schema.
 */
export async function deliveredParents(scope: LookUp, parents: readonly MissedParent[]): Promise<ReadonlySet<string>> {
  const there = new Set((await receiptedParents(scope, parents)).map(parentKey));
  for (const schemaName of new Set(parents.map((p) => p.schemaName))) {
    const mappings = await parentMappings(scope, schemaName);
    if (mappings.length > 0 && mappings.every(keepsReceipts)) continue;
    const open = parents.filter((parent) => parent.schemaName === schemaName && !there.has(parentKey(parent)));
    for (const parent of await onPlatform(scope, open)) there.add(parentKey(parent));
  }
  return there;
}

/** Those of which the ledger has a receipt. */
export async function receiptedParents(scope: LookUp, parents: readonly MissedParent[]): Promise<MissedParent[]> {
  const there: MissedParent[] = [];
  for (const schemaName of new Set(parents.map((p) => p.schemaName))) {
    const same = parents.filter((p) => p.schemaName === schemaName);
    for (const mapping of (await parentMappings(scope, schemaName)).filter(keepsReceipts))
      there.push(...(await receiptsOf(scope.deps, mapping, same)).keys());
  }
  return there;
}

const keepsReceipts = ({ spec }: OpenMapping): boolean => spec.options.ledger === 'full';

/** Those of the parents that the platform answers with when it is asked for them. */
export async function onPlatform(
  { deps, sync, signal }: LookUp,
  parents: readonly MissedParent[],
): Promise<MissedParent[]> {
  const distinct = [...new Map(parents.map((parent) => [parentKey(parent), parent])).values()];
  const found = await Promise.all(
    distinct.map(async ({ schemaName, externalId, tenant }) => {
      // What no address can name is not there.
      if (schemaName === '' || (segmentProblem(schemaName) ?? segmentProblem(externalId)) !== undefined) return null;
      const look = () => deps.platform.findResource(schemaName, externalId, { tenant, signal });
      return sync.limit.run(look).catch(notFound);
    }),
  );
  return distinct.filter((_, index) => found[index] !== null);
}

/** A schema or an id that the platform will not even look for is not there. */
function notFound(error: unknown): null {
  if (error instanceof PartnerSyncError && error.code === 'platform_refused') return null;
  throw error;
}

/** By record, the parents that the platform does not have; records that lack none are left out. */
export async function undeliveredParents(
  scope: LookUp,
  records: readonly MappedRecord[],
): Promise<ReadonlyMap<MappedRecord, readonly ParentName[]>> {
  const parents = new Map(records.map((record) => [record, parentsOf(scope.mapping, record)]));
  const there = await deliveredParents(scope, [...parents.values()].flat());
  const missing = new Map<MappedRecord, readonly ParentName[]>();
  for (const [record, of] of parents) {
    const open = of.filter((parent) => !there.has(parentKey(parent)));
    if (open.length > 0) missing.set(record, namesOf(open));
  }
  return missing;
}

/** The mappings that fill the schema, first those that the child's own references name. */
export async function parentMappings(
  { sync, mapping }: { readonly sync: OpenSync; readonly mapping: OpenMapping },
  schemaName: string,
): Promise<readonly OpenMapping[]> {
  const named = new Set(
    [...mapping.spec.fields.values()].flatMap((field) => (field.kind === 'ref' ? [field.mapping] : [])),
  );
  const filling = sync.spec.mappings.filter((m) => m.schema.name === schemaName).map((m) => m.name);
  const names = [...filling.filter((name) => named.has(name)), ...filling.filter((name) => !named.has(name))];
  return Promise.all(names.map((name) => sync.mapping(name)));
}
