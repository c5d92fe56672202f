/** The operators of conditions: for each, the fields it applies to, its phrase in a text, and its SQL. */
import { parseJsonPath } from '../json-path.js';
import { SLOTS, textOf, type Compare, type SqlParameters } from './operator-values.js';

/** The kinds of field that tests distinguish. */
export type FieldKind = 'text' | 'number' | 'boolean' | 'date';

interface OperatorTraits {
  readonly kinds: readonly FieldKind[];
  /** The phrase after the name of a field. The words in braces are {@link SLOTS}. */
  readonly phrase: string;
  readonly negated: string;
  readonly compare: Compare;
}

const operator = (kinds: readonly FieldKind[], phrase: string, compare: Compare): OperatorTraits => ({
  kinds,
  phrase: `is ${phrase}`,
  negated: `is not ${phrase}`,
  compare,
});
const number = (phrase: string, compare: Compare) => operator(['number'], phrase, compare);
const date = (phrase: string, compare: Compare) => operator(['date'], phrase, compare);
const text = (verb: string, phrase: string, compare: Compare): OperatorTraits => ({
  kinds: ['text'],
  phrase: `${verb}s ${phrase}`,
  negated: `does not ${verb} ${phrase}`,
  compare,
});
/** A unit of the calendar in UTC, so many after the present one. */
const calendar =
  (units: number): Compare =>
  (x, length, start) => {
    const bound = (shift: number) => `(${start} at time zone 'UTC' + ${length} * (${shift})) at time zone 'UTC'`;
    return `${x} >= ${bound(units)} and ${x} < ${bound(units + 1)}`;
  };

/** All operators, in the order in which the grammar tries them: `is` takes any word, so it comes last. */
export const OPERATORS = {
  is_set: operator(['text', 'number', 'boolean', 'date'], 'set', (x) => `coalesce(${x}, '') <> ''`),
  contains: text('contain', '{Texts}', (x, a) => `position(${a} in ${x}) > 0`),
  starts_with: text('start', 'with {Texts}', (x, a) => `starts_with(${x}, ${a})`),
  ends_with: text('end', 'with {Texts}', (x, a) => `right(${x}, length(${a})) = ${a}`),
  equals: number('exactly {Number}', (x, a) => `${x} = ${a}`),
  greater_than: number('over {Number}', (x, a) => `${x} > ${a}`),
  at_least: number('at least {Number}', (x, a) => `${x} >= ${a}`),
  less_than: number('under {Number}', (x, a) => `${x} < ${a}`),
  at_most: number('at most {Number}', (x, a) => `${x} <= ${a}`),
  between: number('between {Number} and {Number}', (x, a, b) => `${x} between ${a} and ${b}`),
  before: date('before {Day}', (x, day) => `${x} < ${day}`),
  since: date('since {Day}', (x, day) => `${x} >= ${day}`),
  between_days: date('between {Day} and {Day}', (x, a, b) => `${x} >= ${a} and ${x} < ${b} + interval '24 hours'`),
  within_last: date('in the last {Span}', (x, span, now) => `${x} > ${now} - ${span} and ${x} <= ${now}`),
  longer_ago_than: date('more than {Span} ago', (x, span, now) => `${x} <= ${now} - ${span}`),
  within_next: date('in the next {Span}', (x, span, now) => `${x} > ${now} and ${x} <= ${now} + ${span}`),
  in_this: date('this {Unit}', calendar(0)),
  in_last: date('last {Unit}', calendar(-1)),
  in_next: date('next {Unit}', calendar(1)),
  is: operator(['text', 'boolean'], '{Texts}', (x, a) => `${x} = ${a}`),
} as const satisfies Record<string, OperatorTraits>;

/** The name of an operator. */
export type Operator = keyof typeof OPERATORS;
/** The names of all operators. */
export const OPERATOR_NAMES = Object.keys(OPERATORS) as Operator[];

/** An operator with its values, and whether it is negated. */
export interface Tested {
  readonly operator: Operator;
  readonly value: string[];
  readonly not?: boolean;
}

const SLOT = /\{(\w+)\}/g;

/** What is wrong with the values of an operator, or undefined. */
export function valueProblem({ operator, value }: Tested): string | undefined {
  const slots = [...OPERATORS[operator].phrase.matchAll(SLOT)].map(([, name]) => SLOTS[name!]!);
  const rest = [...value];
  const fit = slots.every(({ size, fits }) => fits(rest.splice(0, size)));
  if (fit && rest.length === 0) return undefined;
  return `"${operator}" needs ${slots.map(({ needs }) => needs).join(' and ') || 'no value'}`;
}

/** The test as a text says it after the name of a field: `is not over 30`. */
export function phraseOf({ operator, value, not = false }: Tested): string {
  const rest = [...value];
  return OPERATORS[operator][not ? 'negated' : 'phrase'].replaceAll(SLOT, (_, name: string) => {
    const { size, write = String } = SLOTS[name]!;
    return write(rest.splice(0, size));
  });
}

/** SQL for whether the test holds for one jsonb value, the expression `operand`. */
export function valueTest(operand: string, test: Tested, parameters: SqlParameters): string {
  const { phrase, compare } = OPERATORS[test.operator];
  const slot = SLOTS[/\{(\w+)\}/.exec(phrase)?.[1] ?? ''];
  const sql = slot?.sql(operand, compare, test.value, parameters) ?? compare(textOf(operand), '', '');
  return `${test.not === true ? 'not ' : ''}(${sql})`;
}

/** SQL for whether any value that the path leads to in `data` passes; with `not`, whether none does. */
export function fieldTest(data: string, jsonPath: string, test: Tested, parameters: SqlParameters): string {
  const path = parameters.add(sqlJsonPath(jsonPath), 'jsonpath');
  return `${test.not === true ? 'not ' : ''}exists (select from jsonb_path_query(${data}, ${path}) as found(value)
    where ${valueTest('found.value', { ...test, not: false }, parameters)})`;
}

/** The equivalent PostgreSQL path. In lax mode it descends into lists by itself, and `[*]` also accepts single values. */
export const sqlJsonPath = (jsonPath: string): string =>
  ['lax $', ...parseJsonPath(jsonPath)!.map((name) => `.${JSON.stringify(name)}`), '[*]'].join('');
