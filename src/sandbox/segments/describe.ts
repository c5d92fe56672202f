/**
 * Puts conditions into words. The words are those of the language itself: read as a text, a description gives the
 * same conditions again.
 */
import type { ConditionGroup, RecordTest } from './condition.js';
import type { Draft, PropertyDraft, RecordsDraft } from './grammar.js';
import { daysIn, MONTH_NAMES, type Days } from './calendar.js';
import type { Operator } from './operators.js';
import type { Tested } from './numbers.js';
import { chainOf, dateOf, type Field, type RecordKind, type Vocabulary } from './vocabulary.js';
import { article, plural, wordsOfName } from './word-forms.js';

/** What follows the people's noun: `whose country is "France"`, `with at least 3 orders`. */
export function describeCondition(condition: Draft, vocabulary: Vocabulary): string {
  return condition.type === 'property'
    ? describeProperty(condition, vocabulary)
    : describeRecords(condition, vocabulary);
}

function describeProperty(condition: PropertyDraft, { fields }: Vocabulary): string {
  const name = shown(nameOf(condition.jsonPath, fields));
  if (condition.operator === 'is_set') return `${condition.not === true ? 'without' : 'with'} ${article(name)}`;
  return `whose ${name} ${describeTest(condition)}`;
}

function describeRecords(condition: RecordsDraft, vocabulary: Vocabulary): string {
  const kind = vocabulary.records.find(({ schema }) => schema === condition.path.at(-1)!.schema);
  const records = nounOf(kind, condition.path.at(-1)!.schema);
  const where = describeWhere(condition.where, kind, vocabulary);
  if (condition.measure === 'count') return `${describeCount(condition, records)}${where}`;
  const field = kind?.fields.find(({ jsonPath }) => jsonPath === condition.jsonPath);
  const test = describeTest(condition);
  if (condition.measure === 'sum' && kind?.category === 'transactions_schema' && field === kind.amount) {
    const amount = test.replace(/^is (not )?/, '');
    return `who ${condition.not === true ? 'did not spend' : 'spent'} ${amount}${where}`;
  }
  const word = field?.kind === 'date' ? DATE_MEASURES[condition.measure] : condition.measure;
  const name = shown(field?.name ?? condition.jsonPath ?? '');
  return `whose ${word} ${word === 'sum' ? 'of ' : ''}${name} of ${plural(records)} ${test}${where}`;
}

const DATE_MEASURES = { minimum: 'earliest', maximum: 'latest', sum: 'sum', average: 'average' } as const;

function describeCount({ operator, value: [count = '0'], not, value }: RecordsDraft, records: string): string {
  const many = plural(records);
  if (operator === 'at_least' && count === '1' && not === true) return `with no ${many}`;
  const amount =
    operator === 'between' ? `between ${value.join(' and ')}` : `${COUNTS[operator] ?? 'exactly'} ${count}`;
  return `${not === true ? 'without' : 'with'} ${amount} ${count === '1' && operator !== 'between' ? records : many}`;
}

const COUNTS: Partial<Record<Operator, string>> = {
  greater_than: 'over',
  at_least: 'at least',
  less_than: 'under',
  at_most: 'at most',
  equals: 'exactly',
};

/** The period of the records needs no name and comes first; the other fields follow. */
function describeWhere(where: readonly RecordTest[], kind: RecordKind | undefined, vocabulary: Vocabulary): string {
  const period = where[0] !== undefined && isPeriod(where[0], kind, vocabulary) ? where[0] : undefined;
  const named = (period === undefined ? where : where.slice(1)).map((test) => {
    const own = vocabulary.records.find(({ schema }) => schema === test.schema);
    const noun = own === kind ? '' : `${nounOf(own, test.schema)} `;
    return `${noun}${shown(nameOf(test.jsonPath, own?.fields ?? []))} ${describeTest(test)}`;
  });
  return [
    ...(period === undefined ? [] : [` ${describeTest(period).replace(/^is /, '')}`]),
    ...(named.length === 0 ? [] : [` where ${named.join(' and ')}`]),
  ].join('');
}

function isPeriod(test: RecordTest, kind: RecordKind | undefined, vocabulary: Vocabulary): boolean {
  const date = kind && dateOf(chainOf(vocabulary, kind));
  const itself = date?.jsonPath === test.jsonPath && date.schema === test.schema;
  return itself && test.not !== true && test.operator !== 'is_set';
}

/** The same condition with the period of its records in front, where its description has it. */
export function inOrder(condition: Draft, vocabulary: Vocabulary): Draft {
  if (condition.type === 'property') return condition;
  const kind = vocabulary.records.find(({ schema }) => schema === condition.path.at(-1)!.schema);
  const period = condition.where.find((test) => isPeriod(test, kind, vocabulary));
  if (period === undefined) return condition;
  return { ...condition, where: [period, ...condition.where.filter((test) => test !== period)] };
}

const nounOf = (kind: RecordKind | undefined, schema: string): string =>
  (kind?.nouns[0] ?? wordsOfName(schema)).join(' ');

const nameOf = (path: string, fields: readonly Field[]): string =>
  fields.find(({ jsonPath }) => jsonPath === path)?.name ?? path;

/** In the middle of a sentence: `Marketing opt-in` begins small, `VAT number` does not. */
const shown = (name: string): string => (/^\p{Lu}\p{Ll}/u.test(name) ? name[0]!.toLowerCase() + name.slice(1) : name);

/** What is said of a field: `is "France"`, `is not over 30`, `is in the last 30 days`. */
export function describeTest({ operator, value, not }: Tested): string {
  const verb = VERBS[operator];
  const words = PHRASES[operator](value);
  if (verb !== undefined) return not === true ? `does not ${verb} ${words}` : `${verb}s ${words}`;
  return `is ${not === true ? 'not ' : ''}${words}`;
}

const VERBS: Partial<Record<Operator, string>> = { contains: 'contain', starts_with: 'start', ends_with: 'end' };

const quote = (text: string): string => (text.includes('"') ? `“${text}”` : `"${text}"`);
const listed = (value: readonly string[]): string =>
  value.every((text) => text === 'true' || text === 'false') ? value.join(' or ') : value.map(quote).join(' or ');
const CALENDAR: Readonly<Record<string, string>> = { this: 'today', last: 'yesterday', next: 'tomorrow' };
const calendar = (way: string) => (value: readonly string[]) =>
  value[0] === 'day' ? CALENDAR[way]! : `${way} ${value[0] ?? ''}`;
const span = ([count = '', unit = '']: readonly string[]) => `${count} ${count === '1' ? unit : plural(unit)}`;

/** `on 2010-12-05`, `in December 2010`, `in 2010`; undefined for any other span. */
function wholeSpan(first: string, last: string): string | undefined {
  if (first === last) return `on ${first}`;
  const [year, month] = [Number(first.slice(0, 4)), Number(first.slice(5, 7))];
  const is = (days: Days | undefined) => days?.first === first && days.last === last;
  if (is(daysIn(year))) return `in ${year}`;
  return is(daysIn(year, month)) ? `in ${MONTH_NAMES[month - 1]!} ${year}` : undefined;
}

const PHRASES: Readonly<Record<Operator, (value: readonly string[]) => string>> = {
  is: listed,
  contains: listed,
  starts_with: (value) => `with ${listed(value)}`,
  ends_with: (value) => `with ${listed(value)}`,
  is_set: () => 'set',
  equals: ([number]) => `exactly ${number ?? ''}`,
  greater_than: ([number]) => `over ${number ?? ''}`,
  at_least: ([number]) => `at least ${number ?? ''}`,
  less_than: ([number]) => `under ${number ?? ''}`,
  at_most: ([number]) => `at most ${number ?? ''}`,
  between: (value) => `between ${value.join(' and ')}`,
  before: ([day]) => `before ${day ?? ''}`,
  since: ([day]) => `since ${day ?? ''}`,
  between_days: ([first = '', last = '']) => wholeSpan(first, last) ?? `between ${first} and ${last}`,
  within_last: (value) => `in the last ${span(value)}`,
  longer_ago_than: (value) => `more than ${span(value)} ago`,
  within_next: (value) => `in the next ${span(value)}`,
  in_this: calendar('this'),
  in_last: calendar('last'),
  in_next: calendar('next'),
};

/** A longer title tells as many conditions as fit, and how many more there are. */
const LONGEST_TITLE = 100;

export interface Words {
  readonly title: string;
  readonly description: string;
}

/** Title and description of a segment of all its groups. */
export function describeSegment(groups: readonly ConditionGroup[], { noun }: Vocabulary): Words {
  const many = plural(noun);
  if (groups.length === 0) return { title: `All ${many}`, description: `All ${many}.` };
  const people = many[0]!.toUpperCase() + many.slice(1);
  const parts = groups.map(({ description, conditions }) =>
    conditions.length > 1 && groups.length > 1 ? `(${description})` : description,
  );
  return { title: titleOf(people, parts), description: `${people} ${parts.join(' and ')}.` };
}

function titleOf(people: string, parts: readonly string[]): string {
  const plain = parts.map((part) => part.replaceAll(/["“”]/g, ''));
  for (let told = plain.length; told > 0; told--) {
    const rest = told < plain.length ? ` and ${plain.length - told} more` : '';
    const title = `${people} ${plain.slice(0, told).join(' and ')}${rest}`;
    if (title.length <= LONGEST_TITLE) return title;
    if (told === 1) return `${title.slice(0, LONGEST_TITLE - rest.length - 1).trimEnd()}…${rest}`;
  }
  return people;
}
