/** Patterns from files: they match what V8 would match, in bounded time for any text. */
import { createContext, Script } from 'node:vm';
import { Ajv } from 'ajv';
import { formatNames, fullFormats } from 'ajv-formats/dist/formats.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linearEngine } from '../../src/patterns/linear-engine.js';
import { parsePattern, UnsupportedPattern } from '../../src/patterns/parse-pattern.js';
import { addBoundedFormats, PATTERNS } from '../../src/patterns/ajv-patterns.js';
import { compilePattern, whyUnsupported } from '../../src/patterns/pattern.js';
import { inCampaign } from '../campaign.js';

/** Characters on which engines are known to differ: of classes, line ends, case, planes; halves of pairs. */
const CHARACTERS = [...'aAbkKsS09_- .\n\r\t!xé', '\u00a0', '\u2028', '\u2029', '\u212a', '\u017f', '\u0130', '\ufeff'];
CHARACTERS.push('\u180e', '\u200b', '\u0661', '\u{1f600}', '\u{10ffff}', '\ud83d', '\ude00', '\u0000', 'ß', '\u0085');

const atom = fc.oneof(
  fc.constantFrom(...'abkKsS09_!é'),
  fc.constantFrom('.', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '[a-k]', '[^a]', '[^\\s@]', '[]', '[^]', '[\\d_-]'),
  fc.constantFrom('\\p{L}', '\\P{Lu}', '\\p{Script=Latin}', '[\\p{Nd}k]', '\\u212a', '\\u{1f600}', '\\ud83d\\ude00'),
  fc.constantFrom(
    '\\ud83d',
    '\\x41',
    '\\cJ',
    '\\0',
    '\\.',
    '\\/',
    '[\\b]',
    '[\\u{1f600}-\\u{1f64f}]',
    '\u{1f600}',
    '\\-',
  ),
);
const assertion = fc.constantFrom('^', '$', '\\b', '\\B');
const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{0}', '{0,3}', '{1,}', '{2,5}', '*?', '{1,2}?');
const { pattern } = fc.letrec<{ pattern: string; sequence: string; item: string }>((tie) => ({
  item: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(atom, quantifier).map(([a, q]) => a + q),
    assertion,
    fc.tuple(fc.constantFrom('(', '(?:', '(?<n>'), tie('pattern'), quantifier).map(([o, p, q]) => `${o}${p})${q}`),
  ),
  sequence: fc.array(tie('item'), { maxLength: 4 }).map((items) => items.join('')),
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((choices) => choices.join('|')),
}));
const ahead = fc.tuple(fc.constantFrom('(?=', '(?!'), pattern).map(([o, p]) => `${o}${p})`);
const whole = fc.oneof(
  pattern,
  pattern.map((p) => `^(?:${p})$`),
  fc.tuple(fc.array(ahead, { maxLength: 2 }), pattern).map(([looks, p]) => `^${looks.join('')}(?:${p})$`),
);
const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 8 }).map((parts) => parts.join(''));

const isExpression = (source: string): boolean => {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

/** Undefined where the pattern is one of those that are refused. */
function supported<T>(compile: () => T): T | undefined {
  try {
    return compile();
  } catch (error) {
    if (error instanceof UnsupportedPattern) return undefined;
    throw error;
  }
}

const sandbox = createContext({});
const v8Tries = new Script('expression.test(value)');
/** Milliseconds after which V8 is not waited for: it may take for ever over some of these patterns, as users' own. */
const V8_LIMIT = 200;
const PATTERNS_TRIED = inCampaign(150, 400);
/** New ones are drawn in a campaign. */
const FIXED_SEED = inCampaign({ seed: 1 }, {});

/** What V8 says; undefined where it does not come to an end. */
function asV8(expression: RegExp, value: string): boolean | undefined {
  Object.assign(sandbox, { expression, value });
  try {
    return v8Tries.runInContext(sandbox, { timeout: V8_LIMIT }) as boolean;
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

describe('a pattern', () => {
  it('matches the same texts as in ECMAScript, whichever engine runs it', () => {
    let compared = 0;
    const texts = fc.array(text, { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(whole.filter(isExpression), texts, (source, values) => {
        const v8 = new RegExp(source, 'u');
        const testers = [
          supported(() => compilePattern(source)),
          supported(() => linearEngine(source, parsePattern(source))),
        ];
        for (const value of values) {
          const expected = asV8(v8, value);
          // The rest of the values would not be decided any sooner.
          if (expected === undefined) return;
          for (const tester of testers.filter((t) => t !== undefined)) {
            compared++;
            if (tester.test(value) !== expected) throw new Error(`differs for ${JSON.stringify(value)}`);
          }
        }
      }),
      { numRuns: PATTERNS_TRIED, ...FIXED_SEED },
    );
    // Nearly all of the patterns above are supported, by both.
    expect(compared).toBeGreaterThan(10 * PATTERNS_TRIED);
  });

  it('terminates for any text, however its repetitions are nested', () => {
    const texts = ['x', 'xy', 'a', 'ab', 'aab!'].map((part) => `${part.repeat(50_000)}?`);
    const patterns = [
      '^(?:x|y|xy){1,99}!$',
      '^(a?a?a?a?){1,25}$',
      '^a*a*a*a*a*a*a*b$',
      '^(a+)+$',
      '(a|aa)+$',
      '(x+x+)+y',
    ];
    patterns.push(
      '^(\\w+\\s?)*$',
      '^(?=.*\\d)(?=(a|aa)+$)(?!(b*)*c).*$',
      '^((ab?){1,10}c?){1,10}$',
      '\\s+$',
      '.*.*=.*',
    );
    for (const pattern of patterns)
      for (const text of texts) expect([pattern, compilePattern(pattern).test(text)]).toEqual([pattern, false]);
  });

  it('matches a text for which V8 runs out of stack', () => {
    expect(compilePattern('^.*b$').test('\u{1f600}'.repeat(10_000_000))).toBe(false);
    expect(compilePattern('^[a-z]{0,1000000}$').test('a'.repeat(2_000_000))).toBe(false);
    expect(compilePattern('^[a-z]+$').test('a'.repeat(20_000_000))).toBe(true);
  });

  it('is refused, with the reason, if it cannot be matched in bounded time', () => {
    expect(
      Object.fromEntries(
        [
          ...['^(.*)(.*)(.*)(.*)(.*)\\1\\2\\3\\4\\5b$', '^(?<a>.)\\k<a>$', '(?<=a)b', '(?<!a)b', 'a(?=b)', '^(?=a)|b'],
          ...['^(a{1,100}){1,100}$', '^((ab?){1,30}c?){1,30}$', '(?:ab){2000}', `${'('.repeat(200)}${')'.repeat(200)}`],
        ].map((pattern) => [pattern.slice(0, 40), whyUnsupported(pattern)]),
      ),
    ).toMatchInlineSnapshot(`
      {
        "((((((((((((((((((((((((((((((((((((((((": "it nests groups deeper than 100 levels",
        "(?:ab){2000}": "its repetitions, written out, are more than 1000 characters",
        "(?<!a)b": "it looks behind",
        "(?<=a)b": "it looks behind",
        "^((ab?){1,30}c?){1,30}$": "its repetitions, written out, are more than 1000 characters",
        "^(.*)(.*)(.*)(.*)(.*)\\1\\2\\3\\4\\5b$": "it refers back to what a group has matched",
        "^(?<a>.)\\k<a>$": "it refers back to what a group has matched",
        "^(?=a)|b": "it looks ahead elsewhere than right behind the ^ that it begins with",
        "^(a{1,100}){1,100}$": "its repetitions, written out, are more than 1000 characters",
        "a(?=b)": "it looks ahead elsewhere than right behind the ^ that it begins with",
      }
    `);
    for (const pattern of ['^[A-Z]{3}$', '^(?=.*\\d)(?!0).+$', '^(GB|US)$', '^.{1,5000}$', '(', '^(?!\\s*$).+'])
      expect([pattern, whyUnsupported(pattern)]).toEqual([pattern, undefined]);
  });
});

describe('ajv', () => {
  const compile = (schema: object) => {
    const ajv = new Ajv({ strict: false, code: { regExp: PATTERNS } });
    addBoundedFormats(ajv);
    return ajv.compile(schema);
  };

  it('keeps the patterns of a schema apart', () => {
    const valid = compile({ properties: { a: { pattern: '^(x|y)+$' }, b: { pattern: '^(0|1)+$' } } });
    expect([valid({ a: 'xy', b: '01' }), valid({ a: '01', b: 'xy' }), valid({ a: 'xy', b: 'xy' })]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each(formatNames)('gets a result from the format %s for any text', (format) => {
    const valid = compile({ format });
    const parts = [
      'a',
      'a.',
      'a-',
      ':',
      '@',
      'a@b.cc/',
      '@b.cc/:',
      '/',
      '%61',
      '{a,',
      '{a}',
      '0',
      '0:',
      '~0',
      'aaaa',
      '\n',
    ];
    const starts = ['', 'http://', 'a@', 'a:', '/', '#', 'P', 'urn:uuid:', '12:00:00.'];
    for (const start of starts)
      for (const part of parts) for (const end of [' ', '!']) valid(start + part.repeat(4_000) + end);
    // Neither does it throw where V8 has no stack.
    valid(`/${'a'.repeat(20_000_000)}`);
  });

  it('accepts the same addresses as a url as ajv-formats does', () => {
    const valid = compile({ format: 'url' });
    const url = fullFormats.url as RegExp;
    const parts = fc.array(
      fc.constantFrom('http://', 'a', '@', ':', 'b.cc', '/', '.', '10.0.0.1', ':80', ' ', 'x:y@', '-'),
    );
    fc.assert(fc.property(parts, (text) => valid(`http://${text.join('')}`) === url.test(`http://${text.join('')}`)));
    expect([valid('https://u:p@example.org:8080/a?b'), valid('https://10.0.0.1/')]).toEqual([true, false]);
  });
});
