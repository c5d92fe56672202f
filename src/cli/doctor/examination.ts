/** What doctor reports: one line for each thing it checked, with a remedy if something is wrong. */
import { seconds } from '../../domain/timeouts.js';

/**
 * `FAIL` makes the command exit with 1; `warn` is something that will matter, such as a token that expires soon; `skip`
 * is a check that could not be made.
 */
export type Health = 'ok' | 'warn' | 'FAIL' | 'skip';

/** One line of the report. `what` is a phrase for people, without values of rows and without secrets. */
export interface Examined {
  /** Stable name, for programs: `source`, `grants`. */
  readonly name: string;
  readonly health: Health;
  readonly what: string;
  /** What to do; absent if all is well. */
  readonly remedy?: string;
}

export const ok = (name: string, what: string): Examined => ({ name, health: 'ok', what });
export const warn = (name: string, what: string, remedy: string): Examined => ({ name, health: 'warn', what, remedy });
export const fail = (name: string, what: string, remedy: string): Examined => ({ name, health: 'FAIL', what, remedy });
export const skip = (name: string, what: string): Examined => ({ name, health: 'skip', what });

/**
 * Seconds between another clock and this machine's. `clock` is its time as ISO 8601; `asked` and `answered` are this
 * machine's times, in milliseconds, around the question. Half of the time between them is taken for the way there.
 */
export function clockDifference(clock: string, asked: number, answered: number): number {
  return Math.abs(Date.parse(clock) - (asked + answered) / 2) / 1000;
}

/** Clocks further apart than this, in seconds, make times in reports hard to compare. */
export const FAR_APART = seconds('doctorClocksApart');
