/** Runs that were turned away because another one was working. */
import type { RunFailure } from './work.js';

/**
 * Whether the run was refused: it has done nothing, and the other run does the work, so it says nothing about the sync and is
 * no failed run.
 */
export const isRefused = (failure: Pick<RunFailure, 'code'> | null): boolean => failure?.code === 'run_in_progress';
