/** Converts decimal text to JSON numbers, but only if the number is exactly what the text says. */
import { Rejection } from './rejection.js';

/** A number as JSON writes it. */
const PLAIN = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const ANY_DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** Every decimal of up to 15 significant digits survives the conversion to a double and back (IEEE 754). */
export const ALWAYS_EXACT = 15;

/** Whether the text is a number in JSON's syntax. */
export const isPlainNumber = (text: string): boolean => PLAIN.test(text);

/**
 * `12.50` gives 12.5, and `-0` gives -0, which JSON writes as 0. Rejects NaN, infinities, other syntax than JSON's, and
 * what a double would round.
 */
export function exactNumber(text: string): number | Rejection {
  const parts = PLAIN.exec(text);
  if (parts === null) return notANumber(text);
  const number = Number(text);
  const whole = parts[1] === undefined && parts[2] === undefined;
  if (text.length <= ALWAYS_EXACT && parts[2] === undefined) return number;
  // Beyond 2^53 even an exact integer is ambiguous: its neighbours are rounded to the same double.
  if (whole && !Number.isSafeInteger(number)) return inexact(text);
  if (!Number.isFinite(number) || canonicalDecimal(String(number)) !== canonicalDecimal(text)) return inexact(text);
  return number;
}

/** As {@link exactNumber}, for whole numbers only: `5.00` gives 5, and `5.5` is rejected. */
export function exactInteger(text: string): number | Rejection {
  const number = exactNumber(text);
  if (typeof number !== 'number') return number;
  if (Number.isSafeInteger(number)) return number;
  return Number.isInteger(number) ? inexact(text) : new Rejection('whole number', 'has a fraction', text);
}

/** Whether the text is a number that a JSON number cannot represent exactly. */
export const isRounded = (text: string): boolean => isPlainNumber(text) && typeof exactNumber(text) !== 'number';

/**
 * One spelling per decimal value: `1.50`, `15e-1` and `+1.5` all give `15e-1`. Only for text that is a number; any
 * other gives `0`.
 */
export function canonicalDecimal(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = 0] = ANY_DECIMAL.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = cutTrailingZeros(digits);
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign === '-' ? '-' : ''}${significant}e${power}`;
}

const notANumber = (text: string): Rejection =>
  /^[+-]?(nan|inf(inity)?)$/i.test(text)
    ? new Rejection('exact number', 'JSON cannot represent NaN and infinity', text)
    : new Rejection('exact number', 'not a plain number', text);

const inexact = (text: string): Rejection =>
  new Rejection('exact number', 'a JSON number would round it; map it to a string instead', text);

/**
 * Removes the zeros at the end of a text; there may be none left. An expression such as `0+$` would be tried at every zero,
 * so its time grows with the square of a long run of them.
 */
export function cutTrailingZeros(text: string): string {
  let end = text.length;
  // Before the first character there is NaN, which ends it too.
  while (text.charCodeAt(end - 1) === ZERO) end--;
  return text.slice(0, end);
}

const ZERO = '0'.charCodeAt(0);
