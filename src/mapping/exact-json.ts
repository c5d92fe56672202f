/** JSON columns: parsed only where every number in them survives, since JSON.parse rounds in silence. */
import type { JsonValue } from '../domain/json.js';
import { exactNumber } from './exact-number.js';
import { Rejection } from './rejection.js';

/** Deep enough for data, shallow enough for every recursion that follows. */
const DEEPEST = 64;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g;

export function exactJson(text: string): JsonValue | Rejection {
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '[' || token === '{') {
      if (++depth > DEEPEST) return new Rejection('json depth', `nested deeper than ${DEEPEST} levels`, text);
    } else if (token === ']' || token === '}') depth--;
    else if (!token.startsWith('"') && typeof exactNumber(token) !== 'number')
      return new Rejection('exact number', 'the JSON holds a number that would be rounded', text);
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return new Rejection('json', 'not valid JSON', text);
  }
  // null deletes the field on the platform, and only SQL NULL may do that.
  if (value === null)
    return new Rejection('json null', 'JSON null is not SQL NULL; declare it with nullIf: { equals: ["null"] }', text);
  return value;
}
