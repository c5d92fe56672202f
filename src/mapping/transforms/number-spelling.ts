/** Normalises the spellings of numbers that the transforms `number` and `integer` accept to that of JSON. */
import type { JsonObject } from '../../domain/values/json.js';
import { textOption } from './transform.js';

/** JSON Schemas of the options that both transforms have. */
export const SEPARATORS: JsonObject = {
  decimal: { enum: ['.', ','], default: '.', description: 'Character before the fraction.' },
  thousands: {
    enum: ['.', ',', ' ', "'", '_'],
    description: 'Character between groups of three digits; none by default.',
  },
};

/** What is wrong with the options; undefined if nothing is. With one character for both, 12.345 would be 12345, and 12.34 12.34. */
export const separatorProblem = (options: JsonObject): string | undefined =>
  textOption(options, 'thousands', '') === textOption(options, 'decimal', '.')
    ? `"${textOption(options, 'decimal', '.')}" cannot separate both the fraction and the thousands; set decimal`
    : undefined;

/**
 * A function that writes a number as JSON does. With the right options `1.234,50` gives `1234.50`, `+007` gives `7` and
 * `.5` gives `0.5`. Text that is not a number stays invalid, for the caller to reject.
 */
export function plainSpelling(options: JsonObject): (value: string) => string {
  const decimal = textOption(options, 'decimal', '.');
  const thousands = textOption(options, 'thousands', '');
  const group = thousands === '' ? null : new RegExp(`(?<=\\d)[${thousands}](?=\\d{3}(?!\\d))`, 'g');
  return (value) => {
    let text = value.trim();
    if (group !== null) text = text.replace(group, '');
    // A point that is left where the comma is the decimal sign makes the text invalid: 1.5 must not become 15.
    if (decimal === ',') text = text.includes('.') ? '' : text.replace(',', '.');
    const [, sign, whole, rest] = /^([+-]?)0*(?!0)(\d*)(\.\d+|\.?)$/.exec(text) ?? [];
    if (whole === undefined || !/\d/.test(text)) return text;
    return `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${rest === '.' ? '' : rest}`;
  };
}
