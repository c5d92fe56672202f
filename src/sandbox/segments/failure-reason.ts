/** Why a text was not understood: the words, what may have been meant, and what can be said. */
import { nearest } from '../../domain/names.js';
import * as lexicon from './lexicon.js';
import type { Problem, Reader } from './reader.js';
import type { Field, Vocabulary } from './vocabulary.js';
import { plural, singular } from './word-forms.js';

export function failureReason(reader: Reader, vocabulary: Vocabulary): string {
  const known = knownWords(vocabulary);
  const unknown = joined(reader.problems.filter(({ reason }) => reason === undefined)).map(({ from, to }) =>
    reader.slice(from, to),
  );
  return [
    ...(unknown.length === 0
      ? []
      : [`not understood: ${unknown.map((words) => withSuggestion(words, known)).join(', ')}`]),
    ...hiddenAmong(unknown, vocabulary).map(
      (name) => `"${name}" is a field that fieldsToExpose does not expose to segments`,
    ),
    ...reader.problems.flatMap(({ from, to, reason }) =>
      reason === undefined ? [] : [`"${reader.slice(from, to)}": ${reason}`],
    ),
    `people are described by ${fieldNames(vocabulary.fields)}${recordNames(vocabulary)}`,
  ].join('; ');
}

/** Words side by side are named together. */
function joined(problems: readonly Problem[]): Problem[] {
  const runs: Problem[] = [];
  for (const problem of problems) {
    const last = runs.at(-1);
    if (last?.to === problem.from) runs[runs.length - 1] = { from: last.from, to: problem.to };
    else runs.push(problem);
  }
  return runs;
}

function withSuggestion(words: string, known: readonly string[]): string {
  const meant = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word.length >= SHORTEST && !FIXED_WORDS.has(word) && !known.includes(singular(word)))
    .flatMap((word) => nearest(word, known) ?? []);
  return meant.length === 0 ? `"${words}"` : `"${words}" (did you mean "${meant.join('", "')}"?)`;
}

/** Shorter words are too near to everything. */
const SHORTEST = 4;

/** Words that a misspelling may have been: verbs, and words of the names of fields and records. */
function knownWords({ fields, records, nouns }: Vocabulary): string[] {
  const phrases = [...fields, ...records.flatMap((kind) => kind.fields)].flatMap((field) => field.phrases);
  const names = [...phrases, ...nouns, ...records.flatMap((kind) => kind.nouns)].flat();
  const verbs = phrasesOf([lexicon.SPEND, lexicon.BUY, lexicon.HAVE, lexicon.JOINED]);
  return [...new Set([...verbs, ...names])].filter((word) => word.length >= SHORTEST && !word.includes(' '));
}

const phrasesOf = (tables: readonly lexicon.Phrases<unknown>[]): string[] =>
  tables.flatMap((table) => table.map(([phrase]) => phrase));

/** Understood by themselves; only what they stand beside is not. */
const FIXED_WORDS = new Set(
  phrasesOf(Object.values(lexicon).filter((table) => Array.isArray(table[0])) as lexicon.Phrases<unknown>[]).flatMap(
    (phrase) => phrase.split(' '),
  ),
);

function hiddenAmong(unknown: readonly string[], { hidden }: Vocabulary): string[] {
  const words = unknown.map((text) => ` ${text.toLowerCase().split(/\s+/).map(singular).join(' ')} `);
  const names = hidden.map((name) => name.join(' '));
  return [...new Set(names.filter((name) => words.some((text) => text.includes(` ${name} `))))];
}

/** Enough to see how fields are named; a partner has the whole list. */
const MOST_NAMES = 20;

function fieldNames(fields: readonly Field[]): string {
  const names = fields.slice(0, MOST_NAMES).map(({ name }) => `"${name}"`);
  const more = fields.length > MOST_NAMES ? [`and ${fields.length - MOST_NAMES} more`] : [];
  return [...names, ...more].join(', ') || 'no field';
}

function recordNames({ records }: Vocabulary): string {
  const told = records.filter(({ fields }) => fields.length > 0);
  return told.map(({ nouns, fields }) => `, by ${plural(nouns[0]!.join(' '))} with ${fieldNames(fields)}`).join('');
}
