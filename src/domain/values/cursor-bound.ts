/** Bounds of a cursor column as people write them: days, times and SQL Server's change counters. */

const TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)? ?(?:Z|([+-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)?)?$/i;
const COUNTER = /^0x[0-9a-f]{2,16}$/i;

/** What a bound may be, for messages. */
export const CURSOR_BOUNDS =
  'a day or a time, such as 2026-01-31 or 2026-01-31T08:30:00Z, or a rowversion such as 0x07D1';

/**
 * The bound as a number that grows with it, so that two of the same kind can be compared: nanoseconds since 1970, in UTC
 * unless the bound has an offset, or the counter. null if the text is no bound; databases would guess what is meant.
 */
export function cursorBound(text: string): { readonly kind: 'time' | 'counter'; readonly value: bigint } | null {
  if (COUNTER.test(text)) return { kind: 'counter', value: BigInt(text) };
  const found = TIME.exec(text);
  if (found === null) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  const [fraction = '', sign, offsetHours = 0, offsetMinutes = 0, offsetSeconds = 0] = found.slice(7);
  const date = new Date(0);
  // It takes February 30 for a day in March.
  const ms = date.setUTCFullYear(year, month - 1, day);
  if (year === 0 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60 + Number(offsetSeconds);
  if (offset > LONGEST_OFFSET || Number(offsetMinutes) > 59 || Number(offsetSeconds) > 59) return null;
  const seconds = ms / 1000 + (hour * 60 + minute) * 60 + second - (sign === '-' ? -offset : offset);
  return { kind: 'time', value: BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0')) };
}

type Six = [number, number, number, number, number, number];
/** Seconds; PostgreSQL accepts no longer one. */
const LONGEST_OFFSET = 16 * 3600 - 1;
