/**
 * Finds children that are not sent, since the platform would only keep them pending or reject them: their parent is a
 * dead letter, or they were given up before and their parent will still not come. Nearly always there are no such dead
 * letters, and then this costs next to nothing.
 */
import { isParentCode, type ParentCode } from '../../domain/records/parent.js';
import { recordKey } from '../../ledger/record-key.js';
import type { FailedRowList } from '../../records/failed-row-list.js';
import type { FailedRow } from '../../domain/records/record.js';
import type { RecordList } from '../../records/record-list.js';
import { referencesOf } from '../../domain/records/references.js';
import { keysOf } from './keys-of.js';
import { childWithoutParent } from './new-dead-letters.js';
import { deadLetteredParents, surelyAbsent } from '../parents/dead-lettered-parents.js';
import { lookUpParents } from '../parents/look-up-parents.js';
import { blockChildren } from '../parents/parent-graph.js';
import { parentKey, parentMappings, parentsOf, type ParentReference } from '../parents/parents.js';
import type { OpenMapping } from '../dependencies.js';
import type { PartitionContext } from '../partition-context.js';

/**
 * Returns the dead letters of such records, by the records' indexes.
 *
 * @param failedRows rows of the same chunk that could not be mapped
 */
export async function unsendableChildren(
  context: PartitionContext,
  records: RecordList,
  failedRows: FailedRowList,
): Promise<ReadonlyMap<number, FailedRow>> {
  const { deps, mapping, earlierChunks } = context;
  if (mapping.referenceFields.size === 0 || records.length === 0 || earlierChunks.allChildrenSendable) return new Map();
  const anyGivenUp = await deps.ledger.deadLetters.anyLackingParents(mapping.mappingId);
  if (!anyGivenUp && !(await mayHaveDeadLetteredParents(context, failedRows))) {
    // A later chunk of a mapping that refers to itself may have parents among its failed rows.
    earlierChunks.allChildrenSendable = !refersToItself(mapping);
    return new Map();
  }
  const parents = parentsByIndex(mapping, records);
  const deadLettered = await deadLetteredParents(context, [...parents.values()].flat(), failedRows);
  const givenUp = anyGivenUp ? await givenUpAmong(context, records) : new Set<number>();
  const hopeless = await hopelessParents(
    context,
    [...givenUp].flatMap((index) => parents.get(index) ?? []),
  );
  if (deadLettered.size === 0 && hopeless.size === 0) return new Map();
  const unsendable = new Map<number, FailedRow>();
  for (const [index, all] of parents) {
    const codeOf = (parent: ParentReference): ParentCode | undefined => {
      if (deadLettered.has(parentKey(parent))) return 'parent_rejected';
      return givenUp.has(index) ? hopeless.get(parentKey(parent)) : undefined;
    };
    const missing = all.filter((parent) => codeOf(parent) !== undefined);
    if (missing.length > 0) unsendable.set(index, childWithoutParent(records.at(index), missing, codeOf(missing[0]!)!));
  }
  return unsendable;
}

/** Whether a mapping that makes parents has any dead letter, or this chunk is about to add one. */
async function mayHaveDeadLetteredParents(context: PartitionContext, failedRows: FailedRowList): Promise<boolean> {
  const { deps, mapping } = context;
  if (failedRows.length > 0 && refersToItself(mapping)) return true;
  for (const schemaName of new Set(parentSchemas(mapping)))
    for (const { mappingId } of await parentMappings(context, schemaName))
      if ((await deps.ledger.deadLetters.newest(mappingId)) !== '0') return true;
  return false;
}

const parentSchemas = ({ spec }: OpenMapping): string[] =>
  referencesOf(spec.schema.schema).map(({ schemaName }) => schemaName);

const refersToItself = (mapping: OpenMapping): boolean => parentSchemas(mapping).includes(mapping.spec.schema.name);

/** The parents of each record that is not marked as deleted, by the records' indexes. */
function parentsByIndex(mapping: OpenMapping, records: RecordList): ReadonlyMap<number, readonly ParentReference[]> {
  const parents = new Map<number, ParentReference[]>();
  for (const [index, record] of [...records].entries())
    if (record.deletion === undefined) parents.set(index, parentsOf(mapping, record));
  return parents;
}

/** Indexes of the records that were given up before: they have a dead letter because they lacked a parent. */
async function givenUpAmong({ deps, mapping }: PartitionContext, records: RecordList): Promise<ReadonlySet<number>> {
  const keys = await keysOf(deps.ledger, records);
  const deadLetters = await deps.ledger.deadLetters.among(mapping.mappingId, keys, { lackingParents: true });
  return new Set(keys.flatMap((key, index) => (deadLetters.has(recordKey(key)) ? [index] : [])));
}

/** Why parents will still not come, by {@link parentKey}. Parents that may come or are there are left out. */
async function hopelessParents(
  context: PartitionContext,
  parents: readonly ParentReference[],
): Promise<ReadonlyMap<string, ParentCode>> {
  if (parents.length === 0) return new Map();
  const graph = await lookUpParents(context, parents);
  blockChildren(graph);
  const codes = new Map<string, ParentCode>();
  for (const parent of parents) {
    const status = graph.nodes.get(parentKey(parent))!.status;
    if (status !== null && isParentCode(status)) codes.set(parentKey(parent), status);
  }
  const absent = await surelyAbsent(
    context,
    parents.filter((parent) => codes.has(parentKey(parent))),
  );
  return new Map([...codes].filter(([key]) => absent.has(key)));
}
