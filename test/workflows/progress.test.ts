/** What people see of a run while it works. */
import { expect, it } from 'vitest';
import { stateOf, type MappingProgress } from '../../src/domain/run/progress.js';
import { NO_COUNTS } from '../../src/domain/run/run.js';

const progress = (more: Partial<MappingProgress>): MappingProgress => ({
  ...NO_COUNTS,
  mapping: 'orders',
  inFlight: 0,
  seconds: 10,
  done: false,
  expected: null,
  ...more,
});

it.each([
  ['no statistics', { read: 400 }, 'reading'],
  ['an empty table', { expected: 0 }, 'reading'],
  ['nothing read yet', { expected: 1000 }, 'reading, 0 % of about 1,000 rows'],
  ['a part of the rows', { read: 400, expected: 1000 }, 'reading, 40 % of about 1,000 rows, about 15s left'],
  ['more rows than the statistics say', { read: 1500, expected: 1000 }, 'reading, 99 %'],
  ['all rows', { read: 1000, expected: 1000, done: true }, 'read'],
])('says how far a mapping is read with %s', (_case, more, said) => {
  expect(stateOf(progress(more), 'read')).toBe(said);
});
