/** Telephone numbers in the one international spelling, E.164. */
import type { CountryCode } from 'libphonenumber-js/max';
import { phoneLibrary } from '../phone-library.js';
import { rejected, textOption } from './transform.js';
import type { Transform } from './transform.js';

/** Reading a number takes 30 microseconds, and numbers come again: with each order, with each full pass. */
const REMEMBERED = 10_000;

export const phone: Transform = {
  name: 'phone',
  description: 'Turns a telephone number into E.164, such as +442079460018.',
  options: {
    properties: {
      country: {
        type: 'string',
        format: 'phone-country',
        description: 'Country of numbers without an international prefix (ISO 3166, two capital letters).',
        examples: ['GB'],
      },
      invalid: {
        enum: ['reject', 'null'],
        default: 'reject',
        description: 'A number that cannot exist: reject the row (default), or send null.',
      },
    },
    required: ['country'],
  },
  takes: ['text', 'integer', 'decimal'],
  gives: 'text',
  make: (options) => {
    const country = textOption(options, 'country', '') as CountryCode;
    const toNull = options['invalid'] === 'null';
    const { parsePhoneNumberFromString } = phoneLibrary();
    const known = new Map<string, string | null>();
    return (value) => {
      let number = known.get(value);
      if (number === undefined) {
        const parsed = parsePhoneNumberFromString(value, country);
        number = parsed?.isValid() === true ? parsed.number : null;
        if (known.size >= REMEMBERED) known.clear();
        known.set(value, number);
      }
      return number === null && !toNull ? rejected('phone', 'not a valid telephone number', value) : number;
    };
  },
  examples: [
    { options: { country: 'GB' }, in: '020 7946 0018', out: '+442079460018' },
    { options: { country: 'GB' }, in: '+44 (0)20 7946 0018', out: '+442079460018' },
    { options: { country: 'GB' }, in: '0049 30 901820', out: '+4930901820' },
    { options: { country: 'GB' }, in: '12', rejected: 'not a valid telephone number' },
    { options: { country: 'GB', invalid: 'null' }, in: '12', out: null },
  ],
};
