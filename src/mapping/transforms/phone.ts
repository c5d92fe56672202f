/** The transform `phone`: telephone numbers in E.164, the international form that messaging needs. */
import { createRequire } from 'node:module';
import type * as Library from 'libphonenumber-js/max';
import { rejected, textOption, type Transform } from './transform.js';

const require = createRequire(import.meta.url);

/**
 * The library that parses telephone numbers. Loading it takes a tenth of a second, so it is loaded on the first call.
 * It is the variant with all metadata: the smaller ones check lengths only and accept many impossible numbers. The build
 * copies its one file, a quarter of a megabyte of the package's thirteen.
 */
export const phoneLibrary = (): typeof Library => require('#third-party/libphonenumber-max.cjs') as typeof Library;

/**
 * Results kept for each field: parsing a number takes 30 microseconds, and numbers recur, as with each order of a
 * customer.
 */
const REMEMBERED = 10_000;

/**
 * Takes text, and numbers as text (which have lost their leading zeros). Numbers without an international prefix are
 * read as those of `country`. A number that cannot exist, the empty text included, is rejected, or null with `invalid:
 * null`; whether it is in use cannot be known. SQL NULL stays null.
 */
export const phone: Transform = {
  name: 'phone',
  description: 'Turns a telephone number into E.164, such as +442079460018. Words around the number are dropped.',
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
    const country = textOption(options, 'country', '') as Library.CountryCode;
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
    { options: { country: 'GB' }, in: 'office: 020 7946 0018', out: '+442079460018' },
    { options: { country: 'GB' }, in: '12', rejected: 'not a valid telephone number' },
    { options: { country: 'GB', invalid: 'null' }, in: '12', out: null },
  ],
};
