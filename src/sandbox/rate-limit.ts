/** Refuses calls that come too often, and says when the next may come (section 8 shows no limit: a setting). */
import { Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';

/** Counts a call of whoever holds `credentials`; throws a refusal where it is one too many. */
export type RateLimit = (credentials: string) => void;

/** Windows of a fixed length, the same for everybody: what was counted is forgotten with each. */
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
    throw new Refusal('busy', `more than ${requests} requests within ${seconds} s`, [], {
      ...(retryAfter === 'seconds' && { 'retry-after': String(Math.ceil((next - now) / 1000)) }),
      // HTTP dates have whole seconds; a moment too early would be refused again.
      ...(retryAfter === 'date' && { 'retry-after': new Date(Math.ceil(next / 1000) * 1000).toUTCString() }),
    });
  };
}
