/**
 * Regular expressions that come from files and requests, and are tried on any text: none takes time without bound
 * (ADR 0028).
 */
import { hasFewPaths, LONGEST_FOR_V8 } from './few-paths.js';
import { linearEngine, type Tester } from './linear-engine.js';
import { parsePattern, UnsupportedPattern, type Choices, type PatternNode } from './parse-pattern.js';

/**
 * Says of any text what V8 says, with the flag `u`. Throws V8's SyntaxError, or an {@link UnsupportedPattern} where only an
 * engine could tell that may take for ever.
 */
export function compilePattern(pattern: string): Tester {
  let tester = compiled.get(pattern);
  if (tester === undefined) compiled.set(pattern, (tester = newTester(pattern)));
  return tester;
}

/** A pattern is asked for when its definition is read, and again when that is compiled. */
const compiled = new Map<string, Tester>();

function newTester(pattern: string): Tester {
  const expression = new RegExp(pattern, 'u');
  const choices = parsePattern(pattern);
  if (!hasFewPaths(choices)) return allOf(pattern, choices);
  const hasEnd = !choices.flat().some((node) => node.kind === 'repeat' && node.max === Infinity);
  if (hasEnd) return expression;
  const linear = allOf(pattern, choices);
  return { test: (text) => (text.length <= LONGEST_FOR_V8 ? expression : linear).test(text) };
}

/** Why a pattern cannot be compiled, though V8 would take it; undefined where it can, or is no pattern at all. */
export function whyUnsupported(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (error instanceof UnsupportedPattern) return error.message;
  }
  return undefined;
}

/**
 * What looks ahead right at the beginning (`^(?=.*\d)(?!0)`) says of the whole text what an expression of its own says,
 * or says not. The engine can look ahead nowhere else.
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
