/**
 * Translates a pattern for RE2's engine (re2js), whose time is linear in the length of the text. Character classes are
 * written out as ranges of code points, so that both engines agree on what they match.
 */
import { RE2JS } from 're2js';
import { codePointsOf } from './code-points.js';
import { UnsupportedPattern, type Choices, type PatternNode } from './parse-pattern.js';

/** The highest repetition count that RE2 accepts; for nested repetitions, the product counts. */
const MAX_REPETITIONS = 1_000;
/** Atoms that repetitions may add when RE2 expands them: for each character of a text, each atom may be tried. */
const MAX_ADDED_ATOMS = 1_000;

/** A compiled pattern; as `RegExp.test` without the flags `g` and `y`. */
export interface Tester {
  test(text: string): boolean;
}

/**
 * Compiles `choices`, the parsed form of `pattern`. Throws {@link UnsupportedPattern} for lookahead, for counts beyond
 * RE2's limit and if expanding the repetitions would make matching slow.
 */
export function linearEngine(pattern: string, choices: Choices): Tester {
  if (expandedSize(choices) > pattern.length + MAX_ADDED_ATOMS)
    throw new UnsupportedPattern(`its repetitions, written out, are more than ${MAX_ADDED_ATOMS} characters`);
  const expression = textOf(choices);
  try {
    const engine = RE2JS.compile(expression);
    return { test: (text) => engine.test(text) };
  } catch {
    throw new UnsupportedPattern(`it counts beyond ${MAX_REPETITIONS}`);
  }
}

/** How many atoms the pattern has once all repetitions are expanded. */
const expandedSize = (choices: Choices): number =>
  choices
    .flat()
    .reduce((sum, node) => sum + (node.kind === 'repeat' ? timesOf(node) * sizeOf(node.of) : sizeOf(node)), 0);

const timesOf = ({ min, max }: Extract<PatternNode, { kind: 'repeat' }>): number => (max === Infinity ? min + 1 : max);
const sizeOf = (node: PatternNode): number => (node.kind === 'group' ? 1 + expandedSize(node.choices) : 1);

const textOf = (choices: Choices): string => choices.map((sequence) => sequence.map(nodeText).join('')).join('|');

function nodeText(node: PatternNode): string {
  switch (node.kind) {
    case 'assertion':
      // Without the flag `m`, V8's ^ and $ are the ends of the text, as RE2's \A and \z always are.
      return { '^': '\\A', $: '\\z', '\\b': '\\b', '\\B': '\\B' }[node.source];
    case 'code point':
      return setText(node.source);
    case 'group':
      return `(?:${textOf(node.choices)})`;
    case 'lookahead':
      throw new UnsupportedPattern('it looks ahead elsewhere than right behind the ^ that it begins with');
    case 'repeat':
      if (node.of.kind === 'lookahead' || node.max === 0) return '';
      return `(?:${nodeText(node.of)}){${node.min},${node.max === Infinity ? '' : node.max}}`;
  }
}

const point = (code: number): string => `\\x{${code.toString(16)}}`;

/** A character class of the code points that `source` matches; RE2 has no syntax for the empty one. */
function setText(source: string): string {
  const ranges = codePointsOf(source);
  if (ranges.length === 0) return '[^\\x{0}-\\x{10ffff}]';
  const [[first, last]] = ranges as [readonly [number, number]];
  if (ranges.length === 1 && first === last) return point(first);
  return `[${ranges.map(([from, to]) => `${point(from)}-${point(to)}`).join('')}]`;
}
