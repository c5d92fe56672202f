/** Removes what is old from the ledger, after a run of its sync. */
import { log } from '@temporalio/activity';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import { quantity } from '../src/domain/values/quantity.js';
import type { PruneInput } from '../src/domain/run/work.js';
import { milliseconds } from '../src/domain/timeouts.js';
import { within } from '../src/observability/within.js';

/**
 * Prunes for a few seconds at most, by the retention in sync.yaml as it is now. What is left is up to the next run. `signal`
 * ends it between two steps.
 */
export async function pruneLedger(
  { ledger, retentionOf }: Pick<Dependencies, 'ledger' | 'retentionOf'>,
  { sync }: PruneInput,
  signal: AbortSignal,
): Promise<void> {
  const retention = await retentionOf(sync);
  if (retention === null) {
    log.warn('the ledger is not pruned: retention in sync.yaml cannot be read', { sync });
    return;
  }
  const until = performance.now() + milliseconds('pruneTime');
  const shouldContinue = (): boolean => !signal.aborted && performance.now() < until;
  const { removed, done } = await ledger.retention.prune(sync, retention, { shouldContinue });
  const rows = removed.reduce((sum, kind) => sum + kind.rows, 0);
  if (rows > 0)
    log.info('pruned the ledger', {
      sync,
      removed: quantity(rows, 'row'),
      ...Object.fromEntries(removed.map((kind) => [kind.kind, kind.rows])),
      done,
    });
}

/**
 * The same for a run that has failed, in the activity that records this: a sync that only fails must not fill the ledger.
 * Never rejects, and does not wait for a lock for long.
 */
export async function pruneAfterFailure(deps: Dependencies, sync: string, signal: AbortSignal): Promise<void> {
  try {
    await within(2 * milliseconds('pruneTime'), pruneLedger(deps, { sync }, signal));
  } catch (error) {
    const code = error instanceof PartnerSyncError ? error.code : 'unexpected';
    log.warn('the ledger could not be pruned', { sync, code });
  }
}
