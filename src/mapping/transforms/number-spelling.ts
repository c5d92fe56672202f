/** The spellings of numbers that `number` and `integer` take, brought to the one that JSON takes. */
import type { JsonObject } from '../../domain/json.js';
import { textOption } from './transform.js';

export const SEPARATORS: JsonObject = {
  decimal: { enum: ['.', ','], default: '.', description: 'Sign between whole and fraction.' },
  thousands: { enum: ['.', ',', ' ', "'", '_'], description: 'Sign between groups of three digits; none by default.' },
};

/** `1.234,50` as `1234.50`, `+007` as `7`, `.5` as `0.5`. What is no number stays none. */
export function plainSpelling(options: JsonObject): (value: string) => string {
  const decimal = textOption(options, 'decimal', '.');
  const thousands = textOption(options, 'thousands', '');
  const group = thousands === '' ? null : new RegExp(`(?<=\\d)[${thousands}](?=\\d{3}(?!\\d))`, 'g');
  return (value) => {
    let text = value.trim();
    if (group !== null) text = text.replace(group, '');
    // A point left over where the comma is the decimal sign is no number: 1.5 must not become 15.
    if (decimal === ',') text = text.includes('.') ? '' : text.replace(',', '.');
    const [, sign, whole, rest] = /^([+-]?)0*(?!0)(\d*)(\.\d+|\.?)$/.exec(text) ?? [];
    if (whole === undefined || !/\d/.test(text)) return text;
    return `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${rest === '.' ? '' : rest}`;
  };
}
