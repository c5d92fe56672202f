/** Looks after a mapping's waiting records: follows what the platform holds, and reads again what is due. */
import type { MappingRef } from '../src/domain/work.js';
import type { Dependencies } from './dependencies.js';
import { followBatch } from './follow-batch.js';
import { fetchParents, reviveOrphans, wakeChildren, type HeldRecord } from './follow-parents.js';
import { takeRange } from './load-slice.js';
import { readAgain } from './read-again.js';
import { recoverRange } from './recover-range.js';

const DUE_AT_ONCE = 500;

export async function followMapping(deps: Dependencies, ref: MappingRef, signal: AbortSignal): Promise<void> {
  const { ledger } = deps;
  const { mappingId } = await (await deps.openSync(ref.sync, ref.runId)).mapping(ref.mapping);
  if (!(await ledger.waiting.any(mappingId)) && !(await ledger.deadLetters.anyOfChildren(mappingId))) return;
  const rangeId = await ledger.ranges.forFollowing(ref.runId, mappingId);
  const scope = await takeRange(deps, { ...ref, rangeId }, signal);
  await recoverRange(scope);
  const held: HeldRecord[] = [];
  for (const batch of await ledger.batches.waitingOf(mappingId)) {
    signal.throwIfAborted();
    held.push(...(await followBatch(scope, batch)));
  }
  await fetchParents(scope, held);
  await wakeChildren(scope, await ledger.waiting.now());
  // What is handled is due again later than now, so that the loop ends however long a round takes.
  const now = await ledger.waiting.now();
  for (;;) {
    signal.throwIfAborted();
    const due = await ledger.waiting.due(mappingId, now, DUE_AT_ONCE);
    if (due.length === 0) break;
    await readAgain(scope, due);
  }
  await reviveOrphans(scope);
}
