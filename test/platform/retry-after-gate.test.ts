/** How long no request is sent if several responses ask for a pause. */
import { expect, it } from 'vitest';
import { createRetryAfterGate } from '../../src/platform/retry-after.js';

it('waits for the longest time that the platform named, whatever it returns to requests already in flight', () => {
  const gate = createRetryAfterGate(() => undefined);
  gate.extend(600_000);
  gate.extend(1);
  expect(gate.remainingMs()).toBeGreaterThan(300_000);
});
