/** Reads values of text fields: quoted text, names in capitals, single words, and lists of them. */
import { AND, BE, CONSENT, FILLERS, HAVE, JOINED, LIVE, NAMED, NEGATIONS, OR, SPEND, BUY } from './lexicon.js';
import { NUMBER_COMPARISONS, TEXT_COMPARISONS, type Phrases } from './lexicon.js';
import { takeField, takeRecordNoun, type Grammar } from './grammar.js';
import { wordsOfName } from './word-forms.js';

const MORE_STOPS: Phrases<true> = [
  'whose',
  'where',
  'since',
  'before',
  'after',
  'during',
  'on',
  'for',
  'last',
  'the last',
  '(',
  ')',
].map((word) => [word, true]);
const STOPS: readonly Phrases<unknown>[] = [
  ...[AND, OR, FILLERS, HAVE, BE, NEGATIONS, LIVE, NAMED, JOINED, CONSENT, SPEND, BUY],
  ...[TEXT_COMPARISONS, NUMBER_COMPARISONS, MORE_STOPS],
];
/** Small words inside a name in capitals: Isle of Man, Rio de Janeiro. */
const INSIDE_NAMES = new Set(['of', 'the', 'de', 'del', 'la', 'le', 'al', 'and']);
const LONGEST_NAME = 6;

/** One value or more, joined by "or", "and" or commas; undefined where none stands here. `choices` are known values. */
export function readValues(grammar: Grammar, choices: readonly string[] = []): string[] | undefined {
  const { reader } = grammar;
  const first = readValue(grammar, choices);
  if (first === undefined) return undefined;
  const values = [first];
  for (;;) {
    const next = reader.attempt(() => {
      const comma = reader.take([[',', true]]) !== undefined;
      const or = reader.take(OR) !== undefined;
      const and = !or && reader.take([['and', true]]) !== undefined;
      if (!comma && !or && !and) return undefined;
      // What follows "and" may be a condition of its own, so only what can be nothing but a value is one.
      return or || isCertain(grammar, choices) ? readValue(grammar, choices) : undefined;
    });
    if (next === undefined) return values;
    values.push(next);
  }
}

/** Quoted, in capitals, or one of the known values. */
function isCertain({ reader }: Grammar, choices: readonly string[]): boolean {
  const token = reader.peek();
  if (token === undefined || token.kind === 'quoted') return token !== undefined;
  return (
    isCapital(reader.slice(reader.at, reader.at + 1)) || choices.some((choice) => choice.toLowerCase() === token.text)
  );
}

function readValue(grammar: Grammar, choices: readonly string[]): string | undefined {
  const { reader } = grammar;
  const quoted = reader.quoted();
  if (quoted !== undefined) return quoted.trim() === '' ? undefined : quoted;
  return reader.attempt(() => {
    reader.take([
      ['the', true],
      ['a', true],
      ['an', true],
    ]);
    const choice = choices.find((value) => reader.names(wordsOfName(value)) > 0);
    const from = reader.at;
    if (choice !== undefined) {
      reader.at += wordsOfName(choice).length;
      return choice;
    }
    const token = reader.peek();
    if (token?.kind === 'number') {
      reader.at += 1;
      return reader.slice(from, reader.at);
    }
    if (token?.kind !== 'word' || stopsHere(grammar)) return undefined;
    reader.at += 1;
    if (isCapital(reader.slice(from, from + 1))) readRestOfName(grammar, from);
    return reader.slice(from, reader.at);
  });
}

function readRestOfName({ reader }: Grammar, from: number): void {
  while (reader.at - from < LONGEST_NAME) {
    const inside = reader.peek();
    const capitalAt = inside?.kind === 'word' && INSIDE_NAMES.has(inside.text) && inside.text !== 'and' ? 1 : 0;
    const word = reader.peek(capitalAt);
    if (word?.kind !== 'word' || !isCapital(reader.slice(reader.at + capitalAt, reader.at + capitalAt + 1))) return;
    reader.at += capitalAt + 1;
  }
}

const isCapital = (text: string): boolean => /^\p{Lu}/u.test(text);

/** Whether something other than a value begins here: a connecting word, a verb, the name of a field or of records. */
export function stopsHere({ reader, vocabulary }: Grammar): boolean {
  if (STOPS.some((phrases) => reader.is(phrases))) return true;
  const at = reader.at;
  const named = takeField(reader, vocabulary.fields) ?? takeRecordNoun(reader, vocabulary.records);
  reader.at = at;
  return named !== undefined;
}
