/** Finds values that JSON can express but PostgreSQL cannot store, before they make a query fail. */

/** Levels of nesting: far beyond any real record, and well below the limits of recursion and of the database. */
const MAX_DEPTH = 64;

/**
 * Describes the first place in `value` that cannot be stored, beginning with its JSON pointer; undefined when all of it
 * can.
 *
 * Numbers are IEEE doubles as JSON.parse returns them: digits beyond 2^53 are lost before the sandbox sees them. A
 * number that does not fit at all (1e999) would be stored as null, so it is refused.
 */
export function unstorable(value: unknown, pointer = '', depth = 0): string | undefined {
  if (typeof value === 'string') return unstorableText(value, pointer || '/');
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `${pointer || '/'} is a number out of range`;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `${pointer} is nested deeper than ${MAX_DEPTH} levels`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = unstorable(value[i], `${pointer}/${i}`, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [key, member] of Object.entries(value)) {
    const found =
      unstorableText(key, `a name in ${pointer || '/'}`) ?? unstorable(member, `${pointer}/${stepOf(key)}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A name as a step of a JSON pointer (RFC 6901). */
const stepOf = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * Like {@link unstorable}, for one text: PostgreSQL has no U+0000 in text, and half of a surrogate pair is not valid
 * Unicode.
 */
export function unstorableText(text: string, place: string): string | undefined {
  if (text.includes('\u0000')) return `${place} contains the character U+0000`;
  if (!text.isWellFormed()) return `${place} contains half of a surrogate pair`;
  return undefined;
}
