/** Fetches the parents that children wait for, and retries the children whose parents are all delivered. */
import { groupBy } from '../../domain/values/group-by.js';
import { isParentCode, type ParentName } from '../../domain/records/parent.js';
import { rowsIn } from '../../reading/chunk.js';
import type { PendingReason, WaitingRow } from '../../ledger/waiting/index.js';
import { deliverRows } from '../chunk/deliver-rows.js';
import { deliveredParents, parentKey, type ParentReference } from '../parents/parents.js';
import { readDeadLetters } from '../chunk/read-dead-letters.js';
import type { PendingChild } from './poll-batch.js';
import { resolveParents } from './resolve-parents.js';
import type { PartitionContext } from '../partition-context.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';

/** Fetches the parents that pending records lack, and notes for each record whether its parents may come. */
export async function fetchParents(context: PartitionContext, pending: readonly PendingChild[]): Promise<void> {
  // A million may be pending, and the records of their parents would be in memory together.
  for (let i = 0; i < pending.length; i += LOOK_UP_ROWS)
    await fetchParentsOf(context, pending.slice(i, i + LOOK_UP_ROWS));
}

async function fetchParentsOf(context: PartitionContext, pending: readonly PendingChild[]): Promise<void> {
  const missedBy = ({ batch: { tenant }, missing, listed }: PendingChild): ParentReference[] => {
    const byPlatform = (listed?.missingDependencies ?? []).map((d) => ({ ...d, schemaName: d.schemaName ?? '' }));
    return referencesTo(missing.length > 0 ? missing : byPlatform, tenant);
  };
  const statuses = await resolveParents(context, pending.flatMap(missedBy));
  const reasonOf = (record: PendingChild): PendingReason =>
    missedBy(record)
      .map((parent) => statuses.get(parentKey(parent))!)
      .find(isParentCode) ?? 'dependency';
  for (const [batchId, children] of groupBy(pending, ({ batch }) => batch.id))
    for (const [reason, same] of groupBy(children, reasonOf))
      await context.deps.ledger.waiting.setReason(
        batchId,
        reason,
        same.map(({ externalId }) => externalId),
      );
}

/** Makes queued children due if all their parents are delivered. `now`: by the ledger's clock. */
export async function makeReadyChildrenDue(context: PartitionContext, now: string): Promise<void> {
  const { waiting } = context.deps.ledger;
  const { mappingId } = context.mapping;
  let after: Pick<WaitingRow, 'tenantId' | 'externalId'> = { tenantId: 0, externalId: '' };
  while (true) {
    const rows = await waiting.lackingParents(mappingId, now, after, LOOK_UP_ROWS);
    const last = rows.at(-1);
    if (last === undefined) return;
    const ready = await readyAmong(context, rows);
    if (ready.length > 0) await waiting.makeDue(mappingId, ready);
    after = last;
  }
}

/**
 * Delivers the rows of dead letters that lacked a parent if all of their parents are delivered, and closes dead letters
 * whose rows are gone. Repeated until there are none, since each record may be the parent of another one.
 *
 * @param shouldContinue checked whenever some have been delivered
 * @returns whether there are none left
 */
export async function retryDeadLetteredChildren(
  context: PartitionContext,
  shouldContinue: () => boolean,
): Promise<boolean> {
  while ((await retryGeneration(context, shouldContinue)) > 0) {
    if (!shouldContinue()) return false;
  }
  return true;
}

/** Returns how many rows were read again. */
async function retryGeneration(context: PartitionContext, shouldContinue: () => boolean): Promise<number> {
  const { deps, mapping, signal } = context;
  const { deadLetters } = deps.ledger;
  const through = await deadLetters.newest(mapping.mappingId);
  let found = 0;
  let after = '0';
  while (found === 0 || shouldContinue()) {
    signal.throwIfAborted();
    const children = await deadLetters.lackingParents(mapping.mappingId, { after, through, limit: LOOK_UP_ROWS });
    const last = children.at(-1);
    if (last === undefined) break;
    after = last.id;
    const ready = await readyAmong(context, children);
    if (ready.length === 0) continue;
    const chunk = await readDeadLetters(context, ready);
    const rows = rowsIn(chunk);
    // Rows are not found by a key of another mapping version: such dead letters must not be looked for again and again.
    if (rows > 0) await deliverRows(context, chunk, null);
    found += rows;
  }
  return found;
}

/** The records whose missing parents are all delivered. */
async function readyAmong<R extends { readonly tenantId: number; readonly missing: readonly ParentName[] }>(
  context: PartitionContext,
  records: readonly R[],
): Promise<R[]> {
  const tenants = await context.deps.ledger.ids.tenantsByNumber([...new Set(records.map((r) => r.tenantId))]);
  const missedBy = (record: R): ParentReference[] => referencesTo(record.missing, tenants.get(record.tenantId) ?? '');
  const there = await deliveredParents(context, records.flatMap(missedBy), { asksForRemoved: false });
  return records.filter((r) => r.missing.length > 0 && missedBy(r).every((parent) => there.has(parentKey(parent))));
}

const referencesTo = (parents: readonly ParentName[], tenant: string): ParentReference[] =>
  parents.map(({ schemaName, externalId }) => ({ schemaName, externalId, tenant, field: '' }));
