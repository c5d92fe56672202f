/** Splits a text into tokens: words, numbers, days, quoted text and signs, each with its place. */

export interface Token {
  readonly kind: 'word' | 'number' | 'day' | 'quoted' | 'sign';
  /** In lower case and without possessive endings; of numbers the digits, of quoted text what is inside. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const FORMS: readonly [Token['kind'], RegExp][] = [
  ['quoted', /"([^"]*)"|“([^”]*)”|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])|‘([^’]*)’(?!\p{L})/uy],
  ['day', /\d{4}-\d\d-\d\d(?![\d-])/y],
  // With a currency's sign, thousands' separators, and the ending of an ordinal: £1,000.50, 5th.
  ['number', /[£$€]?(-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)(?:st|nd|rd|th)?(?![\p{L}\p{N}])/uy],
  ['word', /[\p{L}\p{N}]+(?:[.@'’][\p{L}\p{N}]+)*|&/uy],
  ['sign', />=|<=|[<>=≥≤(),+;]/y],
];

/** "haven't" is two words, so that one rule knows of negation. */
const NOT = /^(\p{L}+)n['’]t$/u;
const IRREGULAR: Readonly<Record<string, string>> = { ca: 'can', wo: 'will', sha: 'shall' };
const ENDINGS: Readonly<Record<string, string>> = { ve: 'have', re: 'are', ll: 'will' };

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at);
    if (token === undefined) {
      at += 1;
      continue;
    }
    tokens.push(...(token.kind === 'word' ? wordsOf(token) : [token]));
    at = token.end;
  }
  return tokens;
}

function tokenAt(text: string, at: number): Token | undefined {
  for (const [kind, form] of FORMS) {
    form.lastIndex = at;
    const found = form.exec(text);
    if (found === null) continue;
    const inside = found.slice(1).find((part) => part !== undefined) ?? found[0];
    return {
      kind,
      text: kind === 'number' ? inside.replaceAll(',', '') : kind === 'word' ? inside.toLowerCase() : inside,
      start: at,
      end: at + found[0].length,
    };
  }
  return undefined;
}

function wordsOf(token: Token): Token[] {
  const negated = NOT.exec(token.text)?.[1];
  if (negated !== undefined) {
    const middle = token.end - 3;
    return [
      { ...token, text: IRREGULAR[negated] ?? negated, end: middle },
      { ...token, text: 'not', start: middle },
    ];
  }
  const [stem = '', ending = ''] = token.text.split(/['’]/);
  const expanded = ENDINGS[ending];
  if (expanded === undefined) return [ending === 's' ? { ...token, text: stem } : token];
  const middle = token.start + stem.length;
  return [
    { ...token, text: stem, end: middle },
    { ...token, text: expanded, start: middle },
  ];
}
