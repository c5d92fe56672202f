/** The transform `uppercase`. */
import { asciiTable } from '../encode/copy-value.js';
import { TEXT_KINDS } from '../encode/value-kind.js';
import type { Transform } from './transform.js';

/**
 * Takes any value with a text form. By Unicode, and the same in every locale; the text may grow, as `straße` does. The
 * empty text stays empty, and SQL NULL stays null.
 */
export const uppercase: Transform = {
  name: 'uppercase',
  description: 'Turns the text into upper case.',
  options: { properties: {} },
  takes: TEXT_KINDS,
  gives: 'text',
  make: () => (value) => value.toUpperCase(),
  bytes: asciiTable((text) => text.toUpperCase()),
  examples: [
    { in: 'gbp', out: 'GBP' },
    { in: 'straße', out: 'STRASSE' },
  ],
};
