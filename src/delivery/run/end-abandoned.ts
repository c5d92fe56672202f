/** Ends runs in the ledger whose workflow was terminated: they could not do so themselves. */
import { ABANDONED, type Stop } from '../../domain/run/work.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { RunRow } from '../../ledger/runs/runs.js';

/** What Temporal knows of the workflow of a run that has not ended. */
export interface RunWorkflows {
  /** Whether it is still running. */
  isRunning(run: RunRow): Promise<boolean>;
  /** Who has stopped it; null if nobody has, or that is not known any more. Never rejects. */
  stopOf(run: RunRow): Promise<Stop | null>;
}

/** Frees their lease and their records, and ends what they are on hold for. `except`: a run that is known to be running. */
export async function endAbandoned(
  { runs }: Pick<Ledger, 'runs'>,
  sync: string,
  workflows: RunWorkflows,
  except?: string,
): Promise<void> {
  for (const run of await runs.notEnded(sync))
    if (run.id !== except && !(await workflows.isRunning(run)))
      await runs.end(run.id, 'failed', ABANDONED, await workflows.stopOf(run));
}
