/** The parents that records refer to, and which of these the platform has. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { ParentName } from '../../domain/records/parent.js';
import type { MappedRecord } from '../../domain/records/record.js';
import { removesRecords } from '../../domain/sync/sync.js';
import { referencedIds, referencesOf } from '../../domain/records/references.js';
import { segmentProblem } from '../../platform/path.js';
import type { Pace } from '../../platform/pace.js';
import type { OpenMapping, OpenSync } from '../dependencies.js';
import { allEnded } from '../all-ended.js';
import { isRemoved } from '../removal-record.js';
import { acceptedHashesOf } from '../accepted-hashes-of.js';
import type { PartitionContext } from '../partition-context.js';

/** A parent as a child refers to it. */
export interface ParentReference {
  /** The child's tenant: a parent in another tenant does not count. */
  readonly tenant: string;
  /** The child's field that refers to it; empty if the name comes from the ledger or the platform. */
  readonly field: string;
  readonly schemaName: string;
  readonly externalId: string;
}

/** Equal for references to the same parent, whichever field they are in. */
export const parentKey = ({ tenant, schemaName, externalId }: ParentReference): string =>
  JSON.stringify([tenant, schemaName, externalId]);

/** Each parent once. */
export const distinctParents = (parents: readonly ParentReference[]): ParentReference[] => [
  ...new Map(parents.map((parent) => [parentKey(parent), parent])).values(),
];

/** The parents that a record refers to, in the order of its schema's references. */
export const parentsOf = ({ spec }: OpenMapping, record: MappedRecord): ParentReference[] =>
  referencesOf(spec.schema.schema).flatMap(({ field, schemaName }) =>
    referencedIds(record.data[field]).map((externalId) => ({ tenant: record.tenant, field, schemaName, externalId })),
  );

/** The parents' names, without what only a look-up needs. */
export const namesOf = (parents: readonly ParentReference[]): ParentName[] =>
  parents.map(({ schemaName, externalId }) => ({ schemaName, externalId }));

/** What looking parents up needs. */
export type ParentContext = Pick<PartitionContext, 'deps' | 'sync' | 'mapping' | 'effort' | 'signal'>;

/**
 * {@link parentKey}s of the parents that the platform has. The accepted hashes of the mappings that fill the schema
 * show it; if one of these keeps no records in the ledger, or there is no such mapping, the platform is asked. So it is about
 * parents that were removed: it may have had no record to mark.
 *
 * @param asksForRemoved false if these were known to be missing: only another delivery can change that, and the ledger has it
 */
export async function deliveredParents(
  context: ParentContext,
  parents: readonly ParentReference[],
  { asksForRemoved = true } = {},
): Promise<ReadonlySet<string>> {
  const known = await parentsInLedger(context, parents);
  const there = new Set(known.accepted.map(parentKey));
  const removed = new Set(known.removed.map(parentKey));
  for (const schemaName of new Set(parents.map((p) => p.schemaName))) {
    const mappings = await parentMappings(context, schemaName);
    const isKnown = mappings.length > 0 && mappings.every(keepsAcceptedHashes);
    const mayBeThere = (parent: ParentReference): boolean =>
      !isKnown || (asksForRemoved && removed.has(parentKey(parent)));
    const open = parents.filter((p) => p.schemaName === schemaName && !there.has(parentKey(p)) && mayBeThere(p));
    for (const parent of await onPlatform(context, open)) there.add(parentKey(parent));
  }
  return there;
}

/** The parents that have an accepted hash in the ledger, and not that of a removal. */
export const acceptedParents = async (
  context: ParentContext,
  parents: readonly ParentReference[],
): Promise<readonly ParentReference[]> => (await parentsInLedger(context, parents)).accepted;

/** What the ledger says of parents; those of which it knows nothing are left out. */
interface ParentsInLedger {
  /** The platform has them. */
  readonly accepted: readonly ParentReference[];
  /** They were marked as deleted, if the platform had them. */
  readonly removed: readonly ParentReference[];
}

async function parentsInLedger(context: ParentContext, parents: readonly ParentReference[]): Promise<ParentsInLedger> {
  const accepted: ParentReference[] = [];
  const removed: ParentReference[] = [];
  for (const schemaName of new Set(parents.map((p) => p.schemaName))) {
    const same = parents.filter((p) => p.schemaName === schemaName);
    for (const mapping of (await parentMappings(context, schemaName)).filter(keepsAcceptedHashes))
      for (const [parent, contentHash] of await acceptedHashesOf(context.deps, mapping, same)) {
        const { externalId } = parent;
        const isGone = removesRecords(mapping.spec) && isRemoved(mapping, { externalId, contentHash });
        (isGone ? removed : accepted).push(parent);
      }
  }
  return { accepted, removed };
}

/** Whether the ledger knows which records of the mapping the platform has accepted. */
export const keepsAcceptedHashes = ({ spec }: OpenMapping): boolean => spec.options.ledger === 'full';

/** Asks the platform which of the parents it has; returns each of these once. */
export const onPlatform = async (
  context: ParentContext,
  parents: readonly ParentReference[],
): Promise<ParentReference[]> => (await askPlatform(context, parents)).there;

/** What the platform says about parents, each of them once; those that it refuses to look up are left out. */
export async function askPlatform(
  { deps, sync, effort, signal }: ParentContext,
  parents: readonly ParentReference[],
): Promise<{ readonly there: ParentReference[]; readonly missing: ParentReference[] }> {
  const { onRetry } = sync;
  const onEnd = effort.requestEnded;
  const distinct = distinctParents(parents);
  const found = await allEnded(
    distinct.map(async ({ schemaName, externalId, tenant }) => {
      // No record has a name that cannot be part of a URL.
      if (schemaName === '' || (segmentProblem(schemaName) ?? segmentProblem(externalId)) !== undefined)
        return 'refused';
      const find = (pace: Pace) =>
        deps.platform.findResource(schemaName, externalId, { tenant, signal, pace, onRetry, onEnd });
      return sync.requestLimit.run({ queue: tenant, signal }, find).catch(refused);
    }),
  );
  return {
    there: distinct.filter((_, index) => found[index] !== null && found[index] !== 'refused'),
    missing: distinct.filter((_, index) => found[index] === null),
  };
}

/** The platform does not accept the schema or the id at all. */
function refused(error: unknown): 'refused' {
  if (error instanceof PartnerSyncError && error.code === 'platform_refused') return 'refused';
  throw error;
}

/** The parents that each record lacks; records that lack none are left out. */
export async function undeliveredParents(
  context: ParentContext,
  records: readonly MappedRecord[],
): Promise<ReadonlyMap<MappedRecord, readonly ParentName[]>> {
  const parents = new Map(records.map((record) => [record, parentsOf(context.mapping, record)]));
  const there = await deliveredParents(context, [...parents.values()].flat());
  const missing = new Map<MappedRecord, readonly ParentName[]>();
  for (const [record, ofRecord] of parents) {
    const open = ofRecord.filter((parent) => !there.has(parentKey(parent)));
    if (open.length > 0) missing.set(record, namesOf(open));
  }
  return missing;
}

/** The mappings that fill the schema, beginning with those that the child's references name. */
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
