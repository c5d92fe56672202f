/** Which transactions a snapshot shows, by the numbers of 32 bits that a slot gives. */
import { expect, it } from 'vitest';
import { visibleIn } from '../../src/source/postgres/changes/visible-transactions.js';

it('takes those for visible that are older than the next one, and not running', () => {
  const isVisible = visibleIn('490:495:490,493');
  expect([489, 490, 491, 493, 494, 495, 600].filter(isVisible)).toEqual([489, 491, 494]);
});

it('takes none of the newest for visible if nothing older is running', () => {
  expect([494, 495].filter(visibleIn('495:495:'))).toEqual([494]);
});

it('goes on where the numbers start again at 0', () => {
  const isVisible = visibleIn(`${2 ** 33 - 3}:${2 ** 33 + 5}:${2 ** 33 - 3},${2 ** 33 + 4}`);
  expect([2 ** 32 - 4, 2 ** 32 - 3, 2 ** 32 - 2, 3, 4, 5, 9].filter(isVisible)).toEqual([2 ** 32 - 4, 2 ** 32 - 2, 3]);
  expect([2 ** 32 - 10, 3].filter(visibleIn('3:3:'))).toEqual([2 ** 32 - 10]);
});
