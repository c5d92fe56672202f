/** A text that holds several values: the platform wants a list. */
import { textOption } from './transform.js';
import type { Transform } from './transform.js';

export const SEPARATOR = {
  type: 'string',
  minLength: 1,
  default: ',',
  description: 'What stands between the parts.',
  examples: [';'],
};

/** Parts without blanks around them. Never by a regular expression: a separator is a text. */
export const partsOf = (value: string, separator: string): string[] =>
  value.split(separator).map((part) => part.trim());

export const split: Transform = {
  name: 'split',
  description: 'Cuts the text into a list. Blanks around a part go, and so do empty parts.',
  options: { properties: { separator: SEPARATOR } },
  takes: ['text'],
  gives: 'list',
  make: (options) => {
    const separator = textOption(options, 'separator', ',');
    return (value) => partsOf(value, separator).filter((part) => part !== '');
  },
  examples: [
    { in: 'red, green,,blue', out: ['red', 'green', 'blue'] },
    { options: { separator: '|' }, in: 'a|b', out: ['a', 'b'] },
    { in: ' ', out: [] },
  ],
};
