/** The transform `string`: any value as its text. */
import { TEXT_KINDS } from '../encode/value-kind.js';
import type { Transform } from './transform.js';

/**
 * Takes any value with a text form. Its use is in the kind: after it, the value is text, whatever the column's type
 * was. Nothing is reformatted, so `12.50` keeps its zero. The empty text stays empty, and SQL NULL stays null.
 */
export const string: Transform = {
  name: 'string',
  description: 'Takes the value as text: integers and decimals digit for digit, booleans as true and false.',
  options: { properties: {} },
  takes: TEXT_KINDS,
  gives: 'text',
  make: () => (value) => value,
  examples: [
    { in: '9007199254740993', out: '9007199254740993' },
    { in: '12.50', out: '12.50' },
  ],
};
