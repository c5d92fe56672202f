/** Texts from others (a platform, a driver), made safe to store, print and pass on. */

/** The text well-formed, without control characters, and cut to `longest` characters. */
export const foreignText = (text: string, longest: number): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, longest)
    .toWellFormed();

/** The `code` of an error of Node or a driver; empty if it has none. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
