/** How long the platform is left alone when several of its answers ask for patience. */
import { expect, it } from 'vitest';
import { openQuietTime } from '../../src/platform/quiet-time.js';

it('keeps to the longest time that the platform has named, whatever it says to those on their way already', () => {
  const quiet = openQuietTime(() => undefined);
  quiet.ask(600_000);
  quiet.ask(1);
  expect(quiet.left()).toBeGreaterThan(300_000);
});
