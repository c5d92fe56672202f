/** Writes text as YAML that reads back unchanged, also inside { } and [ ], and comments that cannot break out. */

const PLAIN = /^[A-Za-z_][A-Za-z0-9_./-]*$/;
/** Words that YAML would read as a boolean or null. */
const SPECIAL = /^(true|false|null|y|n|yes|no|on|off)$/i;

/** The text as a YAML scalar, quoted if necessary: JSON's double-quoted strings are valid YAML. */
export const scalar = (text: string): string => (PLAIN.test(text) && !SPECIAL.test(text) ? text : JSON.stringify(text));

/** The texts as a YAML list on one line. */
export const list = (texts: readonly string[]): string => `[${texts.map(scalar).join(', ')}]`;

/** Characters, without the comment sign. */
const WIDTH = 116;

/**
 * The text as comment lines of at most {@link WIDTH} characters. Line ends and control characters become spaces; a line
 * end could otherwise turn the rest into YAML.
 */
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
