/** A run that fails at its beginning is noted in the ledger like any other. */
import { ApplicationFailure, CancellationScope, isCancellation, patched, workflowInfo } from '@temporalio/workflow';
import { isSyncName } from '../src/domain/names.js';
import type { RunInput, RunKind } from '../src/domain/run.js';
import type { RunFailure } from '../src/domain/work.js';
import { noteFailure } from './activities.js';

/** Does what comes before a run is opened; an input that is not understood may still name its sync. */
export async function onRecord<T>(kind: RunKind, input: unknown, begin: () => T | Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    const about = noted(input);
    if (about !== null && patched('note-failure')) {
      const { firstExecutionRunId } = workflowInfo();
      const note = { kind, input: about, firstExecutionRunId, failure: failureOf(error) };
      // What the run failed for is told, whether it could be noted or not: Temporal knows of it in any case.
      await CancellationScope.nonCancellable(() => noteFailure(note).catch(() => undefined));
    }
    throw error;
  }
}

function noted(input: unknown): RunInput | null {
  const { sync, mode } = (input ?? {}) as { sync?: unknown; mode?: unknown };
  if (typeof sync !== 'string' || !isSyncName(sync)) return null;
  return { sync, ...(typeof mode === 'string' && { mode: mode as RunInput['mode'] & string }) };
}

/** The innermost failure that has a code: what is around it says only where it came from. */
export function failureOf(error: unknown): RunFailure {
  if (isCancellation(error)) return { code: 'run_stopped', message: 'cancelled' };
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof ApplicationFailure) return { code: at.type ?? 'unexpected', message: at.message };
  return { code: 'unexpected', message: error instanceof Error ? error.message : 'unknown failure' };
}
