/**
 * Finds children that are not sent, since the platform would only keep them pending or reject them: their parent is a
 * dead letter, or they were given up before and their parent will still not come. Nearly always there are no such dead
 * letters, and then this costs next to nothing.
 */
import type { ParentCode } from '../../domain/parent.js';
import type { FailedRowList } from '../../records/failed-row-list.js';
import type { FailedRow } from '../../domain/record.js';
import type { RecordList } from '../../records/record-list.js';
import { referencesOf } from '../../domain/references.js';
import { childWithoutParent } from './dead-letters.js';
import { givenUpAmong, hopelessParents } from './given-up-children.js';
import { deadParents } from '../parents/dead-parents.js';
import { parentKey, parentMappings, parentsOf, type ParentReference } from '../parents/parents.js';
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
  const { mapping, known } = context;
  const unsendable = new Map<number, FailedRow>();
  if (mapping.referenceFields.size === 0 || records.length === 0 || known.allSendable) return unsendable;
  const schemas = referencesOf(mapping.spec.schema.schema).map((reference) => reference.schemaName);
  const refersToItself = schemas.includes(mapping.spec.schema.name);
  const anyGivenUp = await context.deps.ledger.deadLetters.anyLackingParents(mapping.mappingId);
  if (!(refersToItself && failedRows.length > 0) && !anyGivenUp && !(await haveDeadLetters(context, schemas))) {
    known.allSendable = !refersToItself;
    return unsendable;
  }
  const parents = new Map<number, ParentReference[]>();
  for (const [index, record] of [...records].entries())
    if (record.deletion === undefined) parents.set(index, parentsOf(mapping, record));
  const dead = await deadParents(context, [...parents.values()].flat(), failedRows);
  const givenUp = anyGivenUp ? await givenUpAmong(context, records) : new Set<number>();
  const hopeless = await hopelessParents(
    context,
    [...givenUp].flatMap((index) => parents.get(index) ?? []),
  );
  if (dead.size === 0 && hopeless.size === 0) return unsendable;
  for (const [index, all] of parents) {
    const codeOf = (parent: ParentReference): ParentCode | undefined => {
      if (dead.has(parentKey(parent))) return 'parent_rejected';
      return givenUp.has(index) ? hopeless.get(parentKey(parent)) : undefined;
    };
    const missing = all.filter((parent) => codeOf(parent) !== undefined);
    if (missing.length > 0) unsendable.set(index, childWithoutParent(records.at(index), missing, codeOf(missing[0]!)!));
  }
  return unsendable;
}

async function haveDeadLetters(context: PartitionContext, schemas: readonly string[]): Promise<boolean> {
  for (const schemaName of new Set(schemas)) {
    for (const { mappingId } of await parentMappings(context, schemaName))
      if ((await context.deps.ledger.deadLetters.newest(mappingId)) !== '0') return true;
  }
  return false;
}
