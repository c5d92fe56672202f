/** What is shown of a run in mode live while somebody watches it. */
import { expect, it } from 'vitest';
import { DeliveryRate } from '../../src/cli/runs/delivery-rate.js';
import { createLiveDisplay } from '../../src/cli/runs/live-display.js';
import type { LiveMapping, LiveProgress } from '../../src/domain/monitoring/live-progress.js';
import type { MappingProgress } from '../../src/domain/run/progress.js';
import { NO_COUNTS, type HoldUntil } from '../../src/domain/run/run.js';
import { terminal } from './terminal.js';

const NOW = new Date('2026-11-23T12:00:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);

const followed = (
  mapping: string,
  {
    lag = 1,
    changedRows = 0,
    waiting = 0,
    ...counts
  }: Partial<MappingProgress> & { lag?: number; changedRows?: number } = {},
): LiveMapping => ({
  progress: { ...NO_COUNTS, mapping, inFlight: 0, seconds: 0, done: false, expected: null, ...counts },
  delivery: { loaded: true, changedRows, waiting, deliveredUntil: ago(lag) },
});
const loading = (mapping: string, counts: Partial<MappingProgress> = {}): LiveMapping => ({
  ...followed(mapping, counts),
  delivery: { loaded: false, changedRows: 0, waiting: 0, deliveredUntil: null },
});
const live = (mappings: readonly LiveMapping[], more: Partial<LiveProgress> = {}): LiveProgress => ({
  ...{ sync: 'shop', now: NOW, mappings, changesPerSecond: null, pause: null, holds: [] },
  ...more,
});
const HOLD: HoldUntil = {
  mapping: 'customers',
  cause: 'gone',
  records: 8,
  of: 40,
  limit: { key: 'deletes.hold', percent: 5 },
  until: '2026-11-23T14:05:10.000Z',
};
const PAUSE = { since: '2026-11-23T11:59:00.000Z', by: 'ana@ops', reason: 'stocktaking' };
const LEAVE = 'Ctrl-C leaves it running; partner-sync stop shop ends it';

it('shows how late each mapping is, what is still to be delivered, and how to leave', () => {
  const { stream, visible } = terminal(100, 24);

  createLiveDisplay(stream).show(
    live([followed('customers', { accepted: 1204 }), followed('orders', { lag: 2.5, changedRows: 12, waiting: 45 })], {
      changesPerSecond: 2.5,
    }),
  );

  expect(visible).toEqual([
    'following: delivered up to 2.5s ago; 12 changed rows to go; 45 records wait; 2.5 changes/s',
    '  customers  up to 1.0s ago  nothing to go  1,204 accepted',
    '  orders     up to 2.5s ago  12 rows to go  45 waiting',
    LEAVE,
  ]);
});

it('shows how far the rows of a mapping have been read that is new to its feed, beside those that are followed', () => {
  const { stream, visible } = terminal(80, 24);

  createLiveDisplay(stream).show(
    live([
      followed('customers'),
      loading('orders', { read: 412_000, inFlight: 12_000, expected: 960_000, seconds: 100 }),
    ]),
  );

  expect(visible).toEqual([
    'reading every row of 1 mapping',
    'following 1 mapping: delivered up to 1.0s ago; nothing to go',
    '  customers  up to 1.0s ago    nothing to go',
    '  orders     42 % of ~960,000  2m 13s left    12,000 in flight, 4,120 rows/s',
    LEAVE,
  ]);
});

it('says what waits for an approval or is paused, and which command goes on with it, in lines that fit', () => {
  const { stream, visible } = terminal(80, 24);

  createLiveDisplay(stream).show(
    live([followed('customers', { lag: 300, changedRows: 8 })], { holds: [HOLD], pause: PAUSE }),
  );

  expect(visible).toEqual([
    'paused since 11:59:00 UTC by ana@ops (stocktaking): neither reads nor sends',
    '  anything; partner-sync resume shop continues it',
    'following: delivered up to 5m 0s ago; 8 changed rows to go',
    '  customers  up to 5m 0s ago  8 rows to go',
    'on hold: customers: 8 records would be removed, of 40 (deletes.hold: 5 %);',
    '  waits for approval until 2026-11-23 14:05 UTC; partner-sync approve shop',
    '  customers approves it',
    LEAVE,
  ]);
});

it('leaves room for the other lines if there are more mappings than lines', () => {
  const { stream, visible } = terminal(80, 6);
  const quiet = Array.from({ length: 20 }, (_, i) => followed(`quiet-${i}`));

  createLiveDisplay(stream).show(live([...quiet, followed('orders', { changedRows: 3 })]));

  expect(visible).toEqual([
    'following: delivered up to 1.0s ago; 3 changed rows to go',
    '  orders  up to 1.0s ago  3 rows to go',
    '  and 20 more mappings',
    LEAVE,
  ]);
});

it('shows the counts alone once the run has ended', () => {
  const { stream, visible } = terminal(80, 24);
  const display = createLiveDisplay(stream);
  display.show(live([followed('customers')]));

  display.show([{ ...followed('customers', { read: 7, accepted: 7, seconds: 60 }).progress, done: true }]);

  expect(visible).toEqual(['  customers  7 read  done in 1m 0s  7 accepted, 0.1 rows/s']);
});

/** Lines of a log, at a time that the test sets. */
function log() {
  const lines: string[] = [];
  let time = 0;
  const write = (text: string): boolean => lines.push(text.trimEnd()) > 0;
  const display = createLiveDisplay({ isTTY: false, write } as unknown as NodeJS.WriteStream, () => time);
  const shownAfter = (seconds: number, progress: LiveProgress): string[] => {
    time += seconds * 1000;
    display.show(progress);
    return lines.splice(0);
  };
  return { shownAfter };
}

it('writes to a log at once what the run begins to do, and otherwise a line a minute, if anything has changed', () => {
  const { shownAfter } = log();
  const quiet = live([followed('customers')]);
  const busy = live([followed('customers', { changedRows: 3 })], { changesPerSecond: 2.5 });

  expect(shownAfter(0, live([]))).toEqual(['  reading the change feeds']);
  expect(shownAfter(5, live([loading('customers', { read: 5 })]))).toEqual([
    '  customers: reading; 5 read',
    '  reading every row of 1 mapping',
  ]);
  expect(shownAfter(5, live([loading('customers', { read: 9 })]))).toEqual([]);
  expect(shownAfter(5, quiet)).toEqual(['  following: delivered up to 1.0s ago; nothing to go']);
  expect(shownAfter(600, live([followed('customers', { lag: 2 })]))).toEqual([]);
  expect(shownAfter(5, busy)).toEqual(['  following: delivered up to 1.0s ago; 3 changed rows to go; 2.5 changes/s']);
  expect(shownAfter(5, live([followed('customers', { changedRows: 4 })]))).toEqual([]);
  expect(shownAfter(60, live([followed('customers', { changedRows: 4 })]))).toHaveLength(1);
});

it('writes to a log that the run is paused or waits for an approval, and that it lags more and more', () => {
  const { shownAfter } = log();
  shownAfter(0, live([followed('customers')]));

  expect(shownAfter(5, live([followed('customers')], { holds: [HOLD], pause: PAUSE }))).toEqual([
    '  paused since 11:59:00 UTC by ana@ops (stocktaking): neither reads nor sends anything; partner-sync resume shop continues it',
    '  on hold: customers: 8 records would be removed, of 40 (deletes.hold: 5 %); waits for approval until 2026-11-23 14:05 UTC; partner-sync approve shop customers approves it',
    '  following: delivered up to 1.0s ago; nothing to go',
  ]);
  expect(shownAfter(5, live([followed('customers')]))).toHaveLength(1);
  expect(shownAfter(60, live([followed('customers', { lag: 61 })]))).toHaveLength(1);
  expect(shownAfter(60, live([followed('customers', { lag: 121 })]))).toHaveLength(1);
});

it('counts the changes a second over the last minute, whatever was counted before and whichever run goes on', () => {
  const rate = new DeliveryRate(60_000);
  const at = (seconds: number, customers: number, orders?: number) =>
    rate.next(
      seconds * 1000,
      new Map([['customers', customers], ...(orders === undefined ? [] : [['orders', orders] as const])]),
    );

  expect(at(0, 1000)).toBeNull();
  expect(at(10, 1000)).toBe(0);
  expect(at(20, 1050)).toBe(2.5);
  expect(at(60, 1051)).toBe(0.9);
  // A mapping that is followed from now on has counts of its own already.
  expect(at(70, 1051, 9000)).toBe(0.9);
  // What came more than a minute ago does not count any more.
  expect(at(120, 1051, 9000)).toBe(0);
  // The next run counts from the beginning.
  expect(at(170, 600, 0)).toBe(6);
});
