/** Local times are converted day by day for speed; the Temporal API, without that, must give the same instants. */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { localTimeReader } from '../../src/mapping/transforms/local-time-reader.js';
import { inCampaign } from '../campaign.js';

/** Clock changes at midnight, by half an hour, across the date line, in mid-minute, far from UTC, and none. */
const ZONES = [
  ...['UTC', 'Europe/London', 'America/New_York', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Asia/Kolkata'],
  ...['Pacific/Apia', 'Pacific/Kiritimati', 'Africa/Monrovia', 'Asia/Kathmandu', 'America/St_Johns', 'Asia/Gaza'],
];

function byTemporal(local: string, zone: string, lenient: boolean): string | undefined {
  const plain = Temporal.PlainDateTime.from(local);
  const [earlier, later] = (['earlier', 'later'] as const).map((disambiguation) =>
    plain.toZonedDateTime(zone, { disambiguation }),
  ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime];
  if (earlier.epochNanoseconds === later.epochNanoseconds) return earlier.toInstant().toString();
  if (!lenient) return undefined;
  return plain.toZonedDateTime(zone, { disambiguation: 'compatible' }).toInstant().toString();
}

const minutes = fc.integer({ min: Date.UTC(1860, 0, 1) / 60_000, max: Date.UTC(2090, 0, 1) / 60_000 });
/** Near a clock change, where it matters, as often as anywhere else. */
const locals = fc
  .tuple(fc.constantFrom(...ZONES), minutes, fc.integer({ min: -1500, max: 1500 }), fc.boolean())
  .map(([zone, minute, away, near]): [string, string] => {
    const at = Temporal.Instant.fromEpochMilliseconds(minute * 60_000).toZonedDateTimeISO(zone);
    const change = near ? at.getTimeZoneTransition('next') : null;
    return [zone, (change ?? at).add({ minutes: away }).toPlainDateTime().toString()];
  });

describe('a local time', () => {
  it.each([true, false])('is the instant that the Temporal API gives, lenient: %s', (lenient) => {
    const readers = new Map(ZONES.map((zone) => [zone, localTimeReader(zone, lenient)]));
    fc.assert(
      fc.property(locals, ([zone, local]) => {
        const read = readers.get(zone)!(local.length === 16 ? `${local}:00` : local);
        const expected = byTemporal(local, zone, lenient);
        if (expected === undefined) expect(read).toHaveProperty('problem');
        else expect(read).toBe(expected);
      }),
      { numRuns: inCampaign(1_000, 3_000) },
    );
  });

  it.each(['2010-12-01 24:00:00', '2010-12-01 12:60:00', '2010-13-01 12:00:00', '2010-02-30'])('refuses %s', (text) => {
    expect(localTimeReader('Europe/Berlin', true)(text)).toHaveProperty('problem');
  });
});
