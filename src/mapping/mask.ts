/** The shape of a value for people who repair rows: enough to see what is wrong, nothing of what it says. */

const LONGEST = 24;

/** `jo@x.org` as `text(8) aa@a.aaa`: letters and digits are masked, `@ . - +` and blanks stay. */
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
  // Cut first: a 20 MB text must not be scanned for 24 characters.
  const characters = Array.from(text.slice(0, LONGEST * 2)).slice(0, LONGEST);
  return characters.map(maskedCharacter).join('');
}

function maskedCharacter(character: string): string {
  if (/\p{L}/u.test(character)) return 'a';
  if (/\p{N}/u.test(character)) return '9';
  return /[@.+ -]/.test(character) ? character : '*';
}
