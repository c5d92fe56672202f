/** Whether a worker can do its work: it polls, and the ledger and Temporal have answered a moment ago. */
import { milliseconds, seconds } from '../domain/timeouts.js';
import { within } from '../observability/within.js';

/** Says why the worker is not ready, in a plain sentence without secrets; null if it is. */
export type Readiness = () => Promise<string | null>;

/** A server without which a worker can do nothing. */
export interface Dependency {
  /** As it begins a sentence: `The ledger`. */
  readonly name: string;
  /** Resolves when it has answered; never called twice at once. */
  readonly ping: () => Promise<unknown>;
}

/**
 * @param arePolling whether the worker takes tasks
 * @param dependencies each is pinged at each question; the first one that does not answer is named
 */
export function openReadiness(arePolling: () => boolean, dependencies: readonly Dependency[]): Readiness {
  const whySilent = dependencies.map(watched);
  return async () => {
    const silent = await Promise.all(whySilent.map((why) => why()));
    if (!arePolling()) return 'This worker does not take tasks: it is starting or draining.';
    return silent.find((why) => why !== null) ?? null;
  };
}

/** Says how long the dependency has been silent; null while that is not long. */
function watched({ name, ping }: Dependency): Readiness {
  let answeredAt: number | undefined;
  let pinging: Promise<void> | undefined;
  const pinged = (): Promise<void> => {
    pinging ??= ping()
      .then(() => void (answeredAt = performance.now()))
      .finally(() => (pinging = undefined));
    return pinging;
  };
  return async () => {
    await within(milliseconds('readyWait'), pinged()).catch(() => undefined);
    if (answeredAt === undefined) return `${name} has not answered yet.`;
    const silent = performance.now() - answeredAt;
    if (silent <= milliseconds('readySilence')) return null;
    return `${name} has not answered for ${Math.round(silent / 1000)} s; a worker is ready while that is at most ${seconds('readySilence')} s.`;
  };
}
