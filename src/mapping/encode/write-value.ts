/** Writes the JSON of a mapped value, for fields whose bytes cannot be copied (`copy-value.ts`). */
import { encodeJson, type JsonValue } from '../../domain/values/json.js';
import type { RecordTexts } from '../../records/record-texts.js';

/** Characters that JSON escapes, and surrogates: pairs are rare, and a lone one must be found. */
const NEEDS_CARE = /[^\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]/;
const QUOTE = '"'.charCodeAt(0);

/** How `JSON.stringify` begins the escape of a lone surrogate. After another backslash it is ordinary text. */
export const LONE_SURROGATE = '\\ud';

/**
 * Appends what {@link encodeJson} gives and returns true. Returns false if that rejects a lone surrogate: the value is
 * then written with escapes, so that the record can still be parsed and reported as `value_not_encodable`. Throws what
 * {@link encodeJson} throws for any other value that JSON cannot represent.
 */
export function writeValue(value: Exclude<JsonValue, null>, json: RecordTexts): boolean {
  if (typeof value === 'string' && !NEEDS_CARE.test(value)) {
    json.room(1);
    json.put(QUOTE);
    json.write(value);
    json.room(1);
    json.put(QUOTE);
    return true;
  }
  try {
    json.write(encodeJson(value));
    return true;
  } catch (error) {
    const text = JSON.stringify(value);
    if (!text.includes(LONE_SURROGATE)) throw error;
    json.write(text);
    return false;
  }
}
