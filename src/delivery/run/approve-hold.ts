/** Lets a run on hold go on with a mapping, beyond the limits of the guard. */
import type { ApproveHoldInput } from '../../domain/work.js';
import type { Dependencies } from '../dependencies.js';

/** A second attempt does nothing new. The removal plan of the run, if it awaits approval, is to be carried out then. */
export async function approveHold(
  deps: Dependencies,
  { runId, sync, mapping, actor, reason }: ApproveHoldInput,
): Promise<void> {
  const { mappingId } = await (await deps.openSync(sync, runId)).mapping(mapping);
  const subject = { run: runId, mapping, ...(reason !== null && { reason }) };
  await deps.ledger.guards.approve(runId, mappingId, { sync, actor, subject });
}
