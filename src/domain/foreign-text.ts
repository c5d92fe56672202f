/** Texts that others wrote (a platform, a driver): made safe to store, print and send on. */

/** Well-formed, without control characters, and not longer than `longest`. */
export const foreignText = (text: string, longest: number): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, longest)
    .toWellFormed();

/** The `code` of an error of Node or a driver; empty where it has none. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
