/** Reads one condition: what stands between two "and"s. */
import { bareTest, property, readFieldTests } from './field-tests.js';
import { all, any, takeChoice, turned, takeField, type Expression, type Grammar } from './grammar.js';
import * as words from './lexicon.js';
import { readMeasure, readRecordField, readSpending, readSpendNoun } from './measures.js';
import { negate, type Tested } from './numbers.js';
import { readRecords } from './record-phrases.js';
import * as verbs from './verbs.js';

const VERBS: readonly verbs.VerbReader[] = [
  readSpending,
  verbs.readBuying,
  verbs.readJoining,
  verbs.readConsent,
  verbs.readNamed,
  readHaving,
  readBeing,
  verbs.readLiving,
  readThing,
  verbs.readOwnVerb,
];

/** `who have not ordered`, `whose age is over 30`, `in France`, `without an email` */
export function readClause(grammar: Grammar): Expression | undefined {
  const { reader } = grammar;
  return reader.attempt(() => {
    while (reader.take(words.FILLERS) !== undefined);
    if (reader.take([['whose', true]]) !== undefined) return readWhose(grammar);
    // First without an auxiliary: "have" may be the verb itself.
    return readVerb(grammar) ?? (reader.take(words.AUXILIARIES) === undefined ? undefined : readVerb(grammar));
  });
}

function readVerb(grammar: Grammar): Expression | undefined {
  const { reader } = grammar;
  return reader.attempt(() => {
    const negated = reader.take(words.NEGATIONS) !== undefined;
    for (const read of VERBS) {
      const found = reader.attempt(() => read(grammar, negated));
      if (found !== undefined) return found;
    }
    return undefined;
  });
}

function readWhose(grammar: Grammar): Expression | undefined {
  const { reader, vocabulary } = grammar;
  return (
    reader.attempt(() => {
      const field = takeField(reader, vocabulary.fields);
      return field && readFieldTests(grammar, field);
    }) ??
    reader.attempt(() => readMeasure(grammar)) ??
    reader.attempt(() => readSpendNoun(grammar, false)) ??
    reader.attempt(() => readRecordField(grammar, false))
  );
}

/** `have an email`, `with 3 orders and a phone`, `without a or b`: neither of them then. */
function readHaving(grammar: Grammar, negated: boolean): Expression | undefined {
  const { reader } = grammar;
  const having = reader.take(words.HAVE);
  if (having === undefined) return undefined;
  const none = negated === having;
  const first = readThing(grammar, none);
  if (first === undefined) return undefined;
  const alternatives: Expression[][] = [[first]];
  for (;;) {
    const next = reader.attempt(() => {
      const or = reader.take(words.OR) !== undefined;
      if (!or && reader.take(words.AND) === undefined) return undefined;
      const thing = readThing(grammar, none);
      return thing && { or, thing };
    });
    if (next === undefined) break;
    if (next.or) alternatives.push([next.thing]);
    else alternatives.at(-1)!.push(next.thing);
  }
  return none ? all(alternatives.flat()) : any(alternatives.map(all));
}

/** `are in France`, `is not vip`, `are over 30` */
function readBeing(grammar: Grammar, negated: boolean): Expression | undefined {
  const { reader } = grammar;
  if (reader.take(words.BE) === undefined) return undefined;
  const not = negated !== (reader.take(words.NEGATIONS) !== undefined);
  for (const read of [
    verbs.readConsent,
    verbs.readNamed,
    verbs.readLiving,
    readHaving,
    verbs.readAge,
    verbs.readJoining,
  ]) {
    const found = reader.attempt(() => read(grammar, not));
    if (found !== undefined) return found;
  }
  reader.take(words.SOME);
  return readQuality(grammar, not);
}

/** What people are, in one word: a field that is true, or a value that a field's schema lists. */
export function readQuality(grammar: Grammar, negated: boolean): Expression | undefined {
  const { reader, vocabulary } = grammar;
  const flags = vocabulary.fields.filter(({ kind }) => kind === 'boolean');
  const flag = takeField(reader, flags);
  return flag === undefined
    ? choiceOf(grammar, vocabulary.fields, negated)
    : property(flag, negate(bareTest(flag), negated));
}

function choiceOf(
  { reader }: Grammar,
  fields: Grammar['vocabulary']['fields'],
  negated: boolean,
): Expression | undefined {
  const choice = takeChoice(reader, fields);
  return choice && property(choice.field, negate<Tested>({ operator: 'is', value: [choice.value] }, negated));
}

/** A field or records that somebody has: `an email`, `country France`, `no orders`, `total spend over 100`. */
function readThing(grammar: Grammar, negated: boolean): Expression | undefined {
  const { reader, vocabulary } = grammar;
  return (
    reader.attempt(() => {
      const none = reader.take(words.NONE) !== undefined;
      if (!none) reader.take(words.SOME);
      const field = takeField(reader, vocabulary.fields);
      const tested = field && (readFieldTests(grammar, field) ?? property(field, bareTest(field)));
      return tested && turned(tested, negated !== none);
    }) ??
    reader.attempt(() => {
      reader.take(words.SOME);
      return readSpendNoun(grammar, negated);
    }) ??
    reader.attempt(() => {
      reader.take(words.SOME);
      return readRecordField(grammar, negated);
    }) ??
    reader.attempt(() => {
      const records = readRecords(grammar);
      return records && negate(records, negated);
    })
  );
}
