/** Removes from a text what is in the place of passwords and tokens in addresses, whoever wrote the text. */

/**
 * `scheme://user:password@`; up to the last @ before the next address, since passwords may contain anything. It looks back
 * at the scheme: beginning with it would try each letter of a long word anew.
 */
const USER_INFO = /((?<=[a-z0-9+.-]):\/\/[^\s/@:]*:)(?:(?!:\/\/)[^\n])*@/gi;
/** `?password=...`, and `Password=...;` of connection strings. */
const PARAMETER =
  /((?:^|[?&;,\s])(?:password|passwd|passphrase|pwd|sslpassword|token|access_token|secret|client_secret|api[-_]?key)=)[^&;\s"'`]+/gi;

/** The text with `***` in place of each. Applied to every message of an error and every finding; idempotent. */
export function withoutPasswords(text: string): string {
  // Almost no text has either, and there may be an error for each row.
  if (!text.includes('=') && !text.includes('://')) return text;
  return text.replace(USER_INFO, '$1***@').replace(PARAMETER, '$1***');
}
