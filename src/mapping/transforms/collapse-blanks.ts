/** One blank where people typed many. */
import { TEXT_KINDS } from '../kinds.js';
import type { Transform } from './transform.js';

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
