/** Decimal text to a JSON number, only where the number says exactly what the text said. */
import { Rejection } from './rejection.js';
import { cutTrailingZeros } from './trailing-zeros.js';

/** A number as JSON writes it. */
const PLAIN = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const ANY_DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** Every decimal of up to 15 digits survives the way into a double and back (IEEE 754). */
export const ALWAYS_EXACT = 15;

export const isPlainNumber = (text: string): boolean => PLAIN.test(text);

/** `12.50` as 12.5. Rejects NaN, infinities and what a double would round; never rounds. */
export function exactNumber(text: string): number | Rejection {
  const parts = PLAIN.exec(text);
  if (parts === null) return notANumber(text);
  const number = Number(text);
  const whole = parts[1] === undefined && parts[2] === undefined;
  if (text.length <= ALWAYS_EXACT && parts[2] === undefined) return number === 0 ? 0 : number;
  // Beyond 2^53 even an exact integer is not safe: the reader's parser may round its neighbours onto it.
  if (whole && !Number.isSafeInteger(number)) return inexact(text);
  if (!Number.isFinite(number) || canonicalDecimal(String(number)) !== canonicalDecimal(text)) return inexact(text);
  return number === 0 ? 0 : number;
}

/** {@link exactNumber}, and whole: `5.00` is 5, `5.5` is rejected. */
export function exactInteger(text: string): number | Rejection {
  const number = exactNumber(text);
  if (typeof number !== 'number') return number;
  if (Number.isSafeInteger(number)) return number;
  return Number.isInteger(number) ? inexact(text) : new Rejection('whole number', 'has a fraction', text);
}

/** Whether it is a number, but one that a JSON number would round. */
export const isRounded = (text: string): boolean => isPlainNumber(text) && typeof exactNumber(text) !== 'number';

/** One spelling per decimal value: `1.50`, `15e-1` and `+1.5` are all `15e-1`. */
export function canonicalDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = ANY_DECIMAL.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = cutTrailingZeros(digits);
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign === '-' ? '-' : ''}${significant}e${power}`;
}

const notANumber = (text: string): Rejection =>
  /^[+-]?(nan|inf(inity)?)$/i.test(text)
    ? new Rejection('exact number', 'NaN and infinity are no numbers that JSON can carry', text)
    : new Rejection('exact number', 'not a plain number', text);

const inexact = (text: string): Rejection =>
  new Rejection('exact number', 'a JSON number would round it; map it to a string instead', text);
