/** What a JSON text can say but the database cannot hold, found before it breaks a query. */

/** Levels of nesting; far beyond any real record, and below where recursion or the database gives up. */
const MAX_DEPTH = 64;

/**
 * The first place of `value` that cannot be stored, in words; undefined when all of it can.
 *
 * Numbers are IEEE doubles as JSON.parse gives them: digits beyond 2^53 are lost before the sandbox sees them, as
 * on any JavaScript platform; what does not even fit (1e999) would be stored as null, so it is refused.
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
      unstorableText(key, `a name in ${pointer || '/'}`) ?? unstorable(member, `${pointer}/${key}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** PostgreSQL has no U+0000 in text, and half of a surrogate pair is no Unicode text at all. */
export function unstorableText(text: string, place: string): string | undefined {
  if (text.includes('\u0000')) return `${place} holds the character U+0000`;
  if (!text.isWellFormed()) return `${place} holds half of a surrogate pair`;
  return undefined;
}
