/** Parses JSON columns, but only if every number survives: JSON.parse rounds without an error. */
import type { JsonValue } from '../../domain/values/json.js';
import { exactNumber, isRounded } from './exact-number.js';
import { Rejection } from './rejection.js';

/** Deep enough for real data, and shallow enough for the recursive functions that process the value. */
const DEEPEST = 64;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g;

/** Where the first number is that JSON.parse would round, in text that is valid JSON; null if there is none. */
export function roundedNumberAt(text: string): number | null {
  for (const { 0: token, index } of text.matchAll(TOKEN)) if (/^[-\d]/.test(token) && isRounded(token)) return index;
  return null;
}

function rejectionOfTokens(text: string): Rejection | null {
  let depth = 0;
  try {
    for (const [token] of text.matchAll(TOKEN)) {
      if (token === '[' || token === '{') {
        if (++depth > DEEPEST) return new Rejection('json depth', `nested deeper than ${DEEPEST} levels`, text);
      } else if (token === ']' || token === '}') depth--;
      else if (!token.startsWith('"') && typeof exactNumber(token) !== 'number')
        return new Rejection('exact number', 'the JSON contains a number that would be rounded', text);
    }
    return null;
  } catch (error) {
    // V8 runs out of stack on a text with millions of escapes.
    if (error instanceof RangeError) return new Rejection('json', 'contains a text that is too long', text);
    throw error;
  }
}

/** The parsed value. Rejects invalid JSON, numbers that a double would round, deep nesting, and JSON null. */
export function exactJson(text: string): JsonValue | Rejection {
  let value: JsonValue;
  try {
    // First: in a text that is cut off, the search for tokens would take time that grows with the square of its length.
    value = JSON.parse(text) as JsonValue;
  } catch {
    return new Rejection('json', 'not valid JSON', text);
  }
  const rejection = rejectionOfTokens(text);
  if (rejection !== null) return rejection;
  // null deletes the field on the platform (platform-api.md 4.8), which only SQL NULL or an explicit nullIf may do.
  if (value === null)
    return new Rejection('json null', 'JSON null is not SQL NULL; declare it with nullIf: { equals: ["null"] }', text);
  return value;
}
