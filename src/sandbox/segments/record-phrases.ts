/** Reads records and what narrows them down: `3 or more orders over 100 in the last year where kind is sale`. */
import type { RecordTest } from './condition.js';
import { bareTest, readFieldTest, testOf } from './field-tests.js';
import { takeChoice, takeField, takeRecordField, takeRecordNoun, type Grammar, type RecordsDraft } from './grammar.js';
import { NONE, NUMBER_COMPARISONS, SOME, TIMES, type Phrases } from './lexicon.js';
import { negate, readNumberTest, type Tested } from './numbers.js';
import { readPeriod } from './periods.js';
import { chainOf, dateOf, type Field, type RecordKind } from './vocabulary.js';

/** Records, and so far how many of them are meant. */
export interface Narrowed {
  readonly where: RecordTest[];
  times?: Tested;
}

const AT_LEAST_ONE: Tested = { operator: 'at_least', value: ['1'] };

/** A count of records as a condition; at least one where no number was said. */
export function countOf(
  grammar: Grammar,
  kind: RecordKind,
  { where, times }: Narrowed,
  negated: boolean,
): RecordsDraft {
  const { vocabulary } = grammar;
  return measured(
    { type: 'records', schema: vocabulary.schema, path: [...kind.path], where, measure: 'count' },
    negate(times ?? AT_LEAST_ONE, negated),
  );
}

export const measured = (base: Omit<RecordsDraft, 'operator' | 'value' | 'not'>, tested: Tested): RecordsDraft => ({
  ...base,
  ...tested,
  value: [...tested.value],
});

/** `[no | a | at least 3] [cancelled] orders [...]`, as a condition. */
export function readRecords(grammar: Grammar): RecordsDraft | undefined {
  const { reader, vocabulary } = grammar;
  return reader.attempt(() => {
    const none = reader.take(NONE) !== undefined;
    const times = none ? undefined : reader.attempt(() => readNumberTest(reader, 'equals'));
    if (!none && times === undefined) reader.take(SOME);
    const choice = takeChoice(
      reader,
      vocabulary.records.flatMap(({ fields }) => fields),
    );
    const own = choice && vocabulary.records.find(({ schema }) => schema === choice.field.schema);
    const kind = takeRecordNoun(reader, own === undefined ? vocabulary.records : [own]) ?? own;
    if (kind === undefined) return undefined;
    const chosen = choice && testOf(choice.field, { operator: 'is', value: [choice.value] });
    const narrowed = readNarrowing(grammar, kind, { amounts: true });
    const where = chosen === undefined ? narrowed.where : [chosen, ...narrowed.where];
    return countOf(grammar, kind, { where, ...(times === undefined ? {} : { times }) }, none);
  });
}

const AMOUNT_LEADS: Phrases<true> = ['worth', 'of', 'for', 'totalling', 'totaling', 'costing'].map((w) => [w, true]);
const TEXT_LEADS: Phrases<true> = [
  'of',
  'for',
  'with',
  'containing',
  'including',
  'on',
  'named',
  'called',
  'a',
  'an',
].map((word) => [word, true]);
const OWN_LEADS: Phrases<true> = ['with', 'whose', 'having', 'of', 'at'].map((word) => [word, true]);

/** All that narrows the records down: periods, amounts, quoted text, fields, and how often. */
export function readNarrowing(grammar: Grammar, kind: RecordKind, { amounts }: { amounts: boolean }): Narrowed {
  const { reader } = grammar;
  const chain = chainOf(grammar.vocabulary, kind);
  const narrowed: Narrowed = { where: [] };
  for (;;) {
    const times = reader.attempt(() => readTimes(grammar));
    if (times !== undefined && narrowed.times === undefined) {
      narrowed.times = times;
      continue;
    }
    const tests =
      reader.attempt(() => readDate(grammar, chain)) ??
      (amounts ? reader.attempt(() => readAmount(grammar, kind)) : undefined) ??
      reader.attempt(() => readQuoted(grammar, chain)) ??
      reader.attempt(() => readWhere(grammar, chain)) ??
      reader.attempt(() => readOwnField(grammar, chain));
    if (tests === undefined) return narrowed;
    narrowed.where.push(...tests);
  }
}

function readTimes({ reader }: Grammar): Tested | undefined {
  const word = reader.attempt(() => {
    const { operator } = reader.take(NUMBER_COMPARISONS) ?? { operator: 'equals' as const };
    const times = reader.take(TIMES);
    return times === undefined ? undefined : { operator, value: [String(times)] };
  });
  if (word !== undefined) return word;
  const tested = readNumberTest(reader, 'equals');
  return tested &&
    reader.take([
      ['times', true],
      ['time', true],
    ])
    ? tested
    : undefined;
}

function readDate({ reader, now }: Grammar, chain: readonly RecordKind[]): RecordTest[] | undefined {
  const date = dateOf(chain);
  const tested = date && readPeriod(reader, now);
  return tested && [testOf(date, tested)];
}

function readAmount({ reader }: Grammar, { amount }: RecordKind): RecordTest[] | undefined {
  if (amount === undefined) return undefined;
  const lead = reader.take(AMOUNT_LEADS);
  const bare = reader.peek()?.kind === 'number' && lead === undefined;
  const tested = bare ? undefined : readNumberTest(reader, 'equals');
  return tested && [testOf(amount, tested)];
}

/** Quoted text is looked for in the first text field that the records, or those around them, have. */
function readQuoted({ reader, vocabulary }: Grammar, chain: readonly RecordKind[]): RecordTest[] | undefined {
  reader.take(TEXT_LEADS);
  const text = reader.quoted();
  const field = textFieldOf(chain) ?? textFieldOf(vocabulary.records);
  return text === undefined ||
    text.trim() === '' ||
    field === undefined ||
    !chain.some((k) => k.schema === field.schema)
    ? undefined
    : [testOf(field, { operator: 'contains', value: [text] })];
}

export const textFieldOf = (kinds: readonly RecordKind[]): Field | undefined =>
  kinds.flatMap(({ fields }) => fields).find(({ kind, choices }) => kind === 'text' && choices.length === 0);

function readWhere(grammar: Grammar, chain: readonly RecordKind[]): RecordTest[] | undefined {
  const { reader } = grammar;
  if (reader.take([['where', true]]) === undefined) return undefined;
  const tests: RecordTest[] = [];
  for (;;) {
    const test = reader.attempt(() => {
      if (
        tests.length > 0 &&
        reader.take([
          ['and', true],
          [',', true],
        ]) === undefined
      )
        return undefined;
      const named = takeRecordField(reader, chain);
      const tested = named && readFieldTest(grammar, named.field);
      return tested && testOf(named.field, tested);
    });
    if (test === undefined) return tests.length === 0 ? undefined : tests;
    tests.push(test);
  }
}

/** `orders with a quantity over 5`; a field that people have too is theirs. */
function readOwnField(grammar: Grammar, chain: readonly RecordKind[]): RecordTest[] | undefined {
  const { reader, vocabulary } = grammar;
  if (reader.take(OWN_LEADS) === undefined) return undefined;
  reader.take(SOME);
  const at = reader.at;
  if (takeField(reader, vocabulary.fields) !== undefined) return undefined;
  reader.at = at;
  const named = takeRecordField(reader, chain);
  return named && [testOf(named.field, readFieldTest(grammar, named.field) ?? bareTest(named.field))];
}
