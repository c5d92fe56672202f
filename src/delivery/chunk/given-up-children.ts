/** Children that were given up before, since a parent would not come, and whether that parent may come by now. */
import { isParentCode, type ParentCode } from '../../domain/parent.js';
import type { RecordList } from '../../records/record-list.js';
import { surelyAbsent } from '../parents/dead-parents.js';
import { lookUpParents } from '../parents/look-up-parents.js';
import { blockChildren } from '../parents/parent-graph.js';
import { parentKey, type ParentReference } from '../parents/parents.js';
import type { PartitionContext } from '../partition-context.js';

/** Indexes of the records that have a dead letter because they lacked a parent. */
export async function givenUpAmong(
  { deps, mapping }: PartitionContext,
  records: RecordList,
): Promise<ReadonlySet<number>> {
  const tenantIds = await deps.ledger.ids.tenantIds([...new Set(records.tenants)]);
  const keys = records.externalIds.map((externalId, index) => ({
    tenantId: tenantIds.get(records.tenantAt(index))!,
    externalId,
  }));
  const noted = await deps.ledger.deadLetters.among(mapping.mappingId, keys, { lackingParents: true });
  return new Set(
    keys.flatMap(({ tenantId, externalId }, index) => (noted.has(`${tenantId}/${externalId}`) ? [index] : [])),
  );
}

/** Why parents will still not come, by {@link parentKey}. Parents that may come or are there are left out. */
export async function hopelessParents(
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
