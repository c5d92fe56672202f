/** A paused run for people, with the command that continues it. */
import { runPausedSince, type PausedRun } from '../../domain/monitoring/sync-health.js';

/** Since when the run has been paused, by whom and why, and what continues it. */
export const pausedRunLine = (sync: string, run: PausedRun): string => `${runPausedSince(run)}; ${continuedBy(sync)}`;

/** Which command continues a paused run of the sync. */
export const continuedBy = (sync: string): string => `partner-sync resume ${sync} continues it`;
