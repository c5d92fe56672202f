/** The series that plots show, their colours, and the order in which they are stacked. */
import type { StatusClass } from '../../domain/run/effort.js';
import type { Counts, EndedRunOutcome } from '../../domain/run/run.js';

/** One kind of thing in a plot, and how it is called. `color` is a custom property of the stylesheet. */
export interface Series<Key extends string> {
  readonly key: Key;
  readonly name: string;
  readonly color: string;
}

const series = <Key extends string>(key: Key, name: string, color: string): Series<Key> => ({
  key,
  name,
  color: `var(--plot-${color})`,
});

export type OutcomeKey = Exclude<keyof Counts, 'read'>;

/** Outcomes of rows, from the bottom up: what needs nobody is below. */
export const OUTCOMES: readonly Series<OutcomeKey>[] = [
  series('unchanged', 'unchanged', 'quiet'),
  series('accepted', 'accepted', 'good'),
  series('waiting', 'waiting', 'open'),
  series('deadLettered', 'dead-lettered', 'bad'),
];

export const STATUSES: readonly Series<StatusClass>[] = [
  series('2xx', '2xx', 'good'),
  series('3xx', '3xx', 'quiet'),
  series('4xx', '4xx', 'open'),
  series('5xx', '5xx', 'bad'),
  series('none', 'no response', 'worse'),
];

export const RUN_OUTCOMES: readonly Series<EndedRunOutcome>[] = [
  series('complete', 'complete', 'good'),
  series('complete_with_dead_letters', 'complete with dead letters', 'quiet'),
  series('incomplete', 'incomplete', 'open'),
  series('failed', 'failed', 'bad'),
];

export const PARTS: readonly Series<'readingMs' | 'sendingMs' | 'ledgerMs'>[] = [
  series('readingMs', 'reading and mapping', 'good'),
  series('sendingMs', 'sending and settling', 'open'),
  series('ledgerMs', 'ledger', 'quiet'),
];

/** The scale of colours for these series, for the library. */
export const colorsOf = (all: readonly Series<string>[]) => ({
  domain: all.map(({ name }) => name),
  range: all.map(({ color }) => color),
});

export const nameOf = <Key extends string>(all: readonly Series<Key>[], key: Key): string =>
  all.find((each) => each.key === key)?.name ?? key;
