/** Ends runs in the ledger whose workflow was terminated: they could not do so themselves. */
import { ABANDONED } from '../../domain/work.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { RunRow } from '../../ledger/runs/runs.js';

/** Frees their lease and their records, and ends what they are on hold for. `except`: a run that is known to be running. */
export async function endAbandoned(
  { runs }: Pick<Ledger, 'runs'>,
  sync: string,
  isRunning: (run: RunRow) => Promise<boolean>,
  except?: string,
): Promise<void> {
  for (const run of await runs.notEnded(sync))
    if (run.id !== except && !(await isRunning(run))) await runs.end(run.id, 'failed', ABANDONED);
}
