/**
 * Patterns that V8's own engine, which tries one way after the other, cannot take long over: anchored, and with so few
 * ways through them that all can be tried. Most patterns are such, and V8 is several times as fast as the engine for the others.
 */
import type { Choices, PatternNode } from './parse-pattern.js';

/** Steps for each character of a text, when every way is tried. */
const MOST_STEPS = 256;

/** Repetitions without an end, V8 runs out of stack for somewhere behind this length. */
export const LONGEST_FOR_V8 = 1_000_000;

interface Paths {
  /** Ways through it, at most. */
  readonly ways: number;
  /** Characters on the longest one. */
  readonly length: number;
}

const NONE: Paths = { ways: 1, length: 0 };
const TOO_MANY: Paths = { ways: Infinity, length: Infinity };

/**
 * One repeated code point may be as long as it likes: the ways of all the rest are tried once for each of its ends. A
 * pattern that may begin anywhere is tried at each place anew, so it may have no such repetition.
 */
export function hasFewPaths(choices: Choices): boolean {
  const [sequence] = choices;
  if (choices.length !== 1 || sequence === undefined) return isFew(ofChoices(choices));
  const [first] = sequence;
  const isAnchored = first?.kind === 'assertion' && first.source === '^';
  const longest = isAnchored ? sequence.findIndex((node) => node.kind === 'repeat' && isLong(node)) : -1;
  return isFew(ofSequence(sequence.filter((_, index) => index !== longest)));
}

const isFew = ({ ways, length }: Paths): boolean => ways * Math.max(length, 1) <= MOST_STEPS;

const isLong = ({ of, min, max }: Extract<PatternNode, { kind: 'repeat' }>): boolean =>
  of.kind === 'code point' && (max === Infinity ? min <= MOST_STEPS : max - min > 8 && max <= LONGEST_FOR_V8);

function ofChoices(choices: Choices): Paths {
  const all = choices.map(ofSequence);
  return { ways: all.reduce((sum, { ways }) => sum + ways, 0), length: Math.max(...all.map(({ length }) => length)) };
}

const ofSequence = (sequence: readonly PatternNode[]): Paths =>
  sequence
    .map(ofNode)
    .reduce((one, other) => ({ ways: one.ways * other.ways, length: one.length + other.length }), NONE);

function ofNode(node: PatternNode): Paths {
  switch (node.kind) {
    case 'assertion':
      return NONE;
    case 'code point':
      return { ways: 1, length: 1 };
    case 'group':
      return ofChoices(node.choices);
    case 'lookahead':
      return TOO_MANY;
    case 'repeat': {
      const { ways, length } = ofNode(node.of);
      if (!(node.max <= MOST_STEPS)) return TOO_MANY;
      let sum = 0;
      for (let times = node.min; times <= node.max; times++) sum += ways ** times;
      return { ways: sum, length: length * node.max };
    }
  }
}
