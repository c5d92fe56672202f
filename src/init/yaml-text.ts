/** Text as YAML that says just that text, also inside { } and [ ]; and comments that stay comments. */

const PLAIN = /^[A-Za-z_][A-Za-z0-9_./-]*$/;
const SPECIAL = /^(true|false|null|y|n|yes|no|on|off)$/i;

/** JSON's double quotes are YAML's. */
export const scalar = (text: string): string => (PLAIN.test(text) && !SPECIAL.test(text) ? text : JSON.stringify(text));

export const list = (texts: readonly string[]): string => `[${texts.map(scalar).join(', ')}]`;

const WIDTH = 116;

/** One comment, broken into lines; a line end in it could otherwise become YAML. */
export function commentLines(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .split(' ')) {
    if (line !== '' && line.length + word.length + 1 > WIDTH - indent.length) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((l) => `${indent}# ${l}`);
}
