/** Blanks at both ends go. */
import { TEXT_KINDS } from '../kinds.js';
import type { Transform } from './transform.js';

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
