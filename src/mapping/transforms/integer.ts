/** The transform `integer`: text to a whole JSON number, exactly. */
import { exactInteger } from '../encode/exact-number.js';
import { Rejection } from '../encode/rejection.js';
import { plainSpelling, SEPARATORS } from './number-spelling.js';
import { rejected, type Transform } from './transform.js';

/**
 * Takes text and numbers; `17850.0` is whole. Rejects fractions rather than rounding them, numbers beyond 2^53 (their
 * neighbours would become the same JSON number) and everything else, the empty text included. SQL NULL stays null.
 */
export const integer: Transform = {
  name: 'integer',
  description: 'Reads the text as a whole number. Rejects fractions and numbers beyond 2^53.',
  options: { properties: SEPARATORS },
  takes: ['text', 'integer', 'decimal', 'float'],
  gives: 'jsonNumber',
  make: (options) => {
    const plain = plainSpelling(options);
    return (value) => {
      const result = exactInteger(plain(value));
      return result instanceof Rejection ? rejected('integer', result.reason, value) : result;
    };
  },
  examples: [
    { in: '17850.0', out: 17850 },
    { in: '-3', out: -3 },
    { in: '5.5', rejected: 'has a fraction' },
    { in: '9007199254740993', rejected: 'would round it' },
  ],
};
