/** Texts from others (a platform, a driver), made safe to store, print and pass on. */

/** The text well-formed, without control characters, and cut to `longest` characters. */
export const foreignText = (text: string, longest: number): string =>
  text
    .slice(0, longest)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');

/** The same without the part of a word at which it is cut: who masks words would not recognise it. */
export function foreignWords(text: string, longest: number): string {
  const cut = foreignText(text, longest);
  return text.length > longest ? cut.replace(/(?<![\p{L}\p{N}_-])[\p{L}\p{N}_-]+$/u, '') : cut;
}

/** The `code` of an error of Node or a driver; empty if it has none. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
