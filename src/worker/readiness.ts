/** Whether a worker can do its work: it polls, and the ledger has answered a moment ago. */
import { milliseconds, seconds } from '../domain/timeouts.js';
import { within } from '../observability/within.js';

/** Says why the worker is not ready, in a plain sentence without secrets; null if it is. */
export type Readiness = () => Promise<string | null>;

/**
 * @param arePolling whether the worker takes tasks
 * @param ping resolves when the ledger has answered; it is called at each question, but never twice at once
 */
export function openReadiness(arePolling: () => boolean, ping: () => Promise<void>): Readiness {
  let answeredAt: number | undefined;
  let pinging: Promise<void> | undefined;
  const asked = (): Promise<void> =>
    (pinging ??= ping()
      .then(() => void (answeredAt = performance.now()))
      .finally(() => (pinging = undefined)));
  return async () => {
    await within(milliseconds('readyWait'), asked()).catch(() => undefined);
    if (!arePolling()) return 'This worker does not take tasks: it is starting or draining.';
    if (answeredAt === undefined) return 'The ledger has not answered yet.';
    const silent = performance.now() - answeredAt;
    if (silent <= milliseconds('readyLedger')) return null;
    return `The ledger has not answered for ${Math.round(silent / 1000)} s; a worker is ready while that is at most ${seconds('readyLedger')} s.`;
  };
}
