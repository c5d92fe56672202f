/** Lets a run on hold go on with a mapping, for the cause that was approved. */
import type { ApproveHoldInput } from '../../domain/run/work.js';
import type { Dependencies } from '../dependencies.js';

/** A second attempt does nothing new. */
export async function approveHold(
  deps: Dependencies,
  { runId, sync, mapping, cause, actor, reason }: ApproveHoldInput,
): Promise<void> {
  const { mappingId } = await (await deps.openSync(sync, runId)).mapping(mapping);
  const subject = { run: runId, mapping, cause, ...(reason !== null && { reason }) };
  await deps.ledger.guards.approve(runId, mappingId, cause, { sync, actor, subject });
}
