/** Parses JSON columns, but only if every number survives: JSON.parse rounds without an error. */
import type { JsonValue } from '../../domain/values/json.js';
import { exactNumber } from './exact-number.js';
import { Rejection } from './rejection.js';

/** Deep enough for real data, and shallow enough for the recursive functions that process the value. */
const DEEPEST = 64;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g;

/** The parsed value. Rejects invalid JSON, numbers that a double would round, deep nesting, and JSON null. */
export function exactJson(text: string): JsonValue | Rejection {
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '[' || token === '{') {
      if (++depth > DEEPEST) return new Rejection('json depth', `nested deeper than ${DEEPEST} levels`, text);
    } else if (token === ']' || token === '}') depth--;
    else if (!token.startsWith('"') && typeof exactNumber(token) !== 'number')
      return new Rejection('exact number', 'the JSON contains a number that would be rounded', text);
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return new Rejection('json', 'not valid JSON', text);
  }
  // null deletes the field on the platform (platform-api.md 4.8), which only SQL NULL or an explicit nullIf may do.
  if (value === null)
    return new Rejection('json null', 'JSON null is not SQL NULL; declare it with nullIf: { equals: ["null"] }', text);
  return value;
}
