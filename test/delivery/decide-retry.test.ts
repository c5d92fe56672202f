/** What happens to a child that the platform has not accepted depends on its parents, never on a message alone. */
import { expect, it } from 'vitest';
import { decideRetry } from '../../src/delivery/parents/decide-retry.js';
import type { ParentStatus } from '../../src/delivery/parents/parent-graph.js';
import { parentKey } from '../../src/delivery/parents/parents.js';
import { retryDelay } from '../../src/delivery/parents/retry-delay.js';

const named = (externalId: string) => ({ tenant: 'north', schemaName: 'customer', field: 'customerId', externalId });
const advise = (
  statuses: readonly ParentStatus[],
  { tries = 0, waits = 0, rejection = null as string | null, dependencyWait = 600 } = {},
): string => {
  const parents = statuses.map((_, i) => named(String(i)));
  const known = new Map(parents.map((parent, i) => [parentKey(parent), statuses[i]!]));
  const decision = decideRetry({ tries, waits, rejection }, parents, known, dependencyWait);
  return decision.kind === 'give_up' ? `give up: ${decision.code}` : decision.kind;
};

it('gives it up as soon as one parent is known not to come', () => {
  expect(advise(['there', 'parent_missing'])).toBe('give up: parent_missing');
  expect(advise(['coming', 'parent_rejected'], { tries: 9 })).toBe('give up: parent_rejected');
});

it('sends it once its parents exist, however often it was sent and whatever the platform said', () => {
  expect(advise(['there', 'there'], { tries: 9, rejection: 'no', dependencyWait: 0 })).toBe('send');
});

it('sends it to a platform that waits for parents, and otherwise waits for the parent first', () => {
  expect(advise(['coming'])).toBe('send');
  expect(advise(['coming'], { dependencyWait: 0 })).toBe('wait');
  expect(advise(['there', 'coming'], { dependencyWait: 0 })).toBe('wait');
});

it('waits without limit for a parent that is on its way, and for a limited time for an unknown one', () => {
  expect(advise(['coming'], { tries: 5 })).toBe('wait');
  expect(advise(['unknown'], { tries: 4 })).toBe('send');
  expect(advise(['unknown'], { tries: 5 })).toBe('give up: parent_unknown');
});

it('looks for parents on their way every few seconds at first, then more and more rarely', () => {
  const delays = [0, 4, 5, 6].map((waits) => {
    const parent = named('1');
    const statuses = new Map([[parentKey(parent), 'coming' as const]]);
    return decideRetry({ tries: 0, waits, rejection: null }, [parent], statuses, 0);
  });
  expect(delays).toEqual([2, 2, 960, 1920].map((dueIn) => ({ kind: 'wait', dueIn })));
});

it('takes a parent of which nothing is known for an unknown one', () => {
  const parent = named('1');
  expect(decideRetry({ tries: 5, waits: 0, rejection: null }, [parent], new Map(), 600)).toEqual({
    kind: 'give_up',
    because: parent,
    code: 'parent_unknown',
  });
});

it('sends it again at once, then after a minute, two, four, and each hour at last', () => {
  expect([0, 1, 2, 3, 20].map(retryDelay)).toEqual([0, 60, 120, 240, 3600]);
});

it('gives it up at once if the parent is unknown and the platform reports another reason', () => {
  expect(advise(['unknown'], { rejection: '/total is too large' })).toBe('give up: parent_unknown');
});
