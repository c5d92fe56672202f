/** What is done with a child that the platform has not taken: by what is known of its parents, never by words alone. */
import { expect, it } from 'vitest';
import { adviseOrphan } from '../../activities/advise-orphan.js';
import type { ParentFate } from '../../activities/parent-graph.js';
import { parentKey } from '../../activities/parents.js';

const named = (externalId: string) => ({ tenant: 'north', schemaName: 'customer', field: 'customerId', externalId });
const advise = (
  fates: readonly ParentFate[],
  { tries = 0, refusal = null as string | null, holdFor = 600 } = {},
): string => {
  const parents = fates.map((_, i) => named(String(i)));
  const known = new Map(parents.map((parent, i) => [parentKey(parent), fates[i]!]));
  const advice = adviseOrphan({ tries, refusal }, parents, known, holdFor);
  return advice.kind === 'give_up' ? `give up: ${advice.code}` : advice.kind;
};

it('gives it up as soon as one parent will surely not come', () => {
  expect(advise(['there', 'parent_missing'])).toBe('give up: parent_missing');
  expect(advise(['coming', 'parent_rejected'], { tries: 9 })).toBe('give up: parent_rejected');
});

it('sends it when its parents are there, however often it was sent and whatever the platform said', () => {
  expect(advise(['there', 'there'], { tries: 9, refusal: 'no' })).toBe('send');
});

it('sends it to a platform that waits for the parent, and waits itself for one that would refuse it once more', () => {
  expect(advise(['coming'])).toBe('send');
  expect(advise(['coming'], { holdFor: 0 })).toBe('wait');
});

it('waits for a parent that is coming without an end, and for one of whom nobody knows not without one', () => {
  expect(advise(['coming'], { tries: 5 })).toBe('wait');
  expect(advise(['unknown'], { tries: 4 })).toBe('send');
  expect(advise(['unknown'], { tries: 5 })).toBe('give up: parent_unknown');
});

it('gives it up at once where nobody knows the parent and the platform accuses it of something else', () => {
  expect(advise(['unknown'], { refusal: '/total is too large' })).toBe('give up: parent_unknown');
});
