/** Reads numbers and comparisons with them: `over 100`, `at least three`, `5 or more`, `between 10 and 20`. */
import { NUMBER_COMPARISONS, NUMBER_ENDINGS, NUMBER_WORDS, type Phrases } from './lexicon.js';
import type { Operator } from './operators.js';
import type { Reader } from './reader.js';

/** An operator with its values, and whether it is turned round. */
export interface Tested {
  readonly operator: Operator;
  readonly value: readonly string[];
  readonly not?: boolean;
}

/** Turned round when `negated`; twice is not at all. */
export function negate<T extends { readonly not?: boolean }>(tested: T, negated: boolean): T {
  const { not, ...rest } = tested;
  return (negated !== (not === true) ? { ...rest, not: true } : rest) as T;
}

/** Amounts are compared as they are stored, whatever the currency; its name is only read over. */
const CURRENCIES: Phrases<true> = [
  ...['pounds', 'pound', 'gbp', 'euros', 'euro', 'eur', 'dollars', 'dollar', 'usd'].map(
    (word): readonly [string, true] => [word, true],
  ),
];

export function readNumber(reader: Reader): string | undefined {
  const token = reader.peek();
  if (token?.kind === 'number') {
    reader.at += 1;
    reader.take(CURRENCIES);
    return token.text;
  }
  const word = reader.take(NUMBER_WORDS);
  return word === undefined ? undefined : String(word);
}

const BETWEEN: Phrases<true> = [
  ['between', true],
  ['from', true],
];
const TO: Phrases<true> = [
  ['and', true],
  ['to', true],
];

/** A comparison, or a number alone, which `bare` then compares. */
export function readNumberTest(reader: Reader, bare: Operator): Tested | undefined {
  return reader.attempt(() => {
    if (reader.take(BETWEEN) !== undefined) {
      const low = readNumber(reader);
      const high = reader.take(TO) === undefined ? undefined : readNumber(reader);
      return low === undefined || high === undefined ? undefined : { operator: 'between', value: [low, high] };
    }
    const comparison = reader.take(NUMBER_COMPARISONS);
    const number = readNumber(reader);
    if (number === undefined) return undefined;
    const ending = comparison === undefined ? reader.take(NUMBER_ENDINGS) : undefined;
    return { operator: (comparison ?? ending)?.operator ?? bare, value: [number] };
  });
}
