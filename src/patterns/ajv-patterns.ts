/** The regular expressions and formats that ajv is configured with, so that validating any text takes bounded time. */
import type { Ajv, CodeOptions } from 'ajv';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { compilePattern, whyUnsupported } from './pattern.js';

/**
 * ajv's option `code.regExp`: compiles `pattern` and `patternProperties` with {@link compilePattern}. Throws V8's SyntaxError,
 * or an Error that says why the pattern cannot be matched in bounded time. `code` is required by ajv, which uses it only
 * for standalone code; ajv tells expressions apart by `toString`.
 */
export const PATTERNS: NonNullable<CodeOptions['regExp']> = Object.assign(
  (pattern: string) => {
    const why = whyUnsupported(pattern);
    if (why !== undefined) throw new Error(`the pattern ${JSON.stringify(pattern)} cannot be used, since ${why}`);
    const tester = compilePattern(pattern);
    return { test: (text: string) => tester.test(text), toString: () => pattern };
  },
  { code: '' },
);

/** No URL is longer in practice; the time of ajv's expression grows with the square of the length. */
const LONGEST_URL = 10_000;
/** ajv's expression without an optional part that makes it cubic; the `\S+` before it matches the same texts. */
const URL_FORMAT = new RegExp((fullFormats.url as RegExp).source.replace('(?::\\S*)?@', '@'), 'iu');

/** Adds the formats of ajv-formats, guarded against exhausting V8's stack; `url` is limited in length as well. */
export function addBoundedFormats(ajv: Ajv): void {
  addFormats.default(ajv);
  for (const [name, format] of Object.entries(FORMATS)) {
    if (format instanceof RegExp)
      ajv.addFormat(
        name,
        bounded((text) => format.test(text)),
      );
    else if (typeof format === 'function') ajv.addFormat(name, bounded(format));
  }
}

const FORMATS = { ...fullFormats, url: (text: string) => text.length <= LONGEST_URL && URL_FORMAT.test(text) };

/** V8 runs out of stack only on texts of many millions of characters; those do not match. */
const bounded =
  (test: (text: string) => boolean) =>
  (text: string): boolean => {
    try {
      return test(text);
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  };
