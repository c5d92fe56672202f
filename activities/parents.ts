/** The parents that records refer to, and which of them the platform has. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { ParentName } from '../src/domain/parent.js';
import type { MappedRecord } from '../src/domain/record.js';
import { referencedIds, referencesOf } from '../src/domain/references.js';
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
 * Those of the parents that the platform has: by the ledger's receipts; by reading them back where the ledger keeps none
 * of their mapping, or no mapping of the sync fills their schema.
 */
export async function deliveredParents(scope: LookUp, parents: readonly MissedParent[]): Promise<ReadonlySet<string>> {
  const there = new Set<string>();
  for (const schemaName of new Set(parents.map((p) => p.schemaName))) {
    const mapping = await parentMapping(scope, schemaName);
    const same = parents.filter((p) => p.schemaName === schemaName);
    for (const parent of await deliveredOf(scope, mapping, same)) there.add(parentKey(parent));
  }
  return there;
}

/** The same for parents of one mapping, or of none. */
export const deliveredOf = async (
  scope: LookUp,
  mapping: OpenMapping | null,
  parents: readonly MissedParent[],
): Promise<readonly MissedParent[]> =>
  mapping?.spec.options.ledger === 'full'
    ? [...(await receiptsOf(scope.deps, mapping, parents)).keys()]
    : onPlatform(scope, parents);

/** Those of the parents that the platform answers with when it is asked for them. */
export async function onPlatform(
  { deps, sync, signal }: LookUp,
  parents: readonly MissedParent[],
): Promise<MissedParent[]> {
  const distinct = [...new Map(parents.map((parent) => [parentKey(parent), parent])).values()];
  const found = await Promise.all(
    distinct.map(async ({ schemaName, externalId, tenant }) => {
      if (schemaName === '') return null;
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

/** The mapping that the child's own reference names, or any that fills the schema. */
export async function parentMapping(
  { sync, mapping }: { readonly sync: OpenSync; readonly mapping: OpenMapping },
  schemaName: string,
): Promise<OpenMapping | null> {
  const named = [...mapping.spec.fields.values()].flatMap((field) => (field.kind === 'ref' ? [field.mapping] : []));
  const filling = sync.spec.mappings.filter((m) => m.schema.name === schemaName).map((m) => m.name);
  const name = filling.find((n) => named.includes(n)) ?? filling[0];
  return name === undefined ? null : sync.mapping(name);
}
