/** The range of a backfill: days, times in any usual spelling, and change counters, compared as what they mean. */
import { expect, it } from 'vitest';
import { checkRange } from '../../src/domain/run/check-range.js';

it.each([
  ['2026-01-31', '2026-02-01'],
  ['2024-02-29', '2024-02-29 00:00:00.000000001'],
  ['0001-01-01', '9999-12-31'],
  ['1969-12-31T23:59:59.999Z', '1970-01-01'],
  ['2026-01-01 10:00', '2026-01-01T10:00:01'],
  ['2026-01-01 10:00:00.123456', '2026-01-01 10:00:00.123457'],
  ['2026-01-01 10:00:00.9', '2026-01-01 10:00:00.91'],
  ['2026-01-01 10:00:00.123456+00', '2026-01-01T10:00:00.123457Z'],
  ['2026-01-01 10:00:00.0000000 +02:00', '2026-01-01 09:00:00.0000000 +00:00'],
  ['2026-01-01T10:00:00z', '2026-01-01 10:00:00-0530'],
  ['1883-11-18 12:03:57-04:56:02', '1883-11-18 17:00:00+00'],
  ['0x07D1', '0x00000000000007D2'],
])('%s is before %s', (from, to) => {
  checkRange({ from, to });
  checkRange({ from });
  checkRange({ to });
  expect(() => checkRange({ from: to, to: from })).toThrow('"from" must be before "to"');
  expect(() => checkRange({ from, to: from })).toThrow('"from" must be before "to"');
});
