/** A regular expression of JSON Schema (ECMAScript's syntax, as the flag `u` has it) as a tree. */

/** Matches one code point; `source` is how the pattern says which. */
export interface CodePoint {
  readonly kind: 'code point';
  readonly source: string;
}

export type PatternNode =
  | CodePoint
  | { readonly kind: 'assertion'; readonly source: '^' | '$' | '\\b' | '\\B' }
  | { readonly kind: 'lookahead'; readonly negative: boolean; readonly choices: Choices }
  | { readonly kind: 'group'; readonly choices: Choices }
  | { readonly kind: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number };

/** Sequences, of which one has to match. */
export type Choices = readonly (readonly PatternNode[])[];

/** Why a pattern cannot be tried in time that is bounded. */
export class UnsupportedPattern extends Error {}

const ATOM =
  /\\u(?:\{[^}]*\}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|.{4})|\\[pP]\{[^}]*\}|\\x..|\\c.|\\.|\[(?:\\.|[^\]\\])*\]|[^]/uy;
const OPENING = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>)?)?/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
const BY_SIGN: Readonly<Record<string, readonly [number, number]>> = {
  '*': [0, Infinity],
  '+': [1, Infinity],
  '?': [0, 1],
};
/** Deeper groups are nobody's pattern, and would take the stack. */
const DEEPEST = 100;

/** `pattern` must be one that V8 takes with the flag `u`. Throws {@link UnsupportedPattern}. */
export function parsePattern(pattern: string): Choices {
  let at = 0;
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(pattern);
    at += found?.[0].length ?? 0;
    return found;
  };

  function choices(depth: number): Choices {
    if (depth > DEEPEST) throw new UnsupportedPattern(`it nests groups deeper than ${DEEPEST} levels`);
    const found: PatternNode[][] = [[]];
    while (at < pattern.length && pattern[at] !== ')') {
      if (pattern[at] === '|') {
        at++;
        found.push([]);
      } else found.at(-1)!.push(repeated(pattern[at] === '(' ? group(depth) : atom()));
    }
    return found;
  }

  function group(depth: number): PatternNode {
    const [opening] = take(OPENING)!;
    if (opening === '(?<=' || opening === '(?<!') throw new UnsupportedPattern('it looks behind');
    if (opening === '(?') throw new UnsupportedPattern('it changes flags inside itself');
    const inside = choices(depth + 1);
    at++;
    return opening === '(?=' || opening === '(?!'
      ? { kind: 'lookahead', negative: opening === '(?!', choices: inside }
      : { kind: 'group', choices: inside };
  }

  function atom(): PatternNode {
    const [source] = take(ATOM)!;
    if (source === '^' || source === '$' || source === '\\b' || source === '\\B') return { kind: 'assertion', source };
    if (/^\\[k1-9]/.test(source)) throw new UnsupportedPattern('it refers back to what a group has matched');
    return { kind: 'code point', source };
  }

  function repeated(of: PatternNode): PatternNode {
    const quantifier = take(QUANTIFIER);
    if (quantifier === null) return of;
    const [, sign, least, comma, most] = quantifier;
    const [min, max] =
      sign !== undefined
        ? BY_SIGN[sign]!
        : [Number(least), most !== '' ? Number(most) : comma === '' ? Number(least) : Infinity];
    return { kind: 'repeat', of, min, max };
  }

  return choices(0);
}
