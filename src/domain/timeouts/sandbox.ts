/**
 * How long the sandbox waits for a request, and when it tries again to process a batch. What partners may want to change is in its
 * settings instead.
 */
import type { TimeoutEntry } from './entry.js';

export const SANDBOX = {
  sandboxBatchAttempts: {
    value: 5,
    unit: 'attempts',
    bounds: 'attempts of the sandbox to process a batch, before all its records fail',
    why: 'a batch that always fails must not block the batches after it',
  },
  sandboxBatchRetry: {
    value: 1,
    unit: 's',
    bounds: 'the pause before it tries again',
    why: 'its database may have been restarted',
  },
  sandboxRequest: {
    value: 1,
    unit: 'min',
    bounds: 'the time in which a request must have arrived as a whole',
    why: 'the sandbox stops only when all requests have been answered, and one that never ends would keep it',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
