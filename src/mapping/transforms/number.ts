/** The transform `number`: text to a JSON number, exactly, in the spellings that people and exports use. */
import { exactNumber } from '../encode/exact-number.js';
import { Rejection } from '../encode/rejection.js';
import { plainSpelling, separatorProblem, SEPARATORS } from './number-spelling.js';
import { rejected, type Transform } from './transform.js';

/**
 * Takes text and numbers. Rejects what a double would round, since a wrong amount is worse than a dead letter, and what
 * is not a number: NaN, infinities, the empty text. SQL NULL stays null.
 */
export const number: Transform = {
  name: 'number',
  description: 'Reads the text as a decimal number. Rejects what a JSON number would round.',
  options: { properties: SEPARATORS },
  takes: ['text', 'integer', 'decimal', 'float'],
  gives: 'jsonNumber',
  check: separatorProblem,
  make: (options) => {
    const plain = plainSpelling(options);
    return (value) => {
      const result = exactNumber(plain(value));
      return result instanceof Rejection ? rejected('number', result.reason, value) : result;
    };
  },
  examples: [
    { in: '12.50', out: 12.5 },
    { in: ' +007 ', out: 7 },
    { in: '.5', out: 0.5 },
    { options: { decimal: ',', thousands: '.' }, in: '1.234,56', out: 1234.56 },
    { in: '', rejected: 'not a plain number' },
    { in: '1,234', rejected: 'not a plain number' },
    { in: '0.12345678901234567890', rejected: 'would round it' },
    { in: 'NaN', rejected: 'JSON cannot represent NaN' },
  ],
};
