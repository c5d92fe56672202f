/** What ajv is given, so that no text takes it without bound: a way to make expressions, and formats. */
import type { Ajv, CodeOptions } from 'ajv';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { compilePattern, whyUnsupported } from './pattern.js';

/** ajv knows `code` only for programs that are written to files, and tells expressions apart by their text. */
export const PATTERNS: NonNullable<CodeOptions['regExp']> = Object.assign(
  (pattern: string) => {
    const why = whyUnsupported(pattern);
    if (why !== undefined) throw new Error(`the pattern ${JSON.stringify(pattern)} cannot be tried, since ${why}`);
    const tester = compilePattern(pattern);
    return { test: (text: string) => tester.test(text), toString: () => pattern };
  },
  { code: '' },
);

/** A text of this length is no address; ajv's expression takes the square of a text's length. */
const LONGEST_URL = 10_000;
/** That expression, but for a choice that takes the cube: `\S+` takes in what the choice does. */
const URL_FORMAT = new RegExp((fullFormats.url as RegExp).source.replace('(?::\\S*)?@', '@'), 'iu');

/** The formats of ajv-formats. */
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

/** Where V8 has no stack left, which takes a text of many millions of characters, the answer is no. */
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
