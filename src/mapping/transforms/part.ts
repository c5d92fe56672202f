/** The transform `part`: one of the values that a text contains, such as its first word. */
import { partsOf, SEPARATOR } from './split.js';
import { textOption, type Transform } from './transform.js';

/**
 * Takes text only. A part that is missing or empty gives null, since what a text lacks the record lacks as well; so
 * does the empty text. SQL NULL stays null.
 */
export const part: Transform = {
  name: 'part',
  description: 'Takes one part of the text, without blanks around it. A part that is missing or empty becomes null.',
  options: {
    properties: {
      separator: SEPARATOR,
      number: {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        description: 'Which part, counted from 1.',
        examples: [2],
      },
    },
    required: ['number'],
  },
  takes: ['text'],
  gives: 'text',
  make: (options) => {
    const separator = textOption(options, 'separator', ',');
    const index = Number(options['number']) - 1;
    return (value) => partsOf(value, separator)[index] || null;
  },
  examples: [
    { options: { separator: ' ', number: 1 }, in: 'Anna Lee', out: 'Anna' },
    { options: { number: 2 }, in: 'Lee, Anna', out: 'Anna' },
    { options: { number: 3 }, in: 'Lee, Anna', out: null },
  ],
};
