/** Bounds of a backfill, as people write them, mean the same rows in every column: databases would not say what they ignore. */
import { expect, it } from 'vitest';
import { cursorBoundText } from '../../src/source/cursor-time.js';

const NEW_YORK = 'America/New_York';

it.each([
  // A point in time, in PostgreSQL.
  ['2026-01-31T08:30:00Z', '2026-11-29 18:25:00.123456+00', null, '2026-01-31 08:30:00.000000+00'],
  ['2026-01-31 08:30+05:30', '2026-11-29 18:25:00.123456+00', null, '2026-01-31 03:00:00.000000+00'],
  ['2026-01-31', '2026-11-29 18:25:00.123456+00', null, '2026-01-31 00:00:00.000000+00'],
  // Local times, of which a database would ignore the offset.
  ['2026-01-31T08:30:00Z', '2026-11-29 18:25:00', NEW_YORK, '2026-01-31 03:30:00'],
  ['2026-07-31T08:30:00Z', '2026-11-29 18:25:00', NEW_YORK, '2026-07-31 04:30:00'],
  ['2026-01-31T08:30:00', '2026-11-29 18:25:00', NEW_YORK, '2026-01-31 08:30:00'],
  // Texts of SQLite, which compares them letter by letter.
  ['2026-01-31T08:30:00Z', '2026-11-29 18:25:00', 'UTC', '2026-01-31 08:30:00'],
  ['2026-01-31 08:30', '2026-11-29T18:25:00.123Z', null, '2026-01-31T08:30:00.000Z'],
  // Days and counters.
  ['2026-01-31', '2026-11-29', null, '2026-01-31'],
  ['0x07D1', '0x00000000000007d0', null, '0x07D1'],
])('%s like %s is %s in the zone %s', (text, like, zone, expected) => {
  expect([cursorBoundText(text, like, zone, 'from'), cursorBoundText(text, like, zone, 'to')]).toEqual([
    expected,
    expected,
  ]);
});

it('never leaves a row out for the sake of digits that the column does not have', () => {
  const like = '2026-11-29 18:25:00.12';
  expect(cursorBoundText('2026-01-31T08:30:00.129Z', like, 'UTC', 'from')).toBe('2026-01-31 08:30:00.12');
  expect(cursorBoundText('2026-01-31T08:30:00.129Z', like, 'UTC', 'to')).toBe('2026-01-31 08:30:00.13');
  expect(cursorBoundText('2026-01-31T23:59:59.999Z', '2026-11-29 18:25:00', 'UTC', 'to')).toBe('2026-02-01 00:00:00');
});

it.each([
  ['2026-01-31T08:30:00Z', '2026-11-29'],
  ['0x07D1', '2026-11-29 18:25:00'],
  ['2026-01-31', '0x00000000000007d0'],
])('%s is not like %s', (text, like) => {
  expect(cursorBoundText(text, like, null, 'from')).toBeNull();
});
