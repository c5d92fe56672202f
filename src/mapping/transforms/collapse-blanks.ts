/** The transform `collapseBlanks`: one blank where people typed many. */
import { TEXT_KINDS } from '../encode/value-kind.js';
import type { Transform } from './transform.js';

/**
 * Takes any value with a text form. Blanks are what `\s` matches, so no-break spaces count too. Text of blanks alone
 * becomes the empty text, which is sent as such unless `emptyToNull` follows. SQL NULL stays null.
 */
export const collapseBlanks: Transform = {
  name: 'collapseBlanks',
  description: 'Turns every run of blanks, tabs and line ends into one blank, and removes them at both ends.',
  options: { properties: {} },
  takes: TEXT_KINDS,
  gives: 'text',
  make: () => (value) => value.replace(/\s+/g, ' ').trim(),
  examples: [
    { in: ' WHITE  HANGING   HEART ', out: 'WHITE HANGING HEART' },
    { in: 'a\t\nb', out: 'a b' },
  ],
};
