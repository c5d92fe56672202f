/**
 * Which rows of a change table of MySQL or MariaDB can be passed by.
 *
 * Rows are numbered when they are written, and seen when they are committed. So a missing number is one of a transaction that
 * is open, or of one that was rolled back. All numbers below one that was seen had been given out by then: those that are
 * still missing when every transaction of that moment has ended will never be there.
 */

/** A moment at which numbers up to `through` had been given out. */
export interface Horizon {
  readonly through: bigint;
  /** By the server's clock, in UTC. */
  readonly since: string;
}

/** How far a change table has been read. */
export interface Place {
  readonly seq: bigint;
  /** Set if the next number is missing. */
  readonly horizon: Horizon | null;
}

/** `17`, or `17/20/2024-05-01 12:00:00.000000`. */
export function parsePlace(at: string): Place {
  const [seq, through, since] = at.split('/');
  const horizon = through === undefined ? null : { through: BigInt(through), since: since! };
  return { seq: BigInt(seq!), horizon };
}

/** The inverse of {@link parsePlace}. */
export const placeText = ({ seq, horizon }: Place): string =>
  horizon === null ? String(seq) : `${seq}/${horizon.through}/${horizon.since}`;

/** How many of these ascending numbers follow `seq` without a gap that matters; up to `settled` none does. */
export function countWithoutGap(numbers: readonly bigint[], seq: bigint, settled: bigint): number {
  let last = seq > settled ? seq : settled;
  for (const [i, number] of numbers.entries()) {
    if (number > last + 1n) return i;
    if (number > last) last = number;
  }
  return numbers.length;
}
