/** The source's own spellings of "nothing" as null. */
import { TEXT_KINDS } from '../kinds.js';
import { SCALAR, textsOption } from './transform.js';
import type { Transform } from './transform.js';

export const nullIf: Transform = {
  name: 'nullIf',
  description: 'Turns the listed values into null, for sources that write "n/a" or -1 for nothing.',
  options: {
    properties: {
      equals: {
        type: 'array',
        items: SCALAR,
        minItems: 1,
        description: 'Values that mean null, compared letter by letter.',
        examples: [['n/a', '-']],
      },
    },
    required: ['equals'],
  },
  takes: TEXT_KINDS,
  gives: 'same',
  make: (options) => {
    const nothing = new Set(textsOption(options, 'equals'));
    return (value) => (nothing.has(value) ? null : value);
  },
  examples: [
    { options: { equals: ['n/a', '-'] }, in: 'n/a', out: null },
    { options: { equals: ['n/a', '-'] }, in: 'N/A', out: 'N/A' },
    { options: { equals: [-1] }, in: '-1', out: null },
  ],
};
