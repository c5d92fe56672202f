/** What a terminal shows of a run while it works. */
import { expect, it } from 'vitest';
import { createProgress } from '../../src/cli/runs/progress-display.js';
import type { MappingProgress } from '../../src/domain/run/progress.js';
import { NO_COUNTS } from '../../src/domain/run/run.js';
import { terminal } from './terminal.js';

const progress = (mapping: string, more: Partial<MappingProgress> = {}): MappingProgress => ({
  ...NO_COUNTS,
  ...{ mapping, inFlight: 0, seconds: 0, done: false, expected: null },
  ...more,
});

it('shows share, total and time left of each mapping, and no count that is 0', () => {
  const { stream, visible } = terminal(80, 24);

  createProgress(stream).show([
    progress('orders', { read: 412_000, accepted: 400_000, inFlight: 12_000, expected: 960_000, seconds: 100 }),
    progress('customers', { read: 17, accepted: 17, done: true, seconds: 0.3, expected: 12 }),
    progress('stores'),
    progress('a-query', { read: 1200, waiting: 2, seconds: 100 }),
  ]);

  expect(visible).toEqual([
    '  orders     42 % of ~960,000  2m 13s left   12,000 in flight, 400,000 accepted',
    '  customers  17 read           done in 0.3s  17 accepted',
    '  stores     0 read            reading',
    '  a-query    1,200 read        reading       2 waiting, 12 rows/s',
  ]);
});

it('shows what is in flight before anything counts as read', () => {
  const { stream, visible } = terminal(80, 24);

  createProgress(stream).show([progress('orders', { inFlight: 4_000 })]);

  expect(visible).toEqual(['  orders  0 read  reading  4,000 in flight']);
});

it('fits 80 columns with a dozen mappings that have long names, and cuts off no number', () => {
  const { stream, visible } = terminal(80, 24);
  const counts = { read: 12_345_678, accepted: 12_000_001, unchanged: 123_456, waiting: 7_654, deadLettered: 54_321 };
  const mappings = Array.from({ length: 12 }, (_, i) =>
    progress(`${i}-subscriptions-of-newsletters-and-catalogues`, {
      ...counts,
      inFlight: 98_765,
      expected: 45_678_901,
      seconds: 100,
    }),
  );

  createProgress(stream).show(mappings);

  expect(visible).toHaveLength(12);
  expect(visible[0]).toBe('  0-subscriptions-of…  27 % of ~45,678,901  4m 30s left  54,321 dead-lettered');
  expect(Math.max(...visible.map((line) => line.length))).toBeLessThan(80);
});

it('draws the block anew in place, below the notes', () => {
  const { stream, visible } = terminal(80, 24);
  const display = createProgress(stream);

  display.note('started');
  display.show([progress('orders', { read: 5 })]);
  display.note('retrying');
  display.show([progress('orders', { read: 6 }), progress('lines', { read: 1 })]);

  expect(visible).toEqual(['started', 'retrying', '  orders  6 read  reading', '  lines   1 read  reading']);
});

it('shows what is being read of more mappings than there are lines', () => {
  const { stream, visible } = terminal(80, 6);
  const done = Array.from({ length: 9 }, (_, i) => progress(`done-${i}`, { read: 1, done: true }));

  createProgress(stream).show([...done, progress('orders', { read: 5 })]);

  expect(visible).toEqual(['  orders  5 read  reading', '  and 9 more mappings']);
});
