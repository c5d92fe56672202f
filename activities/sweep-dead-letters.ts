/** Closes dead letters whose rows are gone: no later run would come across their rows. */
import type { Dependencies } from '../src/delivery/dependencies.js';
import { closeDeadLettersWithoutRows } from '../src/delivery/load/reread-dead-letters.js';
import type { SweepInput } from '../src/domain/work.js';

/**
 * Looks up the rows of open dead letters by key, mapping by mapping, and closes those without one. Called only after a
 * run has read every row; rows that exist keep their dead letters.
 */
export async function sweepDeadLetters(deps: Dependencies, input: SweepInput, signal: AbortSignal): Promise<void> {
  const sync = await deps.openSync(input.sync, input.runId);
  for (const name of input.mappings) await closeDeadLettersWithoutRows(deps, sync, await sync.mapping(name), signal);
}
