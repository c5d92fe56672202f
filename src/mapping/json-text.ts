/**
 * The JSON text of a value on the shortest way, for the hot path.
 *
 * Each function gives exactly what {@link encodeJson} gives, or undefined where only that can tell.
 */
import { encodeJson } from '../domain/json.js';
import { ALWAYS_EXACT, exactNumber } from './exact-number.js';
import { Rejection } from './rejection.js';
import type { MappedValue } from './kinds.js';

/** What JSON must escape; and surrogates, since a lone one has no place in JSON and pairs are rare. */
const NEEDS_CARE = /[^\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]/;
/** A number as `String` writes it too, but for zeros at its end; not minus zero, and not below a millionth. */
const PLAIN_NUMBER = /^(?:-(?!0(?:\.0*)?$))?(?:0(?!\.0{6})|[1-9]\d*)(?:\.\d+)?$/;
const ZERO = 48;
const POINT = 46;

/** Any text. */
export function textInJson(text: string): string | undefined {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
}

/** A text that is known to need no escapes. */
export const plainInJson = (text: string): string => `"${text}"`;

/** What {@link exactNumber} makes of `text`: `12.50` as `12.5`. */
export function numberInJson(text: string): string | undefined {
  if (text.length <= ALWAYS_EXACT && PLAIN_NUMBER.test(text)) return withoutTrailingZeros(text);
  const number = exactNumber(text);
  return typeof number === 'number' ? String(number) : undefined;
}

/** What `exactInteger` makes of `text`: `5.00` as `5`. */
export function integerInJson(text: string): string | undefined {
  if (text.length > ALWAYS_EXACT || !PLAIN_NUMBER.test(text)) return undefined;
  const json = withoutTrailingZeros(text);
  return json.includes('.') ? undefined : json;
}

/** Whatever a plan has made of a row; not null, which each field treats in its own way. */
export function valueInJson(value: MappedValue): string | undefined {
  switch (typeof value) {
    case 'string':
      return textInJson(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : undefined;
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      return value instanceof Rejection ? undefined : encoded(value);
  }
}

function encoded(value: Exclude<MappedValue, Rejection>): string | undefined {
  try {
    return encodeJson(value);
  } catch {
    return undefined;
  }
}

function withoutTrailingZeros(text: string): string {
  let end = text.length;
  if (text.charCodeAt(end - 1) !== ZERO || !text.includes('.')) return text;
  while (text.charCodeAt(end - 1) === ZERO) end--;
  return text.slice(0, text.charCodeAt(end - 1) === POINT ? end - 1 : end);
}
