/** The transform `lowercase`. */
import { asciiTable } from '../encode/copy-value.js';
import { TEXT_KINDS } from '../encode/value-kind.js';
import type { Transform } from './transform.js';

/**
 * Takes any value with a text form. By Unicode, and the same in every locale: two workers must not give two external
 * ids for one row. The empty text stays empty, and SQL NULL stays null.
 */
export const lowercase: Transform = {
  name: 'lowercase',
  description: 'Turns the text into lower case.',
  options: { properties: {} },
  takes: TEXT_KINDS,
  gives: 'text',
  make: () => (value) => value.toLowerCase(),
  bytes: asciiTable((text) => text.toLowerCase()),
  examples: [
    { in: 'Anna@Example.ORG', out: 'anna@example.org' },
    { in: 'ÉCOLE', out: 'école' },
  ],
};
