/** The transform `nullIf`: the source's own spellings of "nothing" become null. */
import { TEXT_KINDS } from '../encode/value-kind.js';
import { SCALAR, textsOption, type Transform } from './transform.js';

/**
 * Takes any value with a text form, and keeps its kind. Spelling counts: `n/a` does not match `N/A`, and `-1` does not
 * match `-1.0`. A null deletes the field on the platform unless the field has `omitNull`. SQL NULL stays null.
 */
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
