/** Reads what SQLite's quote() has written: values with their types, as literals of SQL with commas between. */
import { decodeText } from '../../decode-text.js';

const LITERAL = /'(?:[^']|'')*'|X'[0-9A-F]*'|[^,']+/gy;

/** The literals of a list, one for each value; null stands for NULL. */
export function literalsOf(list: string): (string | null)[] {
  const literals: (string | null)[] = [];
  LITERAL.lastIndex = 0;
  for (let found = LITERAL.exec(list); found !== null; found = LITERAL.exec(list)) {
    literals.push(found[0] === 'NULL' ? null : found[0]);
    LITERAL.lastIndex++;
  }
  return literals;
}

/** The text that a page has for such a literal. */
export function textOfLiteral(literal: string, isText: boolean): string {
  if (literal.startsWith("'")) return literal.slice(1, -1).replaceAll("''", "'");
  if (literal.startsWith("X'")) {
    const digits = literal.slice(2, -1).toLowerCase();
    return isText ? decodeText(Buffer.from(digits, 'hex')) : `\\x${digits}`;
  }
  return /^-?\d+$/.test(literal) ? literal : String(Number(literal));
}
