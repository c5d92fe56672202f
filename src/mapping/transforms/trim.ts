/** The transform `trim`: removes blanks at both ends. */
import { TEXT_KINDS } from '../encode/value-kind.js';
import type { Transform } from './transform.js';

/**
 * Takes any value with a text form. Blanks are JavaScript's, so no-break spaces and byte order marks go too. Text of
 * blanks alone becomes the empty text, which is sent as such unless `emptyToNull` follows. SQL NULL stays null.
 */
export const trim: Transform = {
  name: 'trim',
  description: 'Removes blanks, tabs and line ends at both ends of the text.',
  options: { properties: {} },
  takes: TEXT_KINDS,
  gives: 'text',
  make: () => (value) => value.trim(),
  examples: [
    { in: '  Anna ', out: 'Anna' },
    { in: '\tAnna\n', out: 'Anna' },
    { in: '   ', out: '' },
  ],
};
