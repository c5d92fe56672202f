/** Limits how often one token may call. Section 8 shows no limit, so it is a setting, and off by default. */
import { quantity } from '../domain/values/quantity.js';
import { Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';

/** Counts one call made with `credentials`; throws a `busy` {@link Refusal} when the limit is exceeded. */
export type RateLimit = (credentials: string) => void;

/**
 * Creates a limiter with fixed windows of `seconds`, aligned to the clock and common to all callers. 0 `requests` means
 * no limit.
 *
 * The refusal carries `Retry-After` in the form that the settings choose. Counters live in this process only.
 */
export function createRateLimit({ requests, seconds, retryAfter }: SandboxSettings['rateLimit']): RateLimit {
  const length = seconds * 1000;
  const counts = new Map<string, number>();
  let window = 0;
  return (credentials) => {
    if (requests === 0) return;
    const now = Date.now();
    const current = Math.floor(now / length);
    if (current !== window) counts.clear();
    window = current;
    const count = (counts.get(credentials) ?? 0) + 1;
    counts.set(credentials, count);
    if (count <= requests) return;
    const next = (current + 1) * length;
    throw new Refusal('busy', `more than ${quantity(requests, 'request')} within ${seconds} s`, [], {
      ...(retryAfter === 'seconds' && { 'retry-after': String(Math.ceil((next - now) / 1000)) }),
      // HTTP dates have whole seconds. Rounding up keeps a client from returning before the next window.
      ...(retryAfter === 'date' && { 'retry-after': new Date(Math.ceil(next / 1000) * 1000).toUTCString() }),
    });
  };
}
