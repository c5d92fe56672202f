/** Parses the regular expressions of JSON Schema (ECMAScript syntax with the flag `u`) into a tree. */

/** Matches one code point; `source` is the text of the atom: `a`, `.`, `\d`, `[^x]`. */
export interface CodePoint {
  readonly kind: 'code point';
  readonly source: string;
}

/** One element of a sequence. `repeat` counts inclusively, `max` may be Infinity; greedy and lazy are not distinguished. */
export type PatternNode =
  | CodePoint
  | { readonly kind: 'assertion'; readonly source: '^' | '$' | '\\b' | '\\B' }
  | { readonly kind: 'lookahead'; readonly negative: boolean; readonly choices: Choices }
  | { readonly kind: 'group'; readonly choices: Choices }
  | { readonly kind: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number };

/** Alternatives, each a sequence of nodes; a single empty sequence matches the empty text. */
export type Choices = readonly (readonly PatternNode[])[];

/** A pattern that V8 accepts but that cannot be matched in bounded time. The message completes "since ...". */
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
/** No real pattern nests deeper, and the recursion must not exhaust the stack. */
const DEEPEST = 100;

/**
 * Parses a pattern that V8 accepts with the flag `u`; any other text gives an arbitrary result. Throws
 * {@link UnsupportedPattern} for lookbehind, back references, inline flags and groups nested too deeply.
 */
export function parsePattern(pattern: string): Choices {
  let at = 0;
  /** Matches a sticky expression at the current position and moves behind it. */
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
