/** The transform `split`: a text that contains several values becomes a list. */
import { textOption, type Transform } from './transform.js';

/** The option of `split` and `part`. */
export const SEPARATOR = {
  type: 'string',
  minLength: 1,
  default: ',',
  description: 'The text between the parts.',
  examples: [';'],
};

/**
 * Parts without blanks around them. Split by the text of the separator: as a regular expression, `|` or `.` would mean
 * something else.
 */
export const partsOf = (value: string, separator: string): string[] =>
  value.split(separator).map((part) => part.trim());

/**
 * Takes text only; gives a list of texts. Empty parts are left out, so the empty text gives the empty list, not null.
 * SQL NULL stays null.
 */
export const split: Transform = {
  name: 'split',
  description: 'Cuts the text into a list, without blanks around the parts and without empty parts.',
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
