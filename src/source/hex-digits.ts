/** Reads bounds of binary columns, in the form of a page, or as people and records write them. */
import { isUuid } from '../domain/values/names.js';

const AS_READ = /^\\x((?:[0-9a-f]{2})*)$/i;
const DIGITS = /^(?:[0-9a-f]{2})+$/i;

/** The hex digits of `\x00ff`, `00ff` or a UUID; undefined for any other text. */
export function hexDigitsOf(text: string): string | undefined {
  const asRead = AS_READ.exec(text)?.[1];
  if (asRead !== undefined) return asRead;
  return DIGITS.test(text) ? text : isUuid(text) ? text.replaceAll('-', '') : undefined;
}
