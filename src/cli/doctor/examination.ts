/** What doctor finds: one line for each thing looked at, and what to do where it is not well. */

export type Health = 'ok' | 'warn' | 'FAIL' | 'skip';

export interface Examined {
  /** Stable name, for programs: `source`, `grants`. */
  readonly name: string;
  readonly health: Health;
  readonly what: string;
  /** What to do; absent where all is well. */
  readonly remedy?: string;
}

export const ok = (name: string, what: string): Examined => ({ name, health: 'ok', what });
export const warn = (name: string, what: string, remedy: string): Examined => ({ name, health: 'warn', what, remedy });
export const fail = (name: string, what: string, remedy: string): Examined => ({ name, health: 'FAIL', what, remedy });
export const skip = (name: string, what: string): Examined => ({ name, health: 'skip', what });

/** Seconds between a clock and this machine's, in words; the machine's own is taken halfway through the question. */
export function clockDifference(clock: string, asked: number, answered: number): number {
  return Math.abs(Date.parse(clock) - (asked + answered) / 2) / 1000;
}

/** Clocks that are further apart than this make times in reports hard to compare. Seconds. */
export const FAR_APART = 5;
