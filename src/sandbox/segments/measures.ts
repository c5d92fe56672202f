/** Reads what is measured over records: `spent over 100`, `whose average order total is under 50`, `whose last order was ...`. */
import type { Measure } from './condition.js';
import { readFieldTest } from './field-tests.js';
import { takeRecordField, takeRecordNoun, type Grammar, type RecordsDraft } from './grammar.js';
import { AUXILIARIES, BE, MEASURE_WORDS, NEGATIONS, SPEND, SPEND_NOUNS, type Phrases } from './lexicon.js';
import { ANYTHING } from './lexicon.js';
import { negate, readNumberTest, type Tested } from './numbers.js';
import { countOf, measured, readNarrowing } from './record-phrases.js';
import type { Field, RecordKind } from './vocabulary.js';

/** The records that spending is counted in. */
export const transactionsOf = ({ vocabulary }: Grammar): RecordKind | undefined =>
  vocabulary.records.find(({ category }) => category === 'transactions_schema');

/** `spent over 100 in the last 30 days`, `did not spend anything this year` */
export function readSpending(grammar: Grammar, negated: boolean): RecordsDraft | undefined {
  const { reader } = grammar;
  if (reader.take(SPEND) === undefined) return undefined;
  return spendingBehind(grammar, negated);
}

/** `total spend over 100`, `lifetime value is at least 500` */
export function readSpendNoun(grammar: Grammar, negated: boolean): RecordsDraft | undefined {
  const { reader } = grammar;
  if (reader.take(SPEND_NOUNS) === undefined) return undefined;
  reader.take(BE);
  const turned = reader.take(NEGATIONS) !== undefined;
  return spendingBehind(grammar, negated !== turned);
}

const OF_ALL: Phrases<true> = [
  ['a total of', true],
  ['in total', true],
  ['of', true],
];

function spendingBehind(grammar: Grammar, negated: boolean): RecordsDraft | undefined {
  const { reader } = grammar;
  const kind = transactionsOf(grammar);
  if (kind?.amount === undefined) return undefined;
  reader.take(OF_ALL);
  const tested = readNumberTest(reader, 'equals');
  if (tested === undefined) {
    if (reader.take(ANYTHING) === undefined) return undefined;
    return countOf(grammar, kind, readNarrowing(grammar, kind, { amounts: false }), negated);
  }
  reader.take(OF_ALL);
  return overRecords(grammar, kind, 'sum', kind.amount, negate(tested, negated));
}

/** A measure of a field, with what narrows the records down behind it. */
function overRecords(
  grammar: Grammar,
  kind: RecordKind,
  measure: Measure,
  field: Field,
  tested: Tested,
  before: RecordsDraft['where'] = [],
): RecordsDraft {
  const { where } = readNarrowing(grammar, kind, { amounts: false });
  return measured(
    {
      type: 'records',
      schema: grammar.vocabulary.schema,
      path: [...kind.path],
      where: [...before, ...where],
      measure,
      jsonPath: field.jsonPath,
    },
    tested,
  );
}

const OF: Phrases<true> = [
  ['of', true],
  ['of their', true],
  ['of all', true],
  ['over', true],
];
const VALUE: Phrases<true> = ['value', 'amount', 'size', 'date', 'time'].map((word) => [word, true]);

/** Behind `whose`: `average total of orders is over 50`, `last order was more than 90 days ago`, `number of orders is 3`. */
export function readMeasure(grammar: Grammar): RecordsDraft | undefined {
  const { reader, vocabulary } = grammar;
  const measure = reader.take(MEASURE_WORDS);
  if (measure === undefined) return undefined;
  if (measure === 'count') return readCounted(grammar);
  const named =
    reader.attempt(() => {
      const found = takeRecordField(reader, vocabulary.records);
      if (found === undefined || reader.take(OF) === undefined) return found;
      // "Total of order lines": the noun says which total is meant.
      const kind = takeRecordNoun(reader, vocabulary.records);
      const field = kind?.fields.find(({ phrases }) =>
        phrases.some((p) => found.field.phrases.some((q) => String(p) === String(q))),
      );
      return kind && field && { kind, field };
    }) ??
    reader.attempt(() => {
      const kind = takeRecordNoun(reader, vocabulary.records);
      if (kind !== undefined) reader.take(VALUE);
      return kind && { kind, field: undefined };
    });
  if (named === undefined) return undefined;
  const { kind } = named;
  const before = readNarrowing(grammar, kind, { amounts: false }).where;
  const candidates = named.field === undefined ? [kind.date, kind.amount] : [named.field];
  for (const field of candidates) {
    if (field === undefined || !isMeasurable(field, measure)) continue;
    const tested = readFieldTest(grammar, field);
    if (tested !== undefined && tested.operator !== 'is_set')
      return overRecords(grammar, kind, measure, field, tested, before);
  }
  return undefined;
}

/** Dates have a first and a last one, and neither sum nor average. */
const isMeasurable = ({ kind }: Field, measure: Measure): boolean =>
  kind === 'number' || (kind === 'date' && (measure === 'minimum' || measure === 'maximum'));

function readCounted(grammar: Grammar): RecordsDraft | undefined {
  const { reader, vocabulary } = grammar;
  const kind = takeRecordNoun(reader, vocabulary.records);
  if (kind === undefined) return undefined;
  const before = readNarrowing(grammar, kind, { amounts: false }).where;
  reader.take(AUXILIARIES);
  reader.take(BE);
  const negated = reader.take(NEGATIONS) !== undefined;
  const times = readNumberTest(reader, 'equals');
  if (times === undefined) return undefined;
  const { where } = readNarrowing(grammar, kind, { amounts: false });
  return countOf(grammar, kind, { where: [...before, ...where], times }, negated);
}

/** Any record with such a field: `order total over 100`. */
export function readRecordField(grammar: Grammar, negated: boolean): RecordsDraft | undefined {
  const { reader, vocabulary } = grammar;
  const named = takeRecordField(reader, vocabulary.records);
  const tested = named && readFieldTest(grammar, named.field);
  if (tested === undefined) return undefined;
  const { schema, jsonPath } = named!.field;
  const where = [{ schema, jsonPath, ...tested, value: [...tested.value] }];
  return countOf(grammar, named!.kind, { where }, negated);
}
