/** Which regular expressions can take time without bound: a schema definition's `pattern` is tried on every row. */

export type PatternCost = 'linear' | 'square' | 'unbounded';

interface Group {
  repeats: boolean;
  /** First atoms of its branches: a plain character, or null for whatever may match several. */
  readonly starts: (string | null)[];
  atStart: boolean;
}

const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]+>))?|\)|\||[*+?]\??|\{\d+(?:,\d*)?\}\??|[^]/gu;

/**
 * `unbounded`: a repetition inside a repetition, or a repeated choice whose branches may begin alike; a text can then
 * be taken apart in exponentially many ways. `square`: more than one repetition, or one that can begin anywhere.
 * Errs on the side of refusing: such a pattern can always be written otherwise.
 */
export function patternCost(pattern: string): PatternCost {
  const stack: Group[] = [newGroup()];
  let repetitions = 0;
  let closed: Group | null = null;
  for (const [token] of pattern.matchAll(TOKEN)) {
    const group = stack.at(-1)!;
    if (isQuantifier(token)) {
      if (isOpenEnded(token)) {
        if (closed !== null && (closed.repeats || choosesTwice(closed))) return 'unbounded';
        repetitions++;
        group.repeats = true;
      } else if (closed?.repeats === true) group.repeats = true;
      closed = null;
      continue;
    }
    if (closed?.repeats === true) group.repeats = true;
    closed = null;
    if (token.startsWith('(') && token !== '\\(') {
      note(group, null);
      stack.push(newGroup());
    } else if (token === ')' && stack.length > 1) closed = stack.pop()!;
    else if (token === '|') group.atStart = true;
    else if (token !== '^' && token !== '$') note(group, plainCharacter(token));
  }
  if (repetitions === 0) return 'linear';
  return repetitions === 1 && pattern.startsWith('^') ? 'linear' : 'square';
}

const newGroup = (): Group => ({ repeats: false, starts: [], atStart: true });

function note(group: Group, start: string | null): void {
  if (group.atStart) group.starts.push(start);
  group.atStart = false;
}

const choosesTwice = ({ starts }: Group): boolean =>
  starts.length > 1 && (starts.includes(null) || new Set(starts).size < starts.length);

const isQuantifier = (token: string): boolean => /^(?:[*+?]|\{\d)/.test(token);

/** Without an end, or with one so far away that it is none. */
const isOpenEnded = (token: string): boolean =>
  /^(?:[*+]|\{\d+,\})/.test(token) || Number(/(\d+)\}/.exec(token)?.[1] ?? 0) > 100;

const plainCharacter = (token: string): string | null =>
  token === '.' || token.startsWith('[') ? null : /^\\[^\W\d_]/.test(token) ? null : token;
