/** Bytes as a bound: as a page has them, or as people and records write them. */

const AS_READ = /^\\x((?:[0-9a-f]{2})*)$/i;
const DIGITS = /^(?:[0-9a-f]{2})+$/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The hex digits of `\x00ff`, of `00ff`, and of a UUID; undefined for what names no bytes. */
export function bytesInHex(text: string): string | undefined {
  const asRead = AS_READ.exec(text)?.[1];
  if (asRead !== undefined) return asRead;
  return DIGITS.test(text) ? text : UUID.test(text) ? text.replaceAll('-', '') : undefined;
}
