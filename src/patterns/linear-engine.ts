/**
 * The pattern for RE2's engine (re2js), which takes a time that grows with the text's length and no faster, in a form that
 * both engines read alike: all that a pattern says of characters is spelled out, code point by code point.
 */
import { RE2JS } from 're2js';
import { codePointsOf } from './code-points.js';
import { UnsupportedPattern, type Choices, type PatternNode } from './parse-pattern.js';

/** The highest count that RE2 takes, also of repetitions in repetitions together. */
const MOST_TIMES = 1_000;
/** Characters that repetitions may add to a pattern when they are written out: each is looked at for each character of a text. */
const MOST_ADDED = 1_000;

export interface Tester {
  test(text: string): boolean;
}

/** Throws {@link UnsupportedPattern}. */
export function linearEngine(pattern: string, choices: Choices): Tester {
  if (writtenOut(choices) > pattern.length + MOST_ADDED)
    throw new UnsupportedPattern(`its repetitions, written out, are more than ${MOST_ADDED} characters`);
  const expression = textOf(choices);
  try {
    const engine = RE2JS.compile(expression);
    return { test: (text) => engine.test(text) };
  } catch {
    throw new UnsupportedPattern(`it counts beyond ${MOST_TIMES}`);
  }
}

const writtenOut = (choices: Choices): number =>
  choices
    .flat()
    .reduce((sum, node) => sum + (node.kind === 'repeat' ? timesOf(node) * sizeOf(node.of) : sizeOf(node)), 0);

const timesOf = ({ min, max }: Extract<PatternNode, { kind: 'repeat' }>): number => (max === Infinity ? min + 1 : max);
const sizeOf = (node: PatternNode): number => (node.kind === 'group' ? 1 + writtenOut(node.choices) : 1);

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

function setText(source: string): string {
  const ranges = codePointsOf(source);
  if (ranges.length === 0) return '[^\\x{0}-\\x{10ffff}]';
  const [[first, last]] = ranges as [readonly [number, number]];
  if (ranges.length === 1 && first === last) return point(first);
  return `[${ranges.map(([from, to]) => `${point(from)}-${point(to)}`).join('')}]`;
}
