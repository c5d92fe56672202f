/** Masks values for dead letters, logs and previews: enough to see what is wrong, without the content. */

/** Characters of a text that are shown, masked. */
const LONGEST = 24;

/**
 * The type of a value, and for texts the length and the masked beginning: `jo@x.org` gives `text(8) aa@a.aaa`. Letters
 * become `a`, digits `9`, other characters `*`; only `@ . - +` and blanks stay. Empty for null and undefined.
 */
export function maskedShape(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `text(${value.length})${value === '' ? '' : ` ${masked(value)}`}`;
    case 'number':
      return `number ${masked(String(value))}`;
    case 'boolean':
      return 'boolean';
    case 'object':
      return value === null ? '' : Array.isArray(value) ? `list(${value.length})` : 'object';
    default:
      return '';
  }
}

function masked(text: string): string {
  // Cut before splitting: a text of 20 MB must not be split for the sake of 24 characters.
  const characters = Array.from(text.slice(0, LONGEST * 2)).slice(0, LONGEST);
  return characters.map(maskedCharacter).join('');
}

function maskedCharacter(character: string): string {
  if (/\p{L}/u.test(character)) return 'a';
  if (/\p{N}/u.test(character)) return '9';
  return /[@.+ -]/.test(character) ? character : '*';
}
