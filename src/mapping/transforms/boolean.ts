/** The transform `boolean`: the source's own spellings of yes and no. */
import { TEXT_KINDS } from '../encode/value-kind.js';
import { rejected, SCALAR, textsOption, type Transform } from './transform.js';

/**
 * JSON Schema of one of the two lists. Numbers and booleans may be written without quotes; they are compared as text.
 */
const texts = (what: string, example: string[]) => ({
  type: 'array',
  items: SCALAR,
  minItems: 1,
  description: `Values that mean ${what}, compared letter by letter.`,
  examples: [example],
});

/**
 * Takes any value with a text form; gives a JSON boolean. Spelling counts: with `Y` listed, `y` and the empty text are
 * rejected. There is no third value: a text that means unknown needs `nullIf` before. SQL NULL stays null.
 */
export const boolean: Transform = {
  name: 'boolean',
  description: 'Turns the listed values into true and false. Anything else is rejected.',
  options: {
    properties: { true: texts('true', ['yes', 'Y']), false: texts('false', ['no', 'N']) },
    required: ['true', 'false'],
  },
  takes: TEXT_KINDS,
  gives: 'jsonBoolean',
  check: (options) => {
    const both = textsOption(options, 'true').filter((text) => textsOption(options, 'false').includes(text));
    return both.length > 0 ? 'a value is listed under both true and false' : undefined;
  },
  make: (options) => {
    const yes = new Set(textsOption(options, 'true'));
    const no = new Set(textsOption(options, 'false'));
    return (value) =>
      yes.has(value) ? true : no.has(value) ? false : rejected('boolean', 'in neither of the two lists', value);
  },
  examples: [
    { options: { true: ['Y'], false: ['N'] }, in: 'Y', out: true },
    { options: { true: ['Y'], false: ['N'] }, in: 'N', out: false },
    { options: { true: [1], false: [0] }, in: '0', out: false },
    { options: { true: ['Y'], false: ['N'] }, in: 'maybe', rejected: 'neither of the two lists' },
  ],
};
