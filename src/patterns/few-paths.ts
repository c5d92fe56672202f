/**
 * Decides which patterns V8's backtracking engine may match: those with so few paths through them that all can be
 * tried. Most patterns are of this kind, and V8 is several times as fast as the linear engine that matches the others.
 */
import type { Choices, PatternNode } from './parse-pattern.js';

/** The most steps for each character of a text when every path is tried. */
const MAX_STEPS = 256;

/** Characters of a text up to which V8 has enough stack for a repetition without an upper bound. */
export const LONGEST_FOR_V8 = 1_000_000;

/** Upper bounds for a part of a pattern. */
interface Paths {
  /** How many paths there are through it. */
  readonly ways: number;
  /** How many characters the longest path matches. */
  readonly length: number;
}

const NONE: Paths = { ways: 1, length: 0 };
const TOO_MANY: Paths = { ways: Infinity, length: Infinity };

/**
 * Whether V8 matches the pattern in time that is linear in the length of the text, with a factor of at most
 * {@link MAX_STEPS}. In an anchored pattern one repeated code point may be unbounded: the paths of all the rest are
 * then tried once for each of its ends. A pattern without an anchor is tried at every position, so it may have none.
 */
export function hasFewPaths(choices: Choices): boolean {
  const [sequence] = choices;
  if (choices.length !== 1 || sequence === undefined) return isFew(ofChoices(choices));
  const [first] = sequence;
  const isAnchored = first?.kind === 'assertion' && first.source === '^';
  const longest = isAnchored ? sequence.findIndex((node) => node.kind === 'repeat' && isLong(node)) : -1;
  return isFew(ofSequence(sequence.filter((_, index) => index !== longest)));
}

const isFew = ({ ways, length }: Paths): boolean => ways * Math.max(length, 1) <= MAX_STEPS;

/** A repetition that {@link hasFewPaths} leaves out of the count, once per pattern. */
const isLong = ({ of, min, max }: Extract<PatternNode, { kind: 'repeat' }>): boolean =>
  of.kind === 'code point' && (max === Infinity ? min <= MAX_STEPS : max - min > 8 && max <= LONGEST_FOR_V8);

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
      if (!(node.max <= MAX_STEPS)) return TOO_MANY;
      let sum = 0;
      for (let times = node.min; times <= node.max; times++) sum += ways ** times;
      return { ways: sum, length: length * node.max };
    }
  }
}
