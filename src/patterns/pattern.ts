/** Compiles regular expressions from files and requests so that matching any text takes bounded time (ADR 0028). */
import { hasFewPaths, LONGEST_FOR_V8 } from './few-paths.js';
import { linearEngine, type Tester } from './linear-engine.js';
import { parsePattern, UnsupportedPattern, type Choices, type PatternNode } from './parse-pattern.js';

/**
 * The tester agrees with V8 with the flag `u` on every text. Throws V8's SyntaxError, or an
 * {@link UnsupportedPattern} if only a backtracking engine could match the pattern.
 */
export function compilePattern(pattern: string): Tester {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const tester = createTester(pattern);
  compiled.set(pattern, tester);
  return tester;
}

/** A pattern is compiled when its definition is read, and again when the definition's validator is built. */
const compiled = new Map<string, Tester>();

function createTester(pattern: string): Tester {
  const expression = new RegExp(pattern, 'u');
  const choices = parsePattern(pattern);
  if (!hasFewPaths(choices)) return allOf(pattern, choices);
  const hasEnd = !choices.flat().some((node) => node.kind === 'repeat' && node.max === Infinity);
  if (hasEnd) return expression;
  const linear = allOf(pattern, choices);
  return { test: (text) => (text.length <= LONGEST_FOR_V8 ? expression : linear).test(text) };
}

/** Why a pattern is unsupported, in words that complete "since ..."; undefined if it compiles or is invalid. */
export function whyUnsupported(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (error instanceof UnsupportedPattern) return error.message;
  }
  return undefined;
}

/**
 * The linear engine has no lookahead. Lookaheads directly after the initial `^`, as in `^(?=.*\d)(?!0)`, are conditions
 * on the whole text: each becomes an expression of its own that must match, or must not. Anywhere else they are
 * unsupported.
 */
function allOf(pattern: string, choices: Choices): Tester {
  const [sequence = []] = choices;
  const [start, ...rest] = sequence;
  if (choices.length !== 1 || start?.kind !== 'assertion' || start.source !== '^')
    return linearEngine(pattern, choices);
  const end = rest.findIndex((node) => node.kind !== 'lookahead');
  const ahead = (end === -1 ? rest : rest.slice(0, end)).flatMap((node) => (node.kind === 'lookahead' ? [node] : []));
  if (ahead.length === 0) return linearEngine(pattern, choices);
  const behind = (node: PatternNode): Choices => [[start, node]];
  const tests = ahead.map(({ negative, choices }) => ({
    engine: linearEngine(pattern, behind({ kind: 'group', choices })),
    wanted: !negative,
  }));
  const body = linearEngine(pattern, [[start, ...rest.slice(ahead.length)]]);
  return { test: (text) => tests.every(({ engine, wanted }) => engine.test(text) === wanted) && body.test(text) };
}
