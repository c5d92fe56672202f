/** Looks once after the waiting records of a run's mappings, parents first: what they deliver completes children. */
import type { FollowInput, FollowResult } from '../src/domain/work.js';
import type { Dependencies } from './dependencies.js';
import { followMapping } from './follow-mapping.js';

export async function followWaiting(
  deps: Dependencies,
  { mappings, ...run }: FollowInput,
  signal: AbortSignal,
): Promise<FollowResult> {
  for (const mapping of mappings) {
    signal.throwIfAborted();
    await followMapping(deps, { ...run, mapping }, signal);
  }
  const sync = await deps.openSync(run.sync, run.runId);
  const result = [];
  // Only now: a later mapping may have moved what an earlier one waits for.
  for (const mapping of mappings) {
    const { mappingId } = await sync.mapping(mapping);
    const outlook = await deps.ledger.waiting.outlook(mappingId, run.runId);
    if (outlook.waiting > 0) result.push({ mapping, ...outlook });
  }
  return result;
}
