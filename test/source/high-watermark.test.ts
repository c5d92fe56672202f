/** The high watermark of timestamps without a zone when clocks are set back: the repeated hour is not read too early. */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { momentOf, timestampMinus } from '../../src/source/cursor-time.js';
import { highWatermarkText } from '../../src/source/high-watermark-text.js';
import type { CursorColumn } from '../../src/source/dialect.js';
import { here, TEST_DIALECTS } from './dialect-databases.js';
import { ALL, open, placeOf, plan } from './reading.js';

const cursor = (zone: string): CursorColumn => ({
  name: 'at',
  type: 'timestamp',
  databaseType: 'timestamp',
  zone,
  from: 't q',
});
const highWatermarkAt = (instant: Temporal.Instant, zone: string): string =>
  highWatermarkText(instant.toString({ fractionalSecondDigits: 6 }), cursor(zone), { digits: 6, utcSuffix: '' });
const localText = (instant: Temporal.Instant, zone: string): string =>
  instant.toZonedDateTimeISO(zone).toPlainDateTime().toString({ fractionalSecondDigits: 6 }).replace('T', ' ');

/** When a zone's clocks are changed in a year, for the first or second time; where they are not, its first moment. */
function change(zone: string, year: number, second: boolean): Temporal.Instant {
  const begin = Temporal.ZonedDateTime.from({ timeZone: zone, year, month: 1, day: 1 });
  const first = begin.getTimeZoneTransition('next');
  return (second ? first?.getTimeZoneTransition('next') : first)?.toInstant() ?? begin.toInstant();
}

it('never passes a local time that a clock will show again', () => {
  const zones = [
    'Europe/London',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
    'UTC',
    'Africa/Casablanca',
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 1990, max: 2025 }),
      fc.boolean(),
      fc.integer({ min: -240, max: 240 }),
      fc.integer({ min: 0, max: 480 }),
      (zone, year, second, minutes, later) => {
        const now = change(zone, year, second).add({ minutes });
        const shown = localText(now.add({ minutes: later }), zone);
        expect(shown >= highWatermarkAt(now, zone), `${shown} in ${zone}`).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

it('stands for a moment that is not later, and not much earlier unless clocks are set back or it is a date', () => {
  const now = Temporal.Instant.from('2026-07-01T12:34:56.789Z');
  const at = (type: CursorColumn['type'], zone: string | null, format: { digits: number; utcSuffix: string }) =>
    momentOf(
      highWatermarkText(now.toString(), { ...cursor(''), type, zone }, format),
      zone ?? undefined,
    )?.toISOString();
  expect(at('timestamptz', null, { digits: 6, utcSuffix: '+00' })).toBe('2026-07-01T12:34:56.789Z');
  expect(at('timestamptz', null, { digits: 0, utcSuffix: 'Z' })).toBe('2026-07-01T12:34:56.000Z');
  expect(at('timestamp', 'America/New_York', { digits: 3, utcSuffix: '' })).toBe('2026-07-01T12:34:56.789Z');
  expect(at('date', 'Europe/London', { digits: 0, utcSuffix: '' })).toBe('2026-06-30T23:00:00.000Z');
  expect(at('date', null, { digits: 0, utcSuffix: '' })).toBe('2026-07-01T12:00:00.000Z');
  expect(momentOf('\\x00000000000007d1', undefined)).toBeNull();
  const [repeated, zone] = [Temporal.Instant.from('2020-10-25T01:30:00Z'), 'Europe/London'];
  expect(momentOf(highWatermarkAt(repeated, zone), zone)!.getTime()).toBeLessThanOrEqual(repeated.epochMilliseconds);
});

it('is moved ahead beyond everything that a clock has shown by then, also while clocks are changed', () => {
  const ahead = (from: string, hours: number) => timestampMinus(from, -hours * 3600, 'Europe/London');
  // At 03:30 in summer time, two hours after 00:30; and in the hour that comes twice, for the second time.
  expect(ahead('2026-03-29 00:30:00', 2)).toBe('2026-03-29 03:30:00');
  expect(ahead('2026-10-25 01:30:00', 1)).toBe('2026-10-25 02:30:00');
  fc.assert(
    fc.property(
      fc.constantFrom('Europe/London', 'America/St_Johns', 'Australia/Lord_Howe', 'UTC', 'Africa/Casablanca'),
      fc.integer({ min: 1990, max: 2025 }),
      fc.boolean(),
      fc.integer({ min: -240, max: 240 }),
      fc.integer({ min: 0, max: 480 }),
      fc.integer({ min: 0, max: 480 }),
      (zone, year, second, minutes, behind, earlier) => {
        const now = change(zone, year, second).add({ minutes });
        const from = highWatermarkAt(now.subtract({ minutes: behind }), zone);
        const seconds = Math.ceil((now.epochMilliseconds - momentOf(from, zone)!.getTime()) / 1000);
        const shown = localText(now.subtract({ minutes: Math.min(earlier, behind) }), zone);
        const to = timestampMinus(from, -seconds, zone)!;
        expect(shown <= to, `${shown} in ${zone} is not before ${to}`).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

describe.each(here(TEST_DIALECTS))('$name', ({ create, local, name }) => {
  it('reads every row of the night in which clocks are set back, whenever a run happens', async () => {
    const database = await create();
    const source = open(database.url);
    try {
      // A partner's clock in London: 01:00 to 02:00 comes twice on 25 October 2020.
      const [zone, first] = ['Europe/London', Temporal.Instant.from('2020-10-24T23:30:00Z')];
      await database.run(`CREATE TABLE night (id int PRIMARY KEY, at ${local})`);
      const read = { ...plan('night', ['id'], 'at'), cursorZone: zone };
      const seen = new Set<string>();
      let after = null as ReturnType<typeof placeOf> | null;
      const run = async (now: Temporal.Instant): Promise<void> => {
        // From the position itself, without an overlap that would read again what was skipped.
        while (true) {
          const page = await source.readPage(read, { ...ALL, after, cursorBefore: highWatermarkAt(now, zone) }, 3);
          if (page.rows.length === 0) return;
          for (const [id] of page.rows) seen.add(id!);
          after = placeOf(read, page);
        }
      };
      const minutes = 240;
      for (let minute = 0; minute < minutes; minute++) {
        const now = first.add({ minutes: minute });
        await database.run(`INSERT INTO night VALUES (${minute}, '${localText(now, zone)}')`);
        if (minute % 7 === 0) await run(now.add({ seconds: 1 }));
      }
      // Whole again an hour after the clocks were set back, and not before.
      await run(first.add({ minutes }));
      expect(seen.size, name).toBe(minutes);
    } finally {
      await source.close();
      await database.drop();
    }
  });
});
