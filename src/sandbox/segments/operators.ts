/** The operators of conditions: what kind of field each is for, and which values it takes. */
import { daysOf, isDay, isUnit } from './calendar.js';

export type FieldKind = 'text' | 'number' | 'boolean' | 'date';

interface OperatorTraits {
  readonly kinds: readonly FieldKind[];
  /** What is wrong with the values, in words; undefined when nothing is. */
  readonly problem: (value: readonly string[]) => string | undefined;
}

const isNumber = (text: string | undefined): boolean => /^-?\d{1,30}(\.\d{1,30})?$/.test(text ?? '');

const some = (value: readonly string[]) => (value.length === 0 ? 'needs at least one value' : undefined);
const none = (value: readonly string[]) => (value.length === 0 ? undefined : 'takes no value');
const numbers = (count: number) => (value: readonly string[]) =>
  value.length === count && value.every(isNumber) ? undefined : `needs ${count} number${count > 1 ? 's' : ''}, as text`;
const days = (count: number) => (value: readonly string[]) =>
  value.length === count && value.every(isDay) ? undefined : `needs ${count} day${count > 1 ? 's' : ''} as YYYY-MM-DD`;
const unit = (value: readonly string[]) =>
  value.length === 1 && isUnit(value[0]!) ? undefined : 'needs one unit: hour, day, week, month, quarter or year';
/** A thousand years; beyond them lies the end of the database's calendar. */
const LONGEST_SPAN = 365_000;
const span = ([count = '', of = '', ...rest]: readonly string[]) =>
  /^[1-9]\d{0,6}$/.test(count) && isUnit(of) && rest.length === 0 && Number(count) * daysOf(of) <= LONGEST_SPAN
    ? undefined
    : 'needs a count and a unit, such as ["30", "day"], of a thousand years at most';

/** Text is compared without regard to case. Days are days in UTC; both ends of `between_days` belong to it. */
export const OPERATORS = {
  is: { kinds: ['text', 'boolean'], problem: some },
  contains: { kinds: ['text'], problem: some },
  starts_with: { kinds: ['text'], problem: some },
  ends_with: { kinds: ['text'], problem: some },
  is_set: { kinds: ['text', 'number', 'boolean', 'date'], problem: none },
  equals: { kinds: ['number'], problem: numbers(1) },
  greater_than: { kinds: ['number'], problem: numbers(1) },
  at_least: { kinds: ['number'], problem: numbers(1) },
  less_than: { kinds: ['number'], problem: numbers(1) },
  at_most: { kinds: ['number'], problem: numbers(1) },
  between: { kinds: ['number'], problem: numbers(2) },
  before: { kinds: ['date'], problem: days(1) },
  since: { kinds: ['date'], problem: days(1) },
  between_days: { kinds: ['date'], problem: days(2) },
  within_last: { kinds: ['date'], problem: span },
  longer_ago_than: { kinds: ['date'], problem: span },
  within_next: { kinds: ['date'], problem: span },
  in_this: { kinds: ['date'], problem: unit },
  in_last: { kinds: ['date'], problem: unit },
  in_next: { kinds: ['date'], problem: unit },
} as const satisfies Record<string, OperatorTraits>;

export type Operator = keyof typeof OPERATORS;
export const OPERATOR_NAMES = Object.keys(OPERATORS) as Operator[];

export const fits = (operator: Operator, kind: FieldKind): boolean =>
  (OPERATORS[operator].kinds as readonly FieldKind[]).includes(kind);
