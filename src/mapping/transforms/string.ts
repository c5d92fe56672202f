/** Any value as its text. */
import { TEXT_KINDS } from '../kinds.js';
import type { Transform } from './transform.js';

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
