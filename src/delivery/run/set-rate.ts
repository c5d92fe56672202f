/** Changes the limits of a sync's requests for all workers, and keeps in the audit who did it. */
import type { SetRateActivityInput } from '../../domain/run/work.js';
import type { Dependencies } from '../dependencies.js';

/** Limits that are absent are those of sync.yaml again. A second attempt sets the same. */
export async function setRate(
  { ledger }: Pick<Dependencies, 'ledger'>,
  { runId, sync, rate, reason, actor, key }: SetRateActivityInput,
): Promise<void> {
  const { requestsAtOnce, requestsPerSecond } = rate;
  await ledger.fleet.setRate(sync, {
    ...(requestsAtOnce !== undefined && { atOnce: requestsAtOnce }),
    ...(requestsPerSecond !== undefined && { perSecond: requestsPerSecond }),
  });
  await ledger.audit.add({
    sync,
    action: 'rate_set',
    actor,
    key,
    subject: { run: runId, ...rate, ...(reason !== null && { reason }) },
  });
}
