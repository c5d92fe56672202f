/** The parents that records refer to, and which of them the platform has accepted. */
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

/** Those of the parents that the platform has accepted. */
export async function deliveredParents(
  scope: Pick<UploadScope, 'deps' | 'sync' | 'mapping'>,
  parents: readonly MissedParent[],
): Promise<ReadonlySet<string>> {
  const there = new Set<string>();
  for (const schemaName of new Set(parents.map((p) => p.schemaName))) {
    const mapping = await parentMapping(scope, schemaName);
    if (mapping === null) continue;
    const same = parents.filter((p) => p.schemaName === schemaName);
    for (const [parent] of await receiptsOf(scope.deps, mapping, same)) there.add(parentKey(parent));
  }
  return there;
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
