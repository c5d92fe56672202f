/** Reads tokens from left to right, phrase by phrase, and takes steps back where a reading does not work out. */
import type { Phrases } from './lexicon.js';
import { tokenize, type Token } from './tokens.js';
import { singular } from './word-forms.js';

/** Words that were not understood, and why, where there is something to say. */
export interface Problem {
  readonly from: number;
  readonly to: number;
  readonly reason?: string;
}

type Entries<T> = Map<string, { readonly words: readonly string[]; readonly meaning: T }[]>;
/** Tables of phrases by their first words, made once for each: a text asks each table hundreds of times. */
const INDEXES = new WeakMap<Phrases<unknown>, Entries<unknown>>();

function byFirstWord<T>(phrases: Phrases<T>): Entries<T> {
  const known = INDEXES.get(phrases) as Entries<T> | undefined;
  if (known !== undefined) return known;
  const index: Entries<T> = new Map();
  for (const [phrase, meaning] of phrases) {
    const words = phrase.split(' ');
    index.set(words[0]!, [...(index.get(words[0]!) ?? []), { words, meaning }]);
  }
  INDEXES.set(phrases, index);
  return index;
}

export class Reader {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly problems: Problem[] = [];
  at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  get done(): boolean {
    return this.at >= this.#tokens.length;
  }

  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.at + ahead];
  }

  /** The text between two places, as it was written. */
  slice(from: number, to: number): string {
    const [first, last] = [this.#tokens[from], this.#tokens[to - 1]];
    return first === undefined || last === undefined ? '' : this.#text.slice(first.start, last.end);
  }

  /** Takes the longest phrase of the table that stands here, and answers its meaning. */
  take<T>(phrases: Phrases<T>): T | undefined {
    const found = this.longest(phrases);
    if (found !== undefined) this.at += found.length;
    return found?.meaning;
  }

  longest<T>(phrases: Phrases<T>): { readonly meaning: T; readonly length: number } | undefined {
    const first = this.peek();
    if (first?.kind !== 'word' && first?.kind !== 'sign') return undefined;
    let best: { meaning: T; length: number } | undefined;
    for (const { words, meaning } of byFirstWord(phrases).get(first.text) ?? [])
      if (words.length > (best?.length ?? 0) && words.every((word, i) => this.#is(i, word)))
        best = { meaning, length: words.length };
    return best;
  }

  is(phrases: Phrases<unknown>): boolean {
    return this.longest(phrases) !== undefined;
  }

  /** Length of the phrase, given in singular words, if it stands here in singular or plural; 0 if not. */
  names(words: readonly string[]): number {
    return words.every((word, i) => singular(this.#wordOfName(i) ?? '') === word) ? words.length : 0;
  }

  word(): string | undefined {
    const token = this.peek();
    if (token?.kind !== 'word') return undefined;
    this.at += 1;
    return token.text;
  }

  quoted(): string | undefined {
    const token = this.peek();
    if (token?.kind !== 'quoted') return undefined;
    this.at += 1;
    return token.text;
  }

  /** What `read` finds, or undefined with the place as it was. */
  attempt<T>(read: () => T | undefined): T | undefined {
    const from = this.at;
    const found = read();
    if (found === undefined) this.at = from;
    return found;
  }

  /** Notes the tokens from `from` to here as not understood. */
  blame(from: number, reason?: string): void {
    this.problems.push({ from, to: Math.max(this.at, from + 1), ...(reason === undefined ? {} : { reason }) });
  }

  /** Names may have numbers in them: `visitors_2024`. */
  #wordOfName(ahead: number): string | undefined {
    const token = this.peek(ahead);
    return token?.kind === 'word' || token?.kind === 'number' ? token.text : undefined;
  }

  #is(ahead: number, word: string): boolean {
    const token = this.peek(ahead);
    return (token?.kind === 'word' || token?.kind === 'sign') && token.text === word;
  }
}
