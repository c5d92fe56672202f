/** Removes what is old from the ledger, after a run of its sync. */
import { log } from '@temporalio/activity';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { quantity } from '../src/domain/quantity.js';
import type { PruneInput } from '../src/domain/work.js';
import { milliseconds } from '../src/domain/timeouts.js';

/**
 * Prunes for a few seconds at most, by the retention of the sync as its files are now. What is left is up to the next
 * run. `signal` ends it between two steps.
 */
export async function pruneLedger(
  { ledger, openSync }: Pick<Dependencies, 'ledger' | 'openSync'>,
  { sync }: PruneInput,
  signal: AbortSignal,
): Promise<void> {
  const { spec } = await openSync(sync);
  const until = performance.now() + milliseconds('pruneTime');
  const shouldContinue = (): boolean => !signal.aborted && performance.now() < until;
  const { removed, done } = await ledger.retention.prune(sync, spec.retention, { shouldContinue });
  const rows = removed.reduce((sum, kind) => sum + kind.rows, 0);
  if (rows > 0)
    log.info('pruned the ledger', {
      sync,
      removed: quantity(rows, 'row'),
      ...Object.fromEntries(removed.map((kind) => [kind.kind, kind.rows])),
      done,
    });
}
