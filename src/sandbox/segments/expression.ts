/** Reads whole texts: people, then conditions joined by "and" and "or"; and brings them into AND-joined groups. */
import { readClause, readQuality } from './clauses.js';
import { all, any, type Draft, type Expression, type Grammar } from './grammar.js';
import * as words from './lexicon.js';

/** Deeper brackets are no text that a person wrote. */
const DEEPEST = 20;

/** What the text says; what it says that is not understood is noted in the reader's problems. */
export function readText(grammar: Grammar): Expression {
  const { reader } = grammar;
  const read: Expression[] = readPeople(grammar);
  while (!reader.done) {
    read.push(readAny(grammar, 0));
    // A closing bracket without an opening one.
    if (!reader.done) skip(grammar);
  }
  return all(read);
}

/** `show me all vip customers`: answers what the words before the noun ask for. */
function readPeople(grammar: Grammar): Expression[] {
  const { reader } = grammar;
  while (reader.take(words.OPENINGS) !== undefined);
  const qualities = reader.attempt(() => {
    const found: Expression[] = [];
    for (;;) {
      if (takePeople(grammar)) return found;
      const quality = reader.attempt(() =>
        readQuality(
          grammar,
          reader.take([
            ['non', true],
            ['not', true],
          ]) !== undefined,
        ),
      );
      if (quality === undefined) return undefined;
      found.push(quality);
      reader.take([
        [',', true],
        ['and', true],
      ]);
    }
  });
  return qualities ?? [];
}

function takePeople({ reader, vocabulary }: Grammar): boolean {
  const own = Math.max(...vocabulary.nouns.map((noun) => reader.names(noun)));
  const plural = words.PEOPLE.reduce((longest, noun) => Math.max(longest, reader.names([noun])), own);
  reader.at += plural;
  return plural > 0 || reader.take(words.PEOPLE_WORDS) !== undefined;
}

/** "And" binds closer than "or". */
function readAny(grammar: Grammar, depth: number): Expression {
  const { reader } = grammar;
  const alternatives = [readAll(grammar, depth)];
  while (reader.take(words.OR) !== undefined) alternatives.push(readAll(grammar, depth));
  return any(alternatives);
}

function readAll(grammar: Grammar, depth: number): Expression {
  const { reader } = grammar;
  const parts: Expression[] = [];
  for (;;) {
    while (reader.take(words.AND) !== undefined);
    if (reader.done || reader.is(words.OR) || reader.is([[')', true]])) return all(parts);
    const part = readBracket(grammar, depth) ?? readClause(grammar);
    if (part === undefined) skip(grammar);
    else parts.push(part);
  }
}

function readBracket(grammar: Grammar, depth: number): Expression | undefined {
  const { reader } = grammar;
  return reader.attempt(() => {
    if (depth === DEEPEST || reader.take([['(', true]]) === undefined) return undefined;
    const inside = readAny(grammar, depth + 1);
    reader.take([[')', true]]);
    return inside;
  });
}

/** Steps over a word that no reading knows. */
function skip({ reader }: Grammar): void {
  while (reader.take(words.FILLERS) !== undefined);
  if (reader.done) return;
  const from = reader.at;
  reader.at += 1;
  reader.blame(from);
}

/** More groups than this cannot be meant, and "or" between long lists of conditions multiplies them. */
const MOST_GROUPS = 50;

/** Groups that all hold, of conditions of which one holds; undefined when they would be too many. */
export function groupsOf(expression: Expression): Draft[][] | undefined {
  switch (expression.type) {
    case 'all': {
      const groups = expression.of.map(groupsOf);
      const known = groups.filter((group) => group !== undefined).flat();
      return groups.includes(undefined) || known.length > MOST_GROUPS ? undefined : known;
    }
    case 'any': {
      let groups: Draft[][] = [[]];
      for (const part of expression.of) {
        const own = groupsOf(part);
        if (own === undefined || groups.length * own.length > MOST_GROUPS) return undefined;
        groups = groups.flatMap((left) => own.map((right) => [...left, ...right]));
      }
      return groups;
    }
    default:
      return [[expression]];
  }
}
