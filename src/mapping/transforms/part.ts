/** One of the values that a text holds, such as the first word. */
import { partsOf, SEPARATOR } from './split.js';
import { textOption } from './transform.js';
import type { Transform } from './transform.js';

export const part: Transform = {
  name: 'part',
  description: 'Takes one part of the text, without blanks around it. A part that is not there or is empty is null.',
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
