/** Reads verbs and what follows them: `ordered twice`, `live in France`, `joined in 2010`, `opted in to marketing`, `named Ann`. */
import { property, testOf } from './field-tests.js';
import { any, takeRecordNoun, type Draft, type Expression, type Grammar } from './grammar.js';
import * as words from './lexicon.js';
import { transactionsOf } from './measures.js';
import { negate, readNumberTest, type Tested } from './numbers.js';
import { readPeriod } from './periods.js';
import { countOf, readNarrowing, readRecords, textFieldOf } from './record-phrases.js';
import { readValues } from './values.js';
import { stem } from './word-forms.js';

export type VerbReader = (grammar: Grammar, negated: boolean) => Expression | undefined;

/** `ordered`, `ordered at least twice`, `placed 3 orders over 100`, `bought "lantern"` */
export const readBuying: VerbReader = (grammar, negated) => {
  const { reader, vocabulary } = grammar;
  if (reader.take(words.BUY) === undefined) return undefined;
  const objects = readRecords(grammar);
  if (objects !== undefined) return negate(objects, negated);
  const transactions = transactionsOf(grammar);
  if (transactions === undefined) return undefined;
  const item = reader.attempt(() => {
    reader.take(words.SOME);
    const text = reader.quoted();
    const field = textFieldOf(vocabulary.records);
    const kind = vocabulary.records.find(({ schema }) => schema === field?.schema);
    return text === undefined || text.trim() === '' || field === undefined || kind === undefined
      ? undefined
      : { kind, test: testOf(field, { operator: 'contains', value: [text] }) };
  });
  if (item === undefined) reader.take(words.ANYTHING);
  const kind = item?.kind ?? transactions;
  const narrowed = readNarrowing(grammar, kind, { amounts: true });
  const where = item === undefined ? narrowed.where : [item.test, ...narrowed.where];
  return countOf(grammar, kind, { ...narrowed, where }, negated);
};

/** A verb made of a record's name: `booked twice` where there are bookings. */
export const readOwnVerb: VerbReader = (grammar, negated) => {
  const { reader, vocabulary } = grammar;
  const verb = reader.word();
  const kind = vocabulary.records.find(({ nouns }) =>
    nouns.some((noun) => noun.length === 1 && verb !== undefined && verb !== noun[0] && stem(noun[0]!) === stem(verb)),
  );
  if (kind === undefined || takeRecordNoun(reader, vocabulary.records) !== undefined) return undefined;
  reader.take(words.ANYTHING);
  return countOf(grammar, kind, readNarrowing(grammar, kind, { amounts: true }), negated);
};

/** `in France`, `live in Oslo or Bergen`. With several fields of places, any of them. */
export const readLiving: VerbReader = (grammar, negated) => {
  const { reader } = grammar;
  const from = reader.at;
  const values = reader.take(words.LIVE) && readValues(grammar);
  if (values === undefined) return undefined;
  return among(
    grammar,
    from,
    words.LOCATION_WORDS,
    'says where somebody is',
    { operator: 'is', value: values },
    negated,
  );
};

export const readNamed: VerbReader = (grammar, negated) => {
  const { reader } = grammar;
  const from = reader.at;
  const values = reader.take(words.NAMED) && readValues(grammar);
  if (values === undefined) return undefined;
  return among(grammar, from, words.NAME_WORDS, 'is a name', { operator: 'is', value: values }, negated);
};

export const readJoining: VerbReader = (grammar, negated) => {
  const { reader, vocabulary, now } = grammar;
  const from = reader.at;
  const period = reader.take(words.JOINED) && readPeriod(reader, now);
  if (period === undefined) return undefined;
  const dates = { ...vocabulary, fields: vocabulary.fields.filter(({ kind }) => kind === 'date') };
  return among(
    { ...grammar, vocabulary: dates },
    from,
    words.JOINED_WORDS,
    'says when somebody joined',
    period,
    negated,
  );
};

/** `opted in to marketing`, `unsubscribed` */
export const readConsent: VerbReader = (grammar, negated) => {
  const { reader, vocabulary } = grammar;
  const from = reader.at;
  const agreed = reader.take(words.CONSENT);
  if (agreed === undefined) return undefined;
  reader.take(words.CONSENT_OBJECTS);
  const { consent } = vocabulary;
  if (consent === undefined) return missing(grammar, from, 'says who agreed to messages');
  const value = [String(agreed === (consent.means === 'in'))];
  return property(consent.field, negate<Tested>({ operator: 'is', value }, negated));
};

/** `over 30`, behind `are`: a number that is their age. */
export function readAge({ reader, vocabulary }: Grammar, negated: boolean): Draft | undefined {
  const age = vocabulary.fields.find(({ kind, phrases }) => kind === 'number' && phrases.flat().includes('age'));
  const tested = age && readNumberTest(reader, 'equals');
  if (tested === undefined) return undefined;
  reader.take([
    ['years old', true],
    ['years of age', true],
    ['year old', true],
  ]);
  return property(age!, negate(tested, negated));
}

/** The test on any of the fields whose names hold one of the words. Of several words, none may hold it when negated. */
function among(
  grammar: Grammar,
  from: number,
  names: readonly string[],
  role: string,
  tested: Tested,
  negated: boolean,
): Expression {
  const fields = grammar.vocabulary.fields.filter(({ phrases }) => phrases.flat().some((word) => names.includes(word)));
  if (fields.length === 0) return missing(grammar, from, role);
  const of = fields.map((field) => property(field, negate(tested, negated)));
  return negated ? { type: 'all', of } : any(of);
}

/** Nothing in the vocabulary can say this: a problem with a reason, in place of a condition. */
function missing({ reader, vocabulary }: Grammar, from: number, role: string): Expression {
  reader.blame(from, `no field of "${vocabulary.schema}" that is exposed to segments ${role}`);
  return { type: 'all', of: [] };
}
